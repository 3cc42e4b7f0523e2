// expect: 8:9: 'gpu.return' op expects parent op 'gpu.func'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        gpu.return
      }
    }
    gpu.return
  }
}
