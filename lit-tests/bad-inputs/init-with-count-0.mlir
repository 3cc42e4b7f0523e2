// expect: 8:5: 'async_pipeline.mbarrier.init' op expected count from 1 to 1048575, got 0
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.init %b count(0) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
