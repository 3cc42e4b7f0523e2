// expect: 7:36: integer constant out of range for attribute
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(4294967297) {
      }
    }
    gpu.return
  }
}
