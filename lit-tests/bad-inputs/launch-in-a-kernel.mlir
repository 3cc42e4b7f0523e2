// expect: 7:5: 'gpu.launch_func' op expected the closest surrounding module to have the 'gpu.container_module' attribute
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.launch_func @kernels::@k blocks in (%c0, %c0, %c0) threads in (%c0, %c0, %c0) args(%A : memref<?xf32>)
    gpu.return
  }
}
