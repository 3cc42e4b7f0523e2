// expect: 8:5: 'async_pipeline.work.mma' op expected an accumulator or a slot in tensor memory, got !async_pipeline.buffer<16x32xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    async_pipeline.work.mma %a += %a * %b : !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}
