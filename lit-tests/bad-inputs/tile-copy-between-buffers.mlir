// expect: 7:5: 'async_pipeline.work.copy' op expected a memref on one side and a slot or buffer on the other, got !async_pipeline.buffer<16x32xf16> and !async_pipeline.buffer<16x32xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    async_pipeline.work.copy %a to %a : !async_pipeline.buffer<16x32xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}
