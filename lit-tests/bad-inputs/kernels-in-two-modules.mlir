// expect: 10:3: expected all kernels in one gpu.module
// RUN: bad-input %s

gpu.module @m1 {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
gpu.module @m2 {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
