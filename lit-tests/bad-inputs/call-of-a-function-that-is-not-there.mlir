// expect: 7:10: 'llvm.call' op 'nowhere' does not reference a symbol in the current scope
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %f = llvm.call @nowhere() : () -> f32
    memref.store %f, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
