// expect: 7:10: needs the function 'malloc', which is not available on the GPU
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = memref.alloc() : memref<64xf32>
    %v = memref.load %m[%c0] : memref<64xf32>
    memref.store %v, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
