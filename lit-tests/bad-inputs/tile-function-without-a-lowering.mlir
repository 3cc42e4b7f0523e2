// expect: 7:10: 'math.atan' op is not supported at the tile level
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i, %i] : memref<?x?xf16> to vector<8xf16>
    %w = math.atan %v : vector<8xf16>
    gpu.return
  }
}
