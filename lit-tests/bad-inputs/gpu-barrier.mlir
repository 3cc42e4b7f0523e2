// expect: 6:5: 'gpu.barrier' op is not supported; use async_pipeline.cta.barrier, or async_pipeline.named_barrier.sync inside a role
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.barrier
    gpu.return
  }
}
