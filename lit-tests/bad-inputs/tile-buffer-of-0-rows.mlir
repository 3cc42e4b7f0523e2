// expect: 6:60: expected tile extents of at least 1, got 0
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<0x32xf16>
    gpu.return
  }
}
