// expect: 6:71: expected a tile of at most 2^28 bytes
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.accumulator : !async_pipeline.accumulator<65536x65536xf32>
    gpu.return
  }
}
