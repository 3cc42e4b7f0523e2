// expect: 6:5: 'async_pipeline.role' op expects parent op 'async_pipeline.roles'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    async_pipeline.role @a warps(1) {
    }
    gpu.return
  }
}
