// expect: 9:5: 'async_pipeline.work.mma' op expected B to be a buffer or slot, got vector<32x8xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = arith.constant dense<0.0> : vector<32x8xf16>
    async_pipeline.work.mma %acc += %a * %v : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, vector<32x8xf16>
    gpu.return
  }
}
