// expect: 6:10: 'async_pipeline.work.load' op expected vectors of i1, i8, i16, i32, i64, index, f16, bf16, f32, f8E4M3FN or f8E5M2, got vector<8xf64>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%D: memref<?xf64>, %i: index) kernel {
    %v = async_pipeline.work.load %D[%i] : memref<?xf64> to vector<8xf64>
    gpu.return
  }
}
