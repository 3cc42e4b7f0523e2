// Tests that channels become full and empty barriers with counts, bytes, stages and parities that fit
// who arrives: one thread for bulk copies, every thread for cp.async, one lane per warp for ordinary code.

// RUN: pipeline-opt %s --async-pipeline-insert-barriers=target=sm_90a --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,TMA
// RUN: pipeline-opt %s --async-pipeline-insert-barriers=target=sm_100a --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,TMA
// RUN: pipeline-opt %s --async-pipeline-insert-barriers=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,SM80,NOINC
// RUN: pipeline-opt %s --async-pipeline-insert-barriers="target=sm_80 cp-async-arrive=inc" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,SM80,INC

gpu.module @kernels {

// A load role of two warps, a compute role of four: on TMA targets one elected thread loads.
//
// CHECK-LABEL: gpu.func @load_and_use
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?xf32>
// TMA-SAME: completion = "tma"
// SM80-SAME: completion = "cp_async"
// CHECK-SAME: name = "in", stages = 3
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[STAGES:.+]] = arith.constant 3 : i32
// TMA-DAG: %[[BYTES:.+]] = arith.constant 256 : i32
// TMA: %[[MAP:.+]] = async_pipeline.tma.descriptor %[[A]] : memref<?xf32> to <64xf32>
// CHECK: %[[TILES:.+]] = async_pipeline.buffer.alloc "in.0" : <3, 64xf32>
// CHECK: %[[FULL:.+]] = async_pipeline.mbarrier.alloc "in.full" : <3>
// CHECK: %[[EMPTY:.+]] = async_pipeline.mbarrier.alloc "in.empty" : <3>
// CHECK: %[[THREAD:.+]] = gpu.thread_id x
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD]]
// CHECK: scf.if %[[FIRST]] {
// TMA-NEXT: async_pipeline.mbarrier.init %[[FULL]] count(1)
// SM80-NEXT: async_pipeline.mbarrier.init %[[FULL]] count(64)
// CHECK-NEXT: async_pipeline.mbarrier.init %[[EMPTY]] count(4)
// TMA-NEXT: async_pipeline.fence.mbarrier_init
// CHECK-NEXT: }
// CHECK-NEXT: async_pipeline.cta.barrier
// TMA: async_pipeline.role @load warps(1) elected {
// SM80: async_pipeline.role @load warps(2) {
// A producer starts with parity 1, which a fresh barrier lets pass.
// CHECK: scf.for {{.+}} iter_args(%[[STAGE:.+]] = %[[ZERO]], %[[PARITY:.+]] = %[[ONE]])
// CHECK:   %[[NEXT:.+]] = arith.addi %[[STAGE]], %[[ONE]]
// CHECK:   %[[WRAPS:.+]] = arith.cmpi eq, %[[NEXT]], %[[STAGES]]
// CHECK:   %[[NEXT_STAGE:.+]] = arith.select %[[WRAPS]], %[[ZERO]], %[[NEXT]]
// CHECK:   %[[FLIP:.+]] = arith.extui %[[WRAPS]]
// CHECK:   %[[NEXT_PARITY:.+]] = arith.xori %[[PARITY]], %[[FLIP]]
// CHECK:   async_pipeline.mbarrier.wait %[[EMPTY]][%[[STAGE]]], %[[PARITY]]
// TMA-NEXT: async_pipeline.mbarrier.arrive.expect_tx %[[FULL]][%[[STAGE]]], %[[BYTES]]
// TMA:     async_pipeline.tma.load %[[MAP]]{{.+}} to %[[TILES]][%[[STAGE]]], %[[FULL]][%[[STAGE]]]
// TMA-NOT: async_pipeline
// SM80:    async_pipeline.cp_async.copy {{.+}} bytes(16) : memref
// SM80:    } else {
// SM80:    async_pipeline.cp_async.copy {{.+}} bytes(16) valid({{.+}})
// NOINC:   async_pipeline.cp_async.mbarrier.arrive %[[FULL]][%[[STAGE]]] noinc
// INC:     async_pipeline.cp_async.mbarrier.arrive %[[FULL]][%[[STAGE]]] :
// INC-NEXT: async_pipeline.mbarrier.arrive %[[FULL]][%[[STAGE]]]
// NOINC-NOT: mbarrier.arrive
// CHECK:   scf.yield %[[NEXT_STAGE]], %[[NEXT_PARITY]]
// CHECK: async_pipeline.role @use warps(4) {
// A consumer starts with parity 0; every warp waits for itself and arrives for itself.
// CHECK: scf.for {{.+}} iter_args(%[[STAGE:.+]] = %[[ZERO]], %[[PARITY:.+]] = %[[ZERO]])
// CHECK:   async_pipeline.mbarrier.wait %[[FULL]][%[[STAGE]]], %[[PARITY]]
// CHECK:   %[[VIEW:.+]] = async_pipeline.buffer.slot %[[TILES]][%[[STAGE]]]
// CHECK:   memref.load %[[VIEW]]
// Ordinary reads are followed by writes of the async proxy: a fence stands between.
// TMA:     async_pipeline.fence.proxy_async
// SM80-NOT: fence
// CHECK:   async_pipeline.warp.sync
// CHECK-NEXT: scf.if %{{.+}} {
// CHECK-NEXT: async_pipeline.mbarrier.arrive %[[EMPTY]][%[[STAGE]]]
// CHECK-NEXT: }
// CHECK: async_pipeline.cta.barrier
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: async_pipeline.mbarrier.inval %[[FULL]]
// CHECK-NEXT: async_pipeline.mbarrier.inval %[[EMPTY]]
// CHECK-NOT: async_pipeline.channel
  gpu.func @load_and_use(%A: memref<?xf32>, %C: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" stages(3) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(2) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        }
      }
      async_pipeline.role @use warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          %v = async_pipeline.channel.view %s
              : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
          %x = memref.load %v[%c0] : memref<64xf32, #gpu.address_space<workgroup>>
          memref.store %x, %C[%i] : memref<?xf32>
          async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }

