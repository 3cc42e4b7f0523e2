// expect: 8:9: 'gpu.barrier' op is not supported; use async_pipeline.cta.barrier, or async_pipeline.named_barrier.sync inside a role
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        gpu.barrier
      }
    }
    gpu.return
  }
}
