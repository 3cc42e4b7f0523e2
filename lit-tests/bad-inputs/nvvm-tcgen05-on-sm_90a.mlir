// expect: 9:5: 'nvvm.tcgen05.dealloc' op: it is not known whether sm_90a has it; use an op of async_pipeline, or write the PTX with llvm.inline_asm
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %p = llvm.mlir.zero : !llvm.ptr<6>
    %n = arith.constant 32 : i32
    nvvm.tcgen05.dealloc %p, %n : !llvm.ptr<6>, i32
    gpu.return
  }
}
