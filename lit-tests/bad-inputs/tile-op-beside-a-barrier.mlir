// expect: 7:10: 'async_pipeline.mbarrier.alloc' op of a lower level is not supported beside tile-level ops
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %m = async_pipeline.mbarrier.alloc "m" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
