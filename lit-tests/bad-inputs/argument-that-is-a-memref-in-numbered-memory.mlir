// expect: 5:3: argument 0: expected a memref in global memory, got memref<4xf32, 7>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: memref<4xf32, 7>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
