// expect: 9:10: 'async_pipeline.mbarrier.pending_count' op expected the state of an arrive with no_complete
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %s = async_pipeline.mbarrier.arrive %b[%c] : !async_pipeline.mbarrier<4> -> i64
    %n = async_pipeline.mbarrier.pending_count %s : i32
    gpu.return
  }
}
