// expect: 6:10: expected an offset within shared memory, got 9223372036854775800
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.mbarrier.alloc "a" offset(9223372036854775800) : !async_pipeline.mbarrier<2>
    gpu.return
  }
}
