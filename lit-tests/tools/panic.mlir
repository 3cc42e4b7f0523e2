// Tests that a panic in a pass is an internal error at the op the pass was working on,
// with exit code 1 and no output.

// RUN: not pipeline-opt %s --async-pipeline-test-panic -o %t.mlir 2>&1 | FileCheck %s
// RUN: not ls %t.mlir
// RUN: not pipeline-opt %s --pass-pipeline="builtin.module(async-pipeline-test-panic)" --target=sm_90a --emit=ptx -o %t.ptx 2>&1 | FileCheck %s
// RUN: not ls %t.ptx %t.json

// CHECK: panic.mlir:[[# @LINE + 4]]:3: error: internal error: planted by async-pipeline-test-panic
// CHECK-SAME: please report it
// CHECK-NOT: error:
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
