// expect: 7:10: a value of type f128 cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%B: memref<?xi64>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = arith.sitofp %x : i64 to f128
    %m = arith.mulf %a, %a : f128
    %e = arith.fptosi %m : f128 to i64
    memref.store %e, %B[%c0] : memref<?xi64>
    gpu.return
  }
}
