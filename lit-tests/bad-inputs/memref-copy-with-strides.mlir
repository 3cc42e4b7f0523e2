// expect: 9:5: 'memref.copy' op of memrefs with a layout is not supported in a kernel
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = memref.subview %A[0] [4] [2] : memref<?xf32> to memref<4xf32, strided<[2]>>
    %t = memref.subview %A[8] [4] [2] : memref<?xf32> to memref<4xf32, strided<[2], offset: 8>>
    memref.copy %s, %t : memref<4xf32, strided<[2]>> to memref<4xf32, strided<[2], offset: 8>>
    gpu.return
  }
}
