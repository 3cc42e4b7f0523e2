// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
