// expect: 6:10: 'async_pipeline.work.load' op expected a vector of fixed length, got vector<[8]xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i, %i] : memref<?x?xf16> to vector<[8]xf16>
    gpu.return
  }
}
