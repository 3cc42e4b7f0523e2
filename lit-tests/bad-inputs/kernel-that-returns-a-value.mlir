// expect: 5:3: 'gpu.func' op expected void return type for kernel function
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() -> i32 kernel {
    %c = arith.constant 0 : i32
    gpu.return %c : i32
  }
}
