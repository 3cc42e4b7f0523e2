// expect: 7:10: 'gpu.dynamic_shared_memory' op is not supported in a kernel
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %n = arith.constant 0 : i8
    memref.store %n, %m[%c0] : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
