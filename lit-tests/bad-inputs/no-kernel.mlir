// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
}
