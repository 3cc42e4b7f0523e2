// expect: 7:10: 'gpu.cluster_id' op is not supported in a kernel
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%B: memref<?xi64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %r = gpu.cluster_id x
    %i = arith.index_cast %r : index to i64
    memref.store %i, %B[%c0] : memref<?xi64>
    gpu.return
  }
}
