// expect: 6:10: 'async_pipeline.work.load' op expected !async_pipeline.accumulator<16x8xf32> to come from tile.accumulator, got an argument
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%acc: !async_pipeline.accumulator<16x8xf32>) kernel {
    %v = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x8xf32> to vector<16x8xf32>
    gpu.return
  }
}
