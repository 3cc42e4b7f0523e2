// expect: 7:5: 'nvvm.setmaxregister' op: it is not known whether sm_80 has it; use an op of async_pipeline, or write the PTX with llvm.inline_asm
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    nvvm.setmaxregister increase 232
    gpu.return
  }
}
