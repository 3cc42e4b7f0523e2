// expect: 8:5: 'cf.assert' op is not supported in a kernel
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = arith.constant false
    cf.assert %t, "never"
    gpu.return
  }
}
