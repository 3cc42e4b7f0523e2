// expect: 9:5: the argument promises an alignment of 4 bytes, and tensor copies on sm_90a need 16; write cp_async on the channel to copy by threads
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<64x66xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<64x64xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<64x64xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<64x66xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %acc += %a * transpose %a
        : !async_pipeline.accumulator<64x64xf32>, !async_pipeline.buffer<64x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<64x64xf32> to vector<64x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<64x64xf32> to memref<?x?xf32>
    gpu.return
  }
}
