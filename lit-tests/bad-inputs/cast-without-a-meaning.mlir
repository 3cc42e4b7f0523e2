// expect: 7:10: a value of type f32 cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %p = builtin.unrealized_conversion_cast %x : i64 to f32
    memref.store %p, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
