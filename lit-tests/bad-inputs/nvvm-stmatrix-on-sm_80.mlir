// expect: 9:5: 'nvvm.stmatrix' op: it is not known whether sm_80 has it; use an op of async_pipeline, or write the PTX with llvm.inline_asm
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %p = llvm.mlir.zero : !llvm.ptr<3>
    %v = arith.constant 0 : i32
    nvvm.stmatrix %p, %v {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    gpu.return
  }
}
