// expect: 7:5: 'gpu.barrier' op is not supported at the tile level, where one thread owns whole tiles
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    gpu.barrier
    gpu.return
  }
}
