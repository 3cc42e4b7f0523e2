// expect: 6:72: expected non-function type
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.accumulator : !async_pipeline.accumulator<>
    gpu.return
  }
}
