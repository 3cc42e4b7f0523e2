// expect: 9:5: 'async_pipeline.mbarrier.arrive.expect_tx' op expected bytes from 0 to 1048575, got 1048576
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %f = arith.constant 1048576 : i32
    async_pipeline.mbarrier.arrive.expect_tx %b[%c], %f : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
