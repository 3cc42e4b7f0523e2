// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() kernel {
    %c = arith.constant 0 : i32
  }
}
