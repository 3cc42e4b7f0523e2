// expect: 8:10: 'llvm.call_intrinsic' op cannot be turned into PTX
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<4xf32>
    %r = llvm.call_intrinsic "llvm.x86.sse.rcp.ps"(%v) : (vector<4xf32>) -> vector<4xf32>
    vector.store %r, %A[%c0] : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}
