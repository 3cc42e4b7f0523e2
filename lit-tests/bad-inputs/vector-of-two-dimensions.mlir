// expect: 7:10: 'vector.load' op destination memref has lower rank than the result vector
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%c0] : memref<?xf32>, vector<4x4xf32>
    vector.store %v, %A[%c0] : memref<?xf32>, vector<4x4xf32>
    gpu.return
  }
}
