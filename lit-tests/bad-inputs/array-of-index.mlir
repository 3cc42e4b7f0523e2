// expect: 5:68: expected integer or float type, got: 'index'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: i32) kernel attributes {known_block_size = array<index: 32, 1, 1>} {
    gpu.return
  }
}
