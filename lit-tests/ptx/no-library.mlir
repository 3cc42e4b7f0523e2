// Tests that a kernel which needs a library function is an error at the op, and that no file is left.

// RUN: split-file %s %t
// RUN: not pipeline-opt %t/atan2.mlir --target=sm_90a --emit=ptx -o %t/atan2.ptx 2>&1 | FileCheck %t/atan2.mlir
// RUN: not ls %t/atan2.ptx
// RUN: not ls %t/atan2.json
// RUN: not ls %t/atan2.ptx.partial
// RUN: not pipeline-opt %t/pow.mlir --target=sm_80 --emit=ptx -o - 2>&1 | FileCheck %t/pow.mlir
// RUN: pipeline-opt %t/native.mlir --target=sm_80 --emit=ptx -o - | FileCheck %t/native.mlir

//--- atan2.mlir
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = memref.load %A[%i] : memref<?xf32>
    // CHECK: atan2.mlir:[[#@LINE + 1]]:10: error: 'atan2' on f32 has no PTX instruction, and GPU code has no library to call
    %y = math.atan2 %x, %x : f32
    memref.store %y, %A[%i] : memref<?xf32>
    gpu.return
  }
}

//--- pow.mlir
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = memref.load %A[%i] : memref<?xf32>
    // CHECK-NOT: .version
    // CHECK: pow.mlir:[[#@LINE + 1]]:10: error: 'pow' on f32 has no PTX instruction, and GPU code has no library to call
    %y = math.powf %x, %x : f32
    memref.store %y, %A[%i] : memref<?xf32>
    gpu.return
  }
}

//--- native.mlir
gpu.module @kernels {
  // CHECK-NOT: .extern .func
  // CHECK: sqrt.rn.f32
  // CHECK: ex2.approx
  // CHECK: fma.rn.f32
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = memref.load %A[%i] : memref<?xf32>
    %y = math.sqrt %x : f32
    %z = math.exp2 %y : f32
    %w = math.fma %x, %y, %z : f32
    memref.store %w, %A[%i] : memref<?xf32>
    gpu.return
  }
}
