// expect: 6:70: expected 1 to 1024 stages, got 1025
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<1025>
    gpu.return
  }
}
