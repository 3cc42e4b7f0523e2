// expect: 5:3: argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got complex<f32>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: complex<f32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
