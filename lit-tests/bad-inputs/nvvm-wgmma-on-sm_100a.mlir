// expect: ?
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    nvvm.wgmma.fence.aligned
    gpu.return
  }
}
