// expect: 7:10: 'arith.select' op expected storage to be used by tile-level ops only, got !async_pipeline.buffer<16x32xf16> here
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %x = arith.select %p, %a, %a : !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}
