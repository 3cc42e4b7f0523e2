// expect: 7:7: 'async_pipeline.role' op region #0 ('body') failed to verify constraint: region with 1 blocks
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(-1) {
      }
    }
    gpu.return
  }
}
