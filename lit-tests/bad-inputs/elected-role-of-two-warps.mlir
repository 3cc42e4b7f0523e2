// expect: 7:7: 'async_pipeline.role' op expected an elected role to have 1 warp, got 2
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(2) elected {
      }
    }
    gpu.return
  }
}
