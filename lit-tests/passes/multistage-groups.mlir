// Tests that with `sync=groups` the copies of a role's own threads run ahead in groups of cp.async: no mbarrier, one
// wait for all but the youngest groups and one barrier of the role per step, which both filling and draining obey.

// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_80 sync=groups" --canonicalize --cse | FileCheck %s --check-prefixes=CHANNEL
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_80 sync=groups" --async-pipeline-insert-barriers=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefix=BARRIER
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_80 sync=groups stages=2" --async-pipeline-insert-barriers="target=sm_80 stages=2" --canonicalize --cse | FileCheck %s --check-prefix=TWO
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_80 sync=groups stages=1" | FileCheck %s --check-prefix=ONE

// Where a copy engine copies there are no groups.
// RUN: pipeline-opt %s --async-pipeline-multistage="target=sm_90a sync=groups" | FileCheck %s --check-prefix=ENGINE

// Fills stand behind the wait; behind the end of the loop they are groups without a copy.
//
// CHANNEL-LABEL: gpu.func @steps
// CHANNEL-SAME: %[[A:[a-z0-9]+]]: memref<?x64xf32>
// CHANNEL-SAME: %[[END:[a-z0-9]+]]: index
// CHANNEL: %[[IN:.+]] = async_pipeline.channel.create "in" stages(4) groups :
// CHANNEL: scf.for %[[J:.+]] = %c0 to %c3 step %c1 {
// CHANNEL-NEXT: %[[S:.+]] = async_pipeline.channel.acquire %[[IN]]
// CHANNEL-NEXT: %[[THERE:.+]] = arith.cmpi slt, %[[J]], %[[END]]
// CHANNEL-NEXT: scf.if %[[THERE]] {
// CHANNEL-NEXT: async_pipeline.work.copy %[[A]][%[[J]], %c0] to %[[S]]
// CHANNEL-NEXT: }
// CHANNEL-NEXT: async_pipeline.channel.commit %[[S]]
// CHANNEL-NEXT: }
// CHANNEL-NEXT: scf.for %[[I:.+]] = %c0 to %[[END]] step %c1 {
// CHANNEL-NEXT: %[[T:.+]] = async_pipeline.channel.wait %[[IN]]
// CHANNEL-NEXT: %[[NEXT:.+]] = arith.addi %[[I]], %c3
// CHANNEL-NEXT: %[[S:.+]] = async_pipeline.channel.acquire %[[IN]]
// CHANNEL-NEXT: %[[THERE:.+]] = arith.cmpi slt, %[[NEXT]], %[[END]]
// CHANNEL-NEXT: scf.if %[[THERE]] {
// CHANNEL-NEXT: async_pipeline.work.copy %[[A]][%[[NEXT]], %c0] to %[[S]]
// CHANNEL-NEXT: }
// CHANNEL-NEXT: async_pipeline.channel.commit %[[S]]
// CHANNEL: async_pipeline.channel.release %[[T]]
// CHANNEL-NOT: async_pipeline.channel
//
// BARRIER-LABEL: gpu.func @steps
// BARRIER-NOT: mbarrier
// BARRIER: async_pipeline.role @all warps(4) {
// BARRIER: scf.for {{.+}} = %c0 to %c3 step %c1
// BARRIER: async_pipeline.cp_async.copy
// BARRIER: async_pipeline.cp_async.commit_group
// BARRIER-NEXT: scf.yield
// BARRIER: scf.for
// BARRIER-NOT: cp_async.copy
// BARRIER: async_pipeline.cp_async.wait_group pending(2)
// BARRIER-NEXT: async_pipeline.named_barrier.sync id(1) threads(128)
// BARRIER: async_pipeline.cp_async.copy
// BARRIER: async_pipeline.cp_async.commit_group
// BARRIER: memref.load
// BARRIER-NOT: {{named_barrier|mbarrier|cp_async}}
// BARRIER: scf.yield
// BARRIER-NEXT: }
// BARRIER-NEXT: async_pipeline.cp_async.wait_group pending(0)
// BARRIER-NEXT: async_pipeline.named_barrier.sync id(1) threads(128)
// BARRIER-NOT: {{mbarrier|channel}}
//
// TWO: scf.for
// TWO: async_pipeline.cp_async.commit_group
// TWO: async_pipeline.cp_async.wait_group pending(0)
// TWO-NEXT: async_pipeline.named_barrier.sync id(1) threads(128)
// TWO-NOT: mbarrier
//
// ONE-NOT: groups
// ONE: async_pipeline.channel.create "in" stages(4) :
//
// ENGINE-NOT: groups
// ENGINE: async_pipeline.channel.create "in" stages(4) :
gpu.module @m {
  gpu.func @steps(%A: memref<?x64xf32>, %C: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" stages(4) : !async_pipeline.channel<1x64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<1x64xf32>
          async_pipeline.work.copy %A[%i, %c0] to %s : memref<?x64xf32> to !async_pipeline.slot<1x64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<1x64xf32>
          %t = async_pipeline.channel.wait %in : !async_pipeline.channel<1x64xf32>
          %v = async_pipeline.channel.view %t
              : !async_pipeline.slot<1x64xf32> to memref<1x64xf32, #gpu.address_space<workgroup>>
          %x = memref.load %v[%c0, %c0] : memref<1x64xf32, #gpu.address_space<workgroup>>
          memref.store %x, %C[%i] : memref<?xf32>
          async_pipeline.channel.release %t : !async_pipeline.slot<1x64xf32>
        }
      }
    }
    gpu.return
  }
}
