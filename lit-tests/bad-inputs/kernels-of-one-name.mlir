// expect: 8:3: redefinition of symbol named 'k'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
