// expect: 8:5: 'vastart' on !llvm.ptr has no PTX instruction, and GPU code has no library to call
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %p = llvm.mlir.zero : !llvm.ptr
    llvm.intr.vastart %p : !llvm.ptr
    gpu.return
  }
}
