// expect: 9:5: 'async_pipeline.roles' op expected to stand in the first block of its kernel, got another block
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %true = arith.constant true
    cf.cond_br %true, ^a, ^b
    ^a:
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    cf.br ^b
    ^b:
    gpu.return
  }
}