// Threads fill, the copy engine stores: writes are fenced before the arrive, and the kernel ends
// behind the last store.
//
// CHECK-LABEL: gpu.func @fill_and_store
// CHECK-SAME: completion = "threads"
// CHECK: %[[FULL:.+]] = async_pipeline.mbarrier.alloc "out.full"
// CHECK: %[[EMPTY:.+]] = async_pipeline.mbarrier.alloc "out.empty"
// CHECK: async_pipeline.mbarrier.init %[[FULL]] count(4)
// TMA: async_pipeline.mbarrier.init %[[EMPTY]] count(1)
// SM80: async_pipeline.mbarrier.init %[[EMPTY]] count(2)
// CHECK: async_pipeline.role @fill warps(4) {
// CHECK: async_pipeline.mbarrier.wait %[[EMPTY]]
// CHECK: memref.store
// TMA: async_pipeline.fence.proxy_async
// CHECK-NEXT: async_pipeline.warp.sync
// CHECK-NEXT: scf.if
// CHECK-NEXT: async_pipeline.mbarrier.arrive %[[FULL]]
// TMA: async_pipeline.role @store warps(1) elected {
// SM80: async_pipeline.role @store warps(2) {
// CHECK: async_pipeline.mbarrier.wait %[[FULL]]
// The copy engine writes whole units of 16 bytes: the end of a row of odd length is
// stored by hand.
// TMA: %[[WITHIN:.+]] = arith.cmpi sle
// TMA: %[[EXACT:.+]] = arith.ori {{.+}}, %[[WITHIN]]
// TMA: scf.if %[[EXACT]] {
// TMA: async_pipeline.tma.store
// TMA: } else {
// TMA: memref.store
// TMA: async_pipeline.bulk.commit_group
// TMA-NEXT: async_pipeline.bulk.wait_group pending(0) read
// TMA-NEXT: async_pipeline.mbarrier.arrive %[[EMPTY]]
// TMA: async_pipeline.bulk.wait_group pending(0){{$}}
// SM80: vector.load
// SM80-NEXT: vector.store
// SM80: } else {
// SM80: memref.store
// SM80: async_pipeline.warp.sync
// SM80: async_pipeline.mbarrier.arrive %[[EMPTY]]
// SM80-NOT: bulk
  gpu.func @fill_and_store(%C: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %out = async_pipeline.channel.create "out" stages(2) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @fill warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.acquire %out : !async_pipeline.channel<64xf32>
          %v = async_pipeline.channel.view %s
              : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
          memref.store %zero, %v[%c0] : memref<64xf32, #gpu.address_space<workgroup>>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        }
      }
      async_pipeline.role @store warps(2) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.wait %out : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %s to %C[%i] : !async_pipeline.slot<64xf32> to memref<?xf32>
          async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }

