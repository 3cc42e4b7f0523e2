// expect: 8:5: 'async_pipeline.named_barrier.arrive' op expected threads to be a multiple of 32 from 32 to 1024, got 48
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.named_barrier.arrive id(1) threads(48)
    gpu.return
  }
}
