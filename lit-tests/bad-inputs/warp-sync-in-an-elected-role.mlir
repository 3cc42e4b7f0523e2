// expect: 8:9: 'async_pipeline.warp.sync' op expected to stand outside an elected role, which one lane runs
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) elected {
        async_pipeline.warp.sync
      }
    }
    gpu.return
  }
}
