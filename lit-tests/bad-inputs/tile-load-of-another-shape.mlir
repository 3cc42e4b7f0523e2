// expect: 7:10: 'async_pipeline.work.load' op expected a vector of 16x8 elements of f32, got vector<8x16xf32>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x8xf32> to vector<8x16xf32>
    gpu.return
  }
}
