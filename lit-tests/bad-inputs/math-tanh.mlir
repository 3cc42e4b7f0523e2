// expect: 8:10: 'tanh' on f32 has no PTX instruction, and GPU code has no library to call
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %A[%c0] : memref<?xf32>
    %w = math.tanh %v : f32
    memref.store %w, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
