// expect: 9:10: 'vector.multi_reduction' op cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<4x4xf32>
    %z = vector.load %A[%c0] : memref<?xf32>, vector<4xf32>
    %r = vector.multi_reduction <add>, %v, %z [0] : vector<4x4xf32> to vector<4xf32>
    vector.store %r, %A[%c0] : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}
