// expect: 6:10: 'async_pipeline.work.load' op expected extents of vectors to be powers of two, got vector<96xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i, %i] : memref<?x?xf16> to vector<96xf16>
    gpu.return
  }
}
