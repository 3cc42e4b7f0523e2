// expect: 7:10: a value of type f80 cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%B: memref<?xi64>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = arith.sitofp %x : i64 to f80
    %m = arith.mulf %a, %a : f80
    %e = arith.fptosi %m : f80 to i64
    memref.store %e, %B[%c0] : memref<?xi64>
    gpu.return
  }
}
