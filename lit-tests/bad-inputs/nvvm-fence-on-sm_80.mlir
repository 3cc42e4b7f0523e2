// expect: 7:5: 'nvvm.fence.mbarrier.init' op is illegal on sm_80: `fence.mbarrier_init` needs sm_90 or newer; sm_80 does not have it
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    nvvm.fence.mbarrier.init
    gpu.return
  }
}
