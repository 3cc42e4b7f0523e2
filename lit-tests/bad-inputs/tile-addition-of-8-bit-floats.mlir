// expect: 7:10: 'arith.addf' op is not supported on elements of f8E5M2
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%F: memref<?xf8E5M2>, %i: index) kernel {
    %v = async_pipeline.work.load %F[%i] : memref<?xf8E5M2> to vector<8xf8E5M2>
    %w = arith.addf %v, %v : vector<8xf8E5M2>
    gpu.return
  }
}
