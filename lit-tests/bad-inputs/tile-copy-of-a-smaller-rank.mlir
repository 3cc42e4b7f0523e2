// expect: 7:5: 'async_pipeline.work.copy' op expected a tensor of rank 2 or more for a tile of rank 2, got memref<?xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%V: memref<?xf16>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    async_pipeline.work.copy %V[%i] to %a : memref<?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}
