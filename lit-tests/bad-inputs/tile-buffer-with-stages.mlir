// expect: 6:10: 'async_pipeline.tile.alloc' op expected a buffer without stages, got !async_pipeline.buffer<2, 16x32xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<2, 16x32xf16>
    gpu.return
  }
}
