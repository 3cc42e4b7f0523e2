// expect: 8:10: 'math.erf' op cannot be lowered to PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %A[%c0] : memref<?xf32>
    %w = math.erf %v : f32
    memref.store %w, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
