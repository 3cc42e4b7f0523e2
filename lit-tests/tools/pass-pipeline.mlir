// Tests that --emit takes a pass pipeline instead of the named one, and that options of mlir-opt work beside
// it.

// RUN: pipeline-opt %s --target=sm_90a --emit=nvvm --pass-pipeline="builtin.module(async-pipeline-allocate{target=sm_90a})" | FileCheck %s --check-prefix=ALLOCATED
// RUN: not pipeline-opt %s --target=sm_90a --emit=ptx --pass-pipeline="builtin.module(canonicalize)" 2>&1 | FileCheck %s --check-prefix=HIGH
// RUN: pipeline-opt %s --target=sm_90a --emit=ptx --mlir-print-ir-after=async-pipeline-allocate -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PRINTED
// ALLOCATED: async_pipeline.mbarrier.alloc "b" offset(0)
// HIGH: error: expected one gpu.module with kernels lowered to llvm.func, got 0
// PRINTED: IR Dump After async-pipeline-allocate
// PRINTED: async_pipeline.mbarrier.alloc "b" offset(0)

gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    async_pipeline.mbarrier.init %b count(1) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
