// expect: 7:55: custom op 'async_pipeline.work.store' expected 'add'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = arith.constant dense<0.0> : vector<8xf16>
    async_pipeline.work.store %v to %A[%i, %i] reduce max : vector<8xf16> to memref<?x?xf16>
    gpu.return
  }
}
