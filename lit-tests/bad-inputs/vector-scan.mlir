// expect: 9:12: 'vector.scan' op cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%c0] : memref<?xf32>, vector<4xf32>
    %i = arith.constant dense<0.0> : vector<f32>
    %s:2 = vector.scan <add>, %v, %i {inclusive = true, reduction_dim = 0 : i64} : vector<4xf32>, vector<f32>
    vector.store %s#0, %A[%c0] : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}
