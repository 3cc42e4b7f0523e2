// expect: 6:10: 'async_pipeline.role.thread_id' op expected to stand inside an async_pipeline.role
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = async_pipeline.role.thread_id : index
    gpu.return
  }
}
