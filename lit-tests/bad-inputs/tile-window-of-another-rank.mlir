// expect: 6:10: 'async_pipeline.tile.window' op expected a window of rank 2 and element type f16, got !async_pipeline.window<?xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %w = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<?xf16>
    gpu.return
  }
}
