// expect: 8:10: 'exp' on f64 has no PTX instruction, and GPU code has no library to call
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %A[%c0] : memref<?xf64>
    %w = math.exp %v : f64
    memref.store %w, %A[%c0] : memref<?xf64>
    gpu.return
  }
}
