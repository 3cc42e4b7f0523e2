// expect: 8:5: 'async_pipeline.named_barrier.sync' op expected id from 1 to 15, got 16
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.named_barrier.sync id(16) threads(32)
    gpu.return
  }
}
