// expect: 7:10: expected at most 524288 bytes of local memory per thread, got 9223372036854775807
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%B: memref<?xi64>, %j: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = memref.alloca() : memref<9223372036854775807xf64>
    %v = memref.load %m[%j] : memref<9223372036854775807xf64>
    %n = arith.fptosi %v : f64 to i64
    memref.store %n, %B[%c0] : memref<?xi64>
    gpu.return
  }
}
