// expect: 8:9: 'async_pipeline.role' op expects parent op 'async_pipeline.roles'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        async_pipeline.role @b warps(1) {
        }
      }
    }
    gpu.return
  }
}
