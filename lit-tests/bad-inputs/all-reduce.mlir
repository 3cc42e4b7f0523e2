// expect: 8:10: 'gpu.all_reduce' op is not supported in a kernel
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %A[%c0] : memref<?xf32>
    %r = gpu.all_reduce add %v {} : (f32) -> (f32)
    memref.store %r, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
