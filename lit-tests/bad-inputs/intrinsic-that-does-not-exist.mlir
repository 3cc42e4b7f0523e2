// expect: 7:5: 'llvm.call_intrinsic' op cannot be turned into PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    llvm.call_intrinsic "llvm.nowhere"() : () -> ()
    gpu.return
  }
}
