// expect: 9:5: 'async_pipeline.work.mma' op expected elements of f16, bf16, f32, f8E4M3FN or f8E5M2, got i8
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xi8>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xi8>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    async_pipeline.work.mma %acc += %a * %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xi8>, !async_pipeline.buffer<32x8xi8>
    gpu.return
  }
}
