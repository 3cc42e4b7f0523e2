// expect: 6:71: expected an accumulator of f32, got 'f16'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf16>
    gpu.return
  }
}
