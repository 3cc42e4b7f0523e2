// expect: 9:7: redefinition of symbol named 'a'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
}
