// expect: 7:7: 'async_pipeline.role' op expected warps from 1 to 32, got 0
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(0) {
      }
    }
    gpu.return
  }
}
