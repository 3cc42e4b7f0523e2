// expect: 5:3: argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got !async_pipeline.mbarrier<4>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%b: !async_pipeline.mbarrier<4>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    async_pipeline.mbarrier.arrive %b[%c] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
