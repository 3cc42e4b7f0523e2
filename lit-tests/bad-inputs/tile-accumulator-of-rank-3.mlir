// expect: 6:71: expected an accumulator of rank 2, got rank 3
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.accumulator : !async_pipeline.accumulator<2x16x8xf32>
    gpu.return
  }
}
