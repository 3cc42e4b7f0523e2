// Tests that a role which fills and drains a channel itself fills `stages - 1` slots in front of its
// loop and then for `stages - 1` iterations later, and that one stage changes nothing.

// RUN: pipeline-opt %s --async-pipeline-multistage=target=sm_80 | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_90a stages=4" | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_90a stages=1" | FileCheck %s --check-prefixes=ONE
// RUN: pipeline-opt %s > %t.before
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_90a stages=1" > %t.after
// RUN: cmp %t.before %t.after

// CHECK-LABEL: gpu.func @one_role
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?xf32>
// CHECK: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK: %[[STEP:.+]] = arith.constant 1 : index
// CHECK: %[[TILE:.+]] = arith.constant 64 : index
// CHECK: %[[END:.+]] = memref.dim
// CHECK: %[[IN:.+]] = async_pipeline.channel.create
// THREE: %[[DEPTH:.+]] = arith.constant 2 : index
// FOUR: %[[DEPTH:.+]] = arith.constant 3 : index
// CHECK: %[[AHEAD:.+]] = arith.muli %[[STEP]], %[[DEPTH]]
// CHECK: %[[FAR:.+]] = arith.addi %[[ZERO]], %[[AHEAD]]
// CHECK: %[[LAST:.+]] = arith.minsi %[[END]], %[[FAR]]
// CHECK: scf.for %[[I:.+]] = %[[ZERO]] to %[[LAST]] step %[[STEP]] {
// CHECK:   %[[AT:.+]] = arith.muli %[[I]], %[[TILE]]
// CHECK:   %[[S:.+]] = async_pipeline.channel.acquire %[[IN]]
// CHECK:   async_pipeline.work.copy %[[A]][%[[AT]]] to %[[S]]
// CHECK:   async_pipeline.channel.commit %[[S]]
// CHECK: }
// CHECK: scf.for %[[I:.+]] = %[[ZERO]] to %[[END]] step %[[STEP]] {
// CHECK:   %[[NEXT:.+]] = arith.addi %[[I]], %[[AHEAD]]
// CHECK:   %[[THERE:.+]] = arith.cmpi slt, %[[NEXT]], %[[END]]
// CHECK:   scf.if %[[THERE]] {
// CHECK:     %[[AT:.+]] = arith.muli %[[NEXT]], %[[TILE]]
// CHECK:     %[[S:.+]] = async_pipeline.channel.acquire %[[IN]]
// CHECK:     async_pipeline.work.copy %[[A]][%[[AT]]] to %[[S]]
// CHECK:     async_pipeline.channel.commit %[[S]]
// CHECK:   }
// CHECK:   %[[T:.+]] = async_pipeline.channel.wait %[[IN]]
// CHECK:   async_pipeline.channel.release %[[T]]
// CHECK-NOT: channel.acquire
// ONE-COUNT-1: scf.for
// ONE-NOT: scf.if
// CHECK-LABEL: gpu.func @exactly
gpu.module @kernels {
  gpu.func @one_role(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %n = memref.dim %A, %c0 : memref<?xf32>
    %in = async_pipeline.channel.create "in" stages(3) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          %at = arith.muli %i, %c64 : index
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%at] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          %t = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }

  // The option leaves a channel that says `exactly` alone.
  // THREE: arith.constant 0 : i32
  // THREE-NOT: scf.if
  // THREE-LABEL: gpu.func @two_roles
  // FOUR-NOT: scf.if
  // FOUR-LABEL: gpu.func @two_roles
  gpu.func @exactly(%A: memref<?xf32>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %i0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" stages(1) exactly : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %n step %c1 : i32 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          %t = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }

  // Roles that run beside each other need no help.
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT: scf.for
  gpu.func @two_roles(%A: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        }
      }
      async_pipeline.role @use warps(1) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }
}
