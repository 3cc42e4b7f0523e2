// expect: 9:5: 'async_pipeline.work.mma' op expected equal element types, or two of 8 bits, got f16 and f32
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf32>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    async_pipeline.work.mma %acc += %a * %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf32>
    gpu.return
  }
}
