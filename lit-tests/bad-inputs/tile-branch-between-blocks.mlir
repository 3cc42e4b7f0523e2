// expect: 7:5: 'cf.br' op is not supported at the tile level
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    cf.br ^next
    ^next:
    gpu.return
  }
}
