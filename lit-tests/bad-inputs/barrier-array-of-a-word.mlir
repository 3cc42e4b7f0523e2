// expect: 6:71: expected integer value
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<four>
    gpu.return
  }
}
