// expect: 6:5: 'async_pipeline.roles' op expected only role ops in its region, got arith.constant
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    async_pipeline.roles {
      %c0 = arith.constant 0 : index
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
}
