// expect: 5:3: expected async_pipeline.roles or known_block_size: the number of threads is not known
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
