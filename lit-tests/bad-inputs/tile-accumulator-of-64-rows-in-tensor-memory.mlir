// expect: 7:12: expected an accumulator of 128 rows and 32, 64, 128, 256 or 512 columns, which is what tensor memory holds, got 64x64
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<64x64xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<64x64xf32>
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %acc += %a * transpose %a
        : !async_pipeline.accumulator<64x64xf32>, !async_pipeline.buffer<64x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<64x64xf32> to vector<64x64xf32>
    async_pipeline.work.store %f to %C[%i, %i] : vector<64x64xf32> to memref<?x?xf32>
    gpu.return
  }
}
