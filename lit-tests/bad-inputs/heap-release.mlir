// expect: 7:5: needs the function 'free', which is not available on the GPU
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    memref.dealloc %A : memref<?xf32>
    gpu.return
  }
}
