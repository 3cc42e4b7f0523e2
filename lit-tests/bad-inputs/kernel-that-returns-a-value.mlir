// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() -> i32 kernel {
    %c = arith.constant 0 : i32
    gpu.return %c : i32
  }
}
