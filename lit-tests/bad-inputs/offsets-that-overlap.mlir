// expect: 7:10: starts at byte 8, within an allocation that ends at byte 16
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.mbarrier.alloc "a" offset(0) : !async_pipeline.mbarrier<2>
    %b = async_pipeline.mbarrier.alloc "b" offset(8) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
