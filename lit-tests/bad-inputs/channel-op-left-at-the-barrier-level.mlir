// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}
