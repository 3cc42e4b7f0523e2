// expect: 6:10: 'async_pipeline.work.load' op result #0 must be vector of any type values, but got 'vector<f16>'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i, %i] : memref<?x?xf16> to vector<f16>
    gpu.return
  }
}
