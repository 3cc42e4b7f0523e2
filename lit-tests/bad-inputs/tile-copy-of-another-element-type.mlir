// expect: 7:5: 'async_pipeline.work.copy' op expected element type bf16, got f16 in memref<?x?xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xbf16>
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<16x32xbf16>
    gpu.return
  }
}
