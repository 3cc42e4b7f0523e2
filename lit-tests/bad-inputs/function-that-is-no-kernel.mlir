// expect: 5:3: expected a gpu.func that is a `kernel`; calls of other functions are not supported
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() {
    gpu.return
  }
}
