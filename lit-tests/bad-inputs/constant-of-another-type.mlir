// expect: 8:5: floating point value not valid for specified type
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %z = arith.constant 1.5 : i32
    gpu.return
  }
}
