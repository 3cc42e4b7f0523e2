// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() {
    gpu.return
  }
}
