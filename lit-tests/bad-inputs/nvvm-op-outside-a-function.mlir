// expect: 5:3: 'nvvm.cluster.arrive' op cannot stand outside a function
// RUN: bad-input %s

gpu.module @kernels {
  nvvm.cluster.arrive
  gpu.func @k(%x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
