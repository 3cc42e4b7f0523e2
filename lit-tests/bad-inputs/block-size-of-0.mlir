// expect: 5:3: expected known_block_size to be N, 1, 1 with N from 1 to 1024
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 0, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
