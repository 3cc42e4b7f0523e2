// expect: 6:10: 'async_pipeline.mbarrier.alloc' op expected an offset that is a multiple of 8, got 4
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.mbarrier.alloc "a" offset(4) : !async_pipeline.mbarrier<2>
    gpu.return
  }
}
