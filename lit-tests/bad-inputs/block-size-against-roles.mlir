// expect: 5:3: known_block_size contradicts the roles, which take 64 threads
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    async_pipeline.roles {
      async_pipeline.role @a warps(2) {
      }
    }
    gpu.return
  }
}
