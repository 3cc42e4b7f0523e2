// expect: 9:5: 'async_pipeline.mbarrier.wait' op expected a stage from 0 to 3, got 4
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %f = arith.constant 4 : i32
    async_pipeline.mbarrier.wait %b[%f], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