// Two consuming roles: an empty slot takes the arrivals of both, and each keeps its own position.
//
// CHECK-LABEL: gpu.func @two_consumers
// CHECK: %[[EMPTY:.+]] = async_pipeline.mbarrier.alloc "in.empty"
// CHECK: async_pipeline.mbarrier.init %[[EMPTY]] count(5)
// CHECK: async_pipeline.role @one warps(4)
// CHECK: async_pipeline.mbarrier.arrive %[[EMPTY]]
// CHECK: async_pipeline.role @two warps(1)
// CHECK: async_pipeline.mbarrier.arrive %[[EMPTY]]
  gpu.func @two_consumers(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @one warps(4) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @two warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }

// The bytes of every field count, and a slot that starts at a multiple of 128 bytes still copies 64.
//
// CHECK-LABEL: gpu.func @two_small_fields
// TMA: %[[BYTES:.+]] = arith.constant 96 : i32
// CHECK: async_pipeline.buffer.alloc "in.0" : <2, 32xf16>
// CHECK: async_pipeline.buffer.alloc "in.1" : <2, 16xf16>
// TMA: async_pipeline.mbarrier.arrive.expect_tx {{.+}}, %[[BYTES]]
// TMA-COUNT-2: async_pipeline.tma.load
  gpu.func @two_small_fields(%A: memref<?xf16>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" stages(2) : !async_pipeline.channel<32xf16, 16xf16>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<32xf16, 16xf16>
        async_pipeline.work.copy %A[%c0] to %s field(0) : memref<?xf16> to !async_pipeline.slot<32xf16, 16xf16>
        async_pipeline.work.copy %A[%c0] to %s field(1) : memref<?xf16> to !async_pipeline.slot<32xf16, 16xf16>
        async_pipeline.channel.commit %s : !async_pipeline.slot<32xf16, 16xf16>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<32xf16, 16xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<32xf16, 16xf16>
      }
    }
    gpu.return
  }

// `cp_async` on the channel means copies by threads on every target, and no proxy fence.
//
// CHECK-LABEL: gpu.func @copied_by_threads
// CHECK: async_pipeline.mbarrier.init %{{.+}} count(32)
// CHECK: async_pipeline.role @load warps(1) {
// CHECK: async_pipeline.cp_async.copy
// CHECK: async_pipeline.cp_async.mbarrier.arrive
// CHECK-NOT: tma
// CHECK-NOT: fence.proxy_async
// CHECK: async_pipeline.mbarrier.inval
  gpu.func @copied_by_threads(%A: memref<?xf32> {async_pipeline.align = 4 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" cp_async : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // The argument promises 4 bytes, so that much is copied at a time.
        // CHECK-NOT: bytes(16)
        async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }

// A kernel without channels stays as it is.
//
// CHECK-LABEL: gpu.func @nothing_to_do
// CHECK-NEXT: gpu.return
  gpu.func @nothing_to_do() kernel {
    gpu.return
  }
}
