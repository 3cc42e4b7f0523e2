// expect: 6:5: 'async_pipeline.roles' op expected at most 32 warps in all roles, got 33
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(33) {
      }
    }
    gpu.return
  }
}
