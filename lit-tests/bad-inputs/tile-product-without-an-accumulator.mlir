// expect: 8:45: custom op 'async_pipeline.work.mma' invalid kind of type specified: expected async_pipeline.accumulator, but found '!async_pipeline.buffer<16x32xf16>'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    async_pipeline.work.mma %a += %a * %b : !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}
