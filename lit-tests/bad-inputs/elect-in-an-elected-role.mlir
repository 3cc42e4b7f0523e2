// expect: 8:14: 'async_pipeline.elect' op expected to stand outside an elected role, which one lane runs
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) elected {
        %l = async_pipeline.elect : i1
      }
    }
    gpu.return
  }
}
