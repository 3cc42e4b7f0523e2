// expect: 6:5: 'async_pipeline.roles' op expected at least one role
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    async_pipeline.roles {
    }
    gpu.return
  }
}
