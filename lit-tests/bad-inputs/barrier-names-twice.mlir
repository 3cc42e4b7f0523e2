// expect: 8:10: expected names to be unique in the kernel, got "b" twice
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %x = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
