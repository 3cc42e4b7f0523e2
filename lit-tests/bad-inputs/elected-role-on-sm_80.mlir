// expect: 7:7: 'async_pipeline.role' op is illegal on sm_80: `elect.sync` needs sm_90 or newer; sm_80 does not have it
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
