// expect: 8:9: 'async_pipeline.cta.barrier' op expected to stand outside async_pipeline.role, where not every thread of the CTA comes
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        async_pipeline.cta.barrier
      }
    }
    gpu.return
  }
}
