// expect: 8:3: expected a gpu.func that is a `kernel`; calls of other functions are not supported
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
