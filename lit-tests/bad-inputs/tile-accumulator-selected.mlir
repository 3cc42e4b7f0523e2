// expect: 6:12: 'async_pipeline.tile.accumulator' op expected its accumulator to be used by work.mma, work.load and work.store only, got arith.select
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %x = arith.select %p, %acc, %acc : !async_pipeline.accumulator<16x8xf32>
    gpu.return
  }
}
