// expect: 6:10: 'async_pipeline.work.load' op expected 2 indices for memref<?x?xf16>, got 1
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i] : memref<?x?xf16> to vector<8xf16>
    gpu.return
  }
}
