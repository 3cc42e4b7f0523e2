// Tests that errors of several kernels are all shown, each at its place.

// RUN: not pipeline-opt %s --target=sm_90a --emit=ptx -o %t.ptx 2>&1 | FileCheck %s
// RUN: not ls %t.ptx

gpu.module @kernels {
  // CHECK: several-errors.mlir:[[#@LINE + 1]]:3: error: shared memory: 262144 bytes of tiles
  gpu.func @one() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: several-errors.mlir:[[#@LINE + 1]]:10: note: the largest ring is this one: 1 stages, 262144 bytes
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<1, 256x256xf32>
    gpu.return
  }
  // CHECK: several-errors.mlir:[[#@LINE + 1]]:3: error: shared memory: 524288 bytes of tiles
  gpu.func @two() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: several-errors.mlir:[[#@LINE + 1]]:10: note: the largest ring is this one: 2 stages, 524288 bytes
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<2, 256x256xf32>
    gpu.return
  }
}
