// expect: 6:10: ends at byte 232456, beyond the 232448 bytes of shared memory that a CTA has on sm_90a
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.mbarrier.alloc "a" offset(232448) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
