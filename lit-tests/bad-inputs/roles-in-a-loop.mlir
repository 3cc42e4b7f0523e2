// expect: 9:7: 'async_pipeline.roles' op expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got scf.for
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
      async_pipeline.roles {
        async_pipeline.role @a warps(1) {
        }
      }
    }
    gpu.return
  }
}
