// expect: 5:3: argument 0: expected elements of a type that a launcher knows, got i1
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: memref<?xi1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
