// expect: 7:10: an allocation of dynamic size needs PTX 7.3; 7.0 was asked for
// RUN: bad-input %s --target=sm_80 --ptx-version=7.0

gpu.module @kernels {
  gpu.func @k(%B: memref<?xi64>, %x: i64, %j: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = memref.alloca(%j) : memref<?xi64>
    memref.store %x, %m[%j] : memref<?xi64>
    %v = memref.load %m[%c0] : memref<?xi64>
    memref.store %v, %B[%c0] : memref<?xi64>
    gpu.return
  }
}
