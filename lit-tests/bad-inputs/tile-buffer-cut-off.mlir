// expect: 6:60: unbalanced '<' character in pretty dialect name
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<16x
    gpu.return
  }
}
