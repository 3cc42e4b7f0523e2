// expect: 6:106: expected `?` for every extent of a window
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %w = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<8x8xf16>
    gpu.return
  }
}
