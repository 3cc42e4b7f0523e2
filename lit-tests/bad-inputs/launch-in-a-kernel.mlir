// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.launch_func @kernels::@k blocks in (%c0, %c0, %c0) threads in (%c0, %c0, %c0) args(%A : memref<?xf32>)
    gpu.return
  }
}
