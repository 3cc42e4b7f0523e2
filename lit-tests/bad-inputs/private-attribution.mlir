// expect: 5:3: expected no workgroup or private attributions; use channels or buffer.alloc
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() private(%w: memref<4xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
