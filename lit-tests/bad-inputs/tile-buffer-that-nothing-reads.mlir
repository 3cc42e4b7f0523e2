// expect: 6:10: expected a buffer that a product reads, got none
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}
