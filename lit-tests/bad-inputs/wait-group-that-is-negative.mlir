// expect: 8:5: 'async_pipeline.cp_async.wait_group' op expected pending from 0 to 2147483647, got -1
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.cp_async.wait_group pending(-1)
    gpu.return
  }
}
