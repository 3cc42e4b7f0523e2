// expect: 5:3: argument 0: expected a strided memref with offset 0, got memref<?xf32, strided<[1], offset: 4>>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: memref<?xf32, strided<[1], offset: 4>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
