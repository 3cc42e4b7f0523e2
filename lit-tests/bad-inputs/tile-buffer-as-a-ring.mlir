// expect: 6:10: 'async_pipeline.buffer.alloc' op expected a type with stages, got !async_pipeline.buffer<16x32xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}
