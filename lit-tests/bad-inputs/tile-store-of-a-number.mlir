// expect: 8:5: 'memref.store' op is not supported at the tile level
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %v = async_pipeline.work.load %A[%i, %i] : memref<?x?xf16> to vector<8xf16>
    %z = arith.constant 0.0 : f16
    memref.store %z, %A[%i, %i] : memref<?x?xf16>
    gpu.return
  }
}
