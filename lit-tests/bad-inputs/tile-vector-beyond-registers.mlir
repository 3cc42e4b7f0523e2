// expect: 6:10: 'async_pipeline.work.load' op expected vectors of at most 65536 elements, got vector<1024x1024xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i, %i] : memref<?x?xf16> to vector<1024x1024xf16>
    gpu.return
  }
}
