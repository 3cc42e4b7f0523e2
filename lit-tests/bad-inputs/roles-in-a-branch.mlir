// expect: 8:7: 'async_pipeline.roles' op expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got scf.if
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %true = arith.constant true
    scf.if %true {
      async_pipeline.roles {
        async_pipeline.role @a warps(1) {
        }
      }
    }
    gpu.return
  }
}
