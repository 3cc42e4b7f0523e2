// expect: 9:10: 'memref.load' op from a tensor that the kernel stores to is not supported by the lowering of the tile level
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%C: memref<?xf32>, %D: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<128xf32>
    async_pipeline.work.store %v to %C[%c0] : vector<128xf32> to memref<?xf32>
    %x = memref.load %C[%c0] : memref<?xf32>
    %w = vector.broadcast %x : f32 to vector<128xf32>
    async_pipeline.work.store %w to %D[%c0] : vector<128xf32> to memref<?xf32>
    gpu.return
  }
}
