// expect: 7:5: 'async_pipeline.work.store' op expected `reduce add` of f16, bf16, f32, i32 or i64, got i8
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%X: memref<?xi8>, %i: index) kernel {
    %v = arith.constant dense<0> : vector<8xi8>
    async_pipeline.work.store %v to %X[%i] reduce add : vector<8xi8> to memref<?xi8>
    gpu.return
  }
}
