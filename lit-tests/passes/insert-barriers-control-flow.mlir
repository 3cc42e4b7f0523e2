// Tests that stage and parity are carried through every loop and branch around a slot: through nested
// loops without a restart, past a branch that may be skipped, and through a while loop.

// RUN: pipeline-opt %s --async-pipeline-insert-barriers=target=sm_90a --canonicalize --cse | FileCheck %s

gpu.module @kernels {

// A persistent loop around a loop: the inner one goes on where it stopped a tile before.
//
// CHECK-LABEL: gpu.func @tiles_and_steps
// CHECK: async_pipeline.role @load
// CHECK: scf.for {{.+}} iter_args(%[[OUTER_STAGE:.+]] = %{{.+}}, %[[OUTER_PARITY:.+]] = %{{.+}}) -> (i32, i32)
// CHECK:   %[[INNER:.+]]:2 = scf.for {{.+}} iter_args(%[[STAGE:.+]] = %[[OUTER_STAGE]], %[[PARITY:.+]] = %[[OUTER_PARITY]])
// CHECK:     async_pipeline.mbarrier.wait %{{.+}}[%[[STAGE]]], %[[PARITY]]
// CHECK:   scf.yield %[[INNER]]#0, %[[INNER]]#1
  gpu.func @tiles_and_steps(%A: memref<?xf32>, %tiles: index, %steps: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" stages(2) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        scf.for %t = %c0 to %tiles step %c1 {
          scf.for %k = %c0 to %steps step %c1 {
            %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
            async_pipeline.work.copy %A[%k] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
            async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          }
        }
      }
      async_pipeline.role @use warps(1) {
        scf.for %t = %c0 to %tiles step %c1 {
          scf.for %k = %c0 to %steps step %c1 {
            %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
            async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
          }
        }
      }
    }
    gpu.return
  }

// A slot taken under a condition moves the position on only where it is taken.
//
// CHECK-LABEL: gpu.func @under_a_condition
// CHECK: async_pipeline.role @load
// CHECK: scf.for {{.+}} iter_args(%[[STAGE:.+]] = %{{.+}}, %[[PARITY:.+]] = %{{.+}})
// CHECK:   %[[THEN:.+]]:2 = scf.if %{{.+}} -> (i32, i32) {
// CHECK:     async_pipeline.mbarrier.wait %{{.+}}[%[[STAGE]]], %[[PARITY]]
// CHECK:     scf.yield
// CHECK:   } else {
// CHECK-NEXT: scf.yield %[[STAGE]], %[[PARITY]]
// CHECK:   scf.yield %[[THEN]]#0, %[[THEN]]#1
  gpu.func @under_a_condition(%A: memref<?xf32>, %mask: memref<?xi32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %in = async_pipeline.channel.create "in" stages(2) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        scf.for %i = %c0 to %n step %c1 {
          %m = memref.load %mask[%i] : memref<?xi32>
          %wanted = arith.cmpi ne, %m, %zero : i32
          scf.if %wanted {
            %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
            async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
            async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          }
        }
      }
      async_pipeline.role @use warps(1) {
        scf.for %i = %c0 to %n step %c1 {
          %m = memref.load %mask[%i] : memref<?xi32>
          %wanted = arith.cmpi ne, %m, %zero : i32
          scf.if %wanted {
            %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
            async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
          }
        }
      }
    }
    gpu.return
  }

// A pipelined loop inside a while loop.
//
// CHECK-LABEL: gpu.func @inside_a_while_loop
// CHECK: async_pipeline.role @use
// CHECK: scf.while (%{{.+}} = %{{.+}}, %[[S0:.+]] = %{{.+}}, %[[P0:.+]] = %{{.+}}) : (index, i32, i32) -> (index, i32, i32) {
// CHECK:   scf.condition(%{{.+}}) %{{.+}}, %[[S0]], %[[P0]]
// CHECK: ^bb0(%{{.+}}: index, %[[S1:.+]]: i32, %[[P1:.+]]: i32):
// CHECK:   %[[INNER:.+]]:2 = scf.for {{.+}} iter_args(%[[STAGE:.+]] = %[[S1]], %[[PARITY:.+]] = %[[P1]])
// CHECK:     async_pipeline.mbarrier.wait %{{.+}}[%[[STAGE]]], %[[PARITY]]
// CHECK:   scf.yield %{{.+}}, %[[INNER]]#0, %[[INNER]]#1
  gpu.func @inside_a_while_loop(%A: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" stages(2) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %end = scf.while (%left = %n) : (index) -> index {
          %more = arith.cmpi ne, %left, %c0 : index
          scf.condition(%more) %left : index
        } do {
        ^bb0(%left: index):
          scf.for %i = %c0 to %left step %c1 {
            %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
            async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
            async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          }
          %fewer = arith.subi %left, %c1 : index
          scf.yield %fewer : index
        }
      }
      async_pipeline.role @use warps(1) {
        %end = scf.while (%left = %n) : (index) -> index {
          %more = arith.cmpi ne, %left, %c0 : index
          scf.condition(%more) %left : index
        } do {
        ^bb0(%left: index):
          scf.for %i = %c0 to %left step %c1 {
            %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
            async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
          }
          %fewer = arith.subi %left, %c1 : index
          scf.yield %fewer : index
        }
      }
    }
    gpu.return
  }

// One slot: the parity flips with every use, the stage is always 0.
//
// CHECK-LABEL: gpu.func @one_slot
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK: async_pipeline.role @use
// CHECK: scf.for {{.+}} iter_args(%[[PARITY:.+]] = %[[ZERO]])
// CHECK:   %[[NEXT:.+]] = arith.xori %[[PARITY]], %[[ONE]]
// CHECK:   async_pipeline.mbarrier.wait %{{.+}}[%[[ZERO]]], %[[PARITY]]
// CHECK:   scf.yield %[[NEXT]]
  gpu.func @one_slot(%A: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" stages(1) : !async_pipeline.channel<64xf32>
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
