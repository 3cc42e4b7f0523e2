// expect: 6:10: 'async_pipeline.work.load' op expected vectors of rank 1 or 2, got vector<2x2x8xf16>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%T: memref<?x?x?xf16>, %i: index) kernel {
    %v = async_pipeline.work.load %T[%i, %i, %i] : memref<?x?x?xf16> to vector<2x2x8xf16>
    gpu.return
  }
}
