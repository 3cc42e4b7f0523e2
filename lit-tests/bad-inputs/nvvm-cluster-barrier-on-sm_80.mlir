// expect: 7:5: 'nvvm.cluster.arrive' op is illegal on sm_80: `barrier.cluster.arrive` needs sm_90 or newer; sm_80 does not have it
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    nvvm.cluster.arrive
    gpu.return
  }
}
