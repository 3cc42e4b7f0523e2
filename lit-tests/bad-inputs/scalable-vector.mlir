// expect: 7:10: a value of type vector<[4]xf32> cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%c0] : memref<?xf32>, vector<[4]xf32>
    %s = arith.addf %v, %v : vector<[4]xf32>
    vector.store %s, %A[%c0] : memref<?xf32>, vector<[4]xf32>
    gpu.return
  }
}
