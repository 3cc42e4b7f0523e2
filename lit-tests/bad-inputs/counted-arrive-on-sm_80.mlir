// expect: ?
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.arrive %b[%c] count(2) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
