// expect: ?
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) elected {
      }
    }
    gpu.return
  }
}
