// Tests that every op, type and attribute prints as it is read, and that the generic form reads as
// the same.

// RUN: pipeline-opt %s | pipeline-opt | FileCheck %s
// RUN: pipeline-opt %s --mlir-print-op-generic | pipeline-opt | FileCheck %s

// CHECK-LABEL: gpu.func @channels
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?xf32> {async_pipeline.name = "A"}
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<?xf32> {async_pipeline.align = 8 : i64, async_pipeline.may_alias}
// CHECK-SAME: async_pipeline.grid = #async_pipeline.grid<"min(ceildiv(dim(0, 0), 64), 2 * sm_count)", "scalar(2)", "1">
gpu.module @kernels {
  gpu.func @channels(%A: memref<?xf32> {async_pipeline.name = "A"},
                     %C: memref<?xf32> {async_pipeline.align = 8 : i64, async_pipeline.may_alias},
                     %n: i32) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<
        "min(ceildiv(dim(0, 0), 64), 2 * sm_count)", "scalar(2)", "1">} {
    %c0 = arith.constant 0 : index
    // CHECK: async_pipeline.channel.create "plain" : <64xf32, 4x8xi8>
    %plain = async_pipeline.channel.create "plain" : !async_pipeline.channel<64xf32, 4x8xi8>
    // CHECK: %[[IN:.+]] = async_pipeline.channel.create "in" stages(3) : <64xf32>
    %in = async_pipeline.channel.create "in" stages(3) : !async_pipeline.channel<64xf32>
    // CHECK: %[[OUT:.+]] = async_pipeline.channel.create "out" stages(2) exactly cp_async : <64xf32>
    %out = async_pipeline.channel.create "out" stages(2) exactly cp_async : !async_pipeline.channel<64xf32>
    // CHECK: async_pipeline.roles {
    async_pipeline.roles {
      // CHECK-NEXT: async_pipeline.role @load warps(1) {
      async_pipeline.role @load warps(1) {
        // CHECK: %[[S:.+]] = async_pipeline.channel.acquire %[[IN]] : <64xf32>
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // CHECK: async_pipeline.work.copy %[[A]][%{{.+}}] to %[[S]] : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        // CHECK: async_pipeline.channel.commit %[[S]] : <64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      // CHECK: async_pipeline.role @use warps(2) {
      async_pipeline.role @use warps(2) {
        // CHECK: async_pipeline.role.thread_id : index
        %t = async_pipeline.role.thread_id : index
        // CHECK: async_pipeline.role.thread_count : index
        %count = async_pipeline.role.thread_count : index
        // CHECK: %[[S:.+]] = async_pipeline.channel.wait %[[IN]] : <64xf32>
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        // CHECK: async_pipeline.channel.view %[[S]] : <64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        %v = async_pipeline.channel.view %s
            : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        // CHECK: async_pipeline.channel.release %[[S]] : <64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
        %p = async_pipeline.channel.acquire %plain : !async_pipeline.channel<64xf32, 4x8xi8>
        // CHECK: async_pipeline.channel.view %{{.+}} field(1) : <64xf32, 4x8xi8> to memref<4x8xi8, #gpu.address_space<workgroup>>
        %w = async_pipeline.channel.view %p field(1)
            : !async_pipeline.slot<64xf32, 4x8xi8> to memref<4x8xi8, #gpu.address_space<workgroup>>
        async_pipeline.channel.commit %p : !async_pipeline.slot<64xf32, 4x8xi8>
      }
      async_pipeline.role @store warps(1) {
        %s = async_pipeline.channel.wait %out : !async_pipeline.channel<64xf32>
        // CHECK: async_pipeline.work.copy %[[S:.+]] to %[[C]][%{{.+}}] : !async_pipeline.slot<64xf32> to memref<?xf32>
        async_pipeline.work.copy %s to %C[%c0] : !async_pipeline.slot<64xf32> to memref<?xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
      // CHECK: async_pipeline.role @one warps(1) elected {
      async_pipeline.role @one warps(1) elected {
        %s = async_pipeline.channel.wait %plain : !async_pipeline.channel<64xf32, 4x8xi8>
        // CHECK: async_pipeline.work.copy %{{.+}} to %[[C]][%{{.+}}] : !async_pipeline.slot<64xf32, 4x8xi8> to memref<?xf32>
        async_pipeline.work.copy %s to %C[%c0] field(0) : !async_pipeline.slot<64xf32, 4x8xi8> to memref<?xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32, 4x8xi8>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @storage_and_mbarriers
  gpu.func @storage_and_mbarriers() kernel {
    %i = arith.constant 1 : i32
    // CHECK: %[[T:.+]] = async_pipeline.buffer.alloc "tiles" : <4, 8x8xf16>
    %t = async_pipeline.buffer.alloc "tiles" : !async_pipeline.buffer<4, 8x8xf16>
    // CHECK: async_pipeline.buffer.alloc "placed" offset(1024) : <1, 4xf64>
    %placed = async_pipeline.buffer.alloc "placed" offset(1024) : !async_pipeline.buffer<1, 4xf64>
    // CHECK: async_pipeline.buffer.slot %[[T]][%{{.+}}] : <4, 8x8xf16> to memref<8x8xf16, #gpu.address_space<workgroup>>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 8x8xf16> to memref<8x8xf16, #gpu.address_space<workgroup>>
    // CHECK: %[[B:.+]] = async_pipeline.mbarrier.alloc "b" : <4>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.alloc "placed.b" offset(2048) : <2>
    %pb = async_pipeline.mbarrier.alloc "placed.b" offset(2048) : !async_pipeline.mbarrier<2>
    // CHECK: async_pipeline.mbarrier.init %[[B]] count(3) : <4>
    async_pipeline.mbarrier.init %b count(3) : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.arrive %[[B]][%{{.+}}] : <4>{{$}}
    async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4>
    // CHECK: %[[STATE:.+]] = async_pipeline.mbarrier.arrive %[[B]][%{{.+}}] count(2) no_complete : <4> -> i64
    %state = async_pipeline.mbarrier.arrive %b[%i] count(2) no_complete : !async_pipeline.mbarrier<4> -> i64
    // CHECK: async_pipeline.mbarrier.arrive_drop %[[B]][%{{.+}}] : <4>{{$}}
    async_pipeline.mbarrier.arrive_drop %b[%i] : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.arrive_drop %[[B]][%{{.+}}] count(5) no_complete : <4> -> i64
    %dropped = async_pipeline.mbarrier.arrive_drop %b[%i] count(5) no_complete : !async_pipeline.mbarrier<4> -> i64
    // CHECK: async_pipeline.mbarrier.arrive.expect_tx %[[B]][%[[I:.+]]], %[[I]] : <4>
    async_pipeline.mbarrier.arrive.expect_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.expect_tx %[[B]][%[[I]]], %[[I]] : <4>
    async_pipeline.mbarrier.expect_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.complete_tx %[[B]][%[[I]]], %[[I]] : <4>
    async_pipeline.mbarrier.complete_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.wait %[[B]][%[[I]]], %[[I]] : <4>
    async_pipeline.mbarrier.wait %b[%i], %i : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.test_wait.parity %[[B]][%[[I]]], %[[I]] : <4>
    %d0 = async_pipeline.mbarrier.test_wait.parity %b[%i], %i : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.try_wait.parity %[[B]][%[[I]]], %[[I]] : <4>
    %d1 = async_pipeline.mbarrier.try_wait.parity %b[%i], %i : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.test_wait %[[B]][%[[I]]], %[[STATE]] : <4>
    %d2 = async_pipeline.mbarrier.test_wait %b[%i], %state : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.try_wait %[[B]][%[[I]]], %[[STATE]] : <4>
    %d3 = async_pipeline.mbarrier.try_wait %b[%i], %state : !async_pipeline.mbarrier<4>
    // CHECK: async_pipeline.mbarrier.pending_count %[[STATE]] : i32
    %n = async_pipeline.mbarrier.pending_count %state : i32
    // CHECK: async_pipeline.mbarrier.inval %[[B]] : <4>
    async_pipeline.mbarrier.inval %b : !async_pipeline.mbarrier<4>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @copies
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?xf32>, %[[M:[a-z0-9]+]]: memref<?x?xf32>
  gpu.func @copies(%A: memref<?xf32>, %M: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %i = arith.constant 0 : i32
    %bytes = arith.constant 256 : i32
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<2, 64xf32>
    %u = async_pipeline.buffer.alloc "u" : !async_pipeline.buffer<2, 16x16xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<2>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<2, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK: %[[V:.+]] = async_pipeline.buffer.slot
    // CHECK: async_pipeline.cp_async.copy %[[A]][%[[AT:.+]]] to %[[V]][%[[AT]]] bytes(16) : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    async_pipeline.cp_async.copy %A[%c0] to %v[%c0] bytes(16)
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK: async_pipeline.cp_async.copy %[[A]][%[[AT]]] to %[[V]][%[[AT]]] bytes(4) valid(%[[I:.+]]) : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    async_pipeline.cp_async.copy %A[%c0] to %v[%c0] bytes(4) valid(%i)
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK: async_pipeline.cp_async.mbarrier.arrive %[[B:.+]][%[[I]]] : <2>
    async_pipeline.cp_async.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<2>
    // CHECK: async_pipeline.cp_async.mbarrier.arrive %[[B]][%[[I]]] noinc : <2>
    async_pipeline.cp_async.mbarrier.arrive %b[%i] noinc : !async_pipeline.mbarrier<2>
    // CHECK: async_pipeline.cp_async.commit_group
    async_pipeline.cp_async.commit_group
    // CHECK: async_pipeline.cp_async.wait_group pending(2)
    async_pipeline.cp_async.wait_group pending(2)
    // CHECK: async_pipeline.bulk.load %[[A]][%[[AT]]] to %[[V]][%[[AT]]], %[[BYTES:.+]], %[[B]][%[[I]]] : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>, <2>
    async_pipeline.bulk.load %A[%c0] to %v[%c0], %bytes, %b[%i]
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<2>
    // CHECK: async_pipeline.bulk.store %[[V]][%[[AT]]] to %[[A]][%[[AT]]], %[[BYTES]] : memref<64xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    async_pipeline.bulk.store %v[%c0] to %A[%c0], %bytes
        : memref<64xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    // CHECK: %[[MAP:.+]] = async_pipeline.tma.descriptor %[[M]] : memref<?x?xf32> to <8x16xf32>
    %map = async_pipeline.tma.descriptor %M : memref<?x?xf32> to !async_pipeline.tensor_map<8x16xf32>
    // CHECK: async_pipeline.tma.load %[[MAP]][%[[I]], %[[I]]] to %[[U:.+]][%[[I]]], %[[B]][%[[I]]] : <8x16xf32> to <2, 16x16xf32>, <2>
    async_pipeline.tma.load %map[%i, %i] to %u[%i], %b[%i]
        : !async_pipeline.tensor_map<8x16xf32> to !async_pipeline.buffer<2, 16x16xf32>, !async_pipeline.mbarrier<2>
    // CHECK: async_pipeline.tma.load %[[MAP]][%[[I]], %[[I]]] to %[[U]][%[[I]]] at(128), %[[B]][%[[I]]] :
    async_pipeline.tma.load %map[%i, %i] to %u[%i] at(128), %b[%i]
        : !async_pipeline.tensor_map<8x16xf32> to !async_pipeline.buffer<2, 16x16xf32>, !async_pipeline.mbarrier<2>
    // CHECK: async_pipeline.tma.store %[[U]][%[[I]]] to %[[MAP]][%[[I]], %[[I]]] : <2, 16x16xf32> to <8x16xf32>
    async_pipeline.tma.store %u[%i] to %map[%i, %i]
        : !async_pipeline.buffer<2, 16x16xf32> to !async_pipeline.tensor_map<8x16xf32>
    // CHECK: async_pipeline.tma.store %[[U]][%[[I]]] at(128) to %[[MAP]][%[[I]], %[[I]]] :
    async_pipeline.tma.store %u[%i] at(128) to %map[%i, %i]
        : !async_pipeline.buffer<2, 16x16xf32> to !async_pipeline.tensor_map<8x16xf32>
    // CHECK: async_pipeline.bulk.commit_group
    async_pipeline.bulk.commit_group
    // CHECK: async_pipeline.bulk.wait_group pending(1){{$}}
    async_pipeline.bulk.wait_group pending(1)
    // CHECK: async_pipeline.bulk.wait_group pending(0) read
    async_pipeline.bulk.wait_group pending(0) read
    gpu.return
  }

  // CHECK-LABEL: gpu.func @synchronisation
  gpu.func @synchronisation() kernel {
    // CHECK: async_pipeline.fence.mbarrier_init
    async_pipeline.fence.mbarrier_init
    // CHECK: async_pipeline.fence.proxy_async
    async_pipeline.fence.proxy_async
    // CHECK: async_pipeline.cta.barrier
    async_pipeline.cta.barrier
    // CHECK: async_pipeline.named_barrier.sync id(1) threads(64)
    async_pipeline.named_barrier.sync id(1) threads(64)
    // CHECK: async_pipeline.named_barrier.arrive id(15) threads(1024)
    async_pipeline.named_barrier.arrive id(15) threads(1024)
    // CHECK: async_pipeline.warp.sync
    async_pipeline.warp.sync
    // CHECK: async_pipeline.elect : i1
    %leader = async_pipeline.elect : i1
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tiles
  gpu.func @tiles() kernel {
    // CHECK: <1xi8, 2x3xi64, 1x1x4xbf16, 2x2x2x2xf8E4M3FN, 1x1x1x1x4xf32>
    %c = async_pipeline.channel.create "tiles"
        : !async_pipeline.channel<1xi8, 2x3xi64, 1x1x4xbf16, 2x2x2x2xf8E4M3FN, 1x1x1x1x4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tensor_core
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf16>
  // CHECK-SAME: %[[I:[a-z0-9]+]]: i32
  // CHECK-SAME: %[[V:[a-z0-9]+]]: vector<32xf32>
  gpu.func @tensor_core(%A: memref<?x?xf16>, %i: i32, %accumulate: i1, %v: vector<32xf32>) kernel {
    // CHECK: %[[MAP:.+]] = async_pipeline.tma.descriptor %[[A]] : memref<?x?xf16> to <128x64xf16, swizzle 128>
    %map = async_pipeline.tma.descriptor %A
        : memref<?x?xf16> to !async_pipeline.tensor_map<128x64xf16, swizzle 128>
    // CHECK: %[[T:.+]] = async_pipeline.buffer.alloc "t" : <3, 128x64xf16, swizzle 128>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    // CHECK: async_pipeline.buffer.alloc "s" : <3, 64x128xf16, swizzle 128>
    %s = async_pipeline.buffer.alloc "s" : !async_pipeline.buffer<3, 64x128xf16, swizzle 128>
    %u = async_pipeline.buffer.alloc "u" : !async_pipeline.buffer<3, 64x64xf16, swizzle 128>
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<3>
    // CHECK: async_pipeline.tma.load %[[MAP]][%[[I]], %[[I]]] to %[[T]][%[[I]]], %{{.+}}[%[[I]]] : <128x64xf16, swizzle 128> to <3, 128x64xf16, swizzle 128>, <3>
    async_pipeline.tma.load %map[%i, %i] to %t[%i], %bars[%i]
        : !async_pipeline.tensor_map<128x64xf16, swizzle 128> to !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.mbarrier<3>
    // CHECK: async_pipeline.tcgen05.alloc %[[W:.+]][%[[I]]] columns(128) : <1, 1xi32>
    async_pipeline.tcgen05.alloc %where[%i] columns(128) : !async_pipeline.buffer<1, 1xi32>
    // CHECK: async_pipeline.tcgen05.relinquish
    async_pipeline.tcgen05.relinquish
    // CHECK: %[[ACC:.+]] = async_pipeline.tcgen05.address %[[W]][%[[I]]] : <1, 1xi32> to <128>
    %acc = async_pipeline.tcgen05.address %where[%i]
        : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    // CHECK: async_pipeline.tcgen05.mma %[[ACC]][%[[I]]], %[[T]][%[[I]]], %[[T]][%[[I]]], %{{.+}} : <128>, <3, 128x64xf16, swizzle 128>, <3, 128x64xf16, swizzle 128>
    async_pipeline.tcgen05.mma %acc[%i], %t[%i], %t[%i], %accumulate
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    // CHECK: async_pipeline.tcgen05.commit %{{.+}}[%[[I]]] : <3>
    async_pipeline.tcgen05.commit %bars[%i] : !async_pipeline.mbarrier<3>
    // CHECK: async_pipeline.tcgen05.fence_after
    async_pipeline.tcgen05.fence_after
    // CHECK: %[[HALF:.+]] = async_pipeline.tcgen05.slice %[[ACC]][%[[I]]] : <128> to <64>
    %half = async_pipeline.tcgen05.slice %acc[%i] : !async_pipeline.tmem<128> to !async_pipeline.tmem<64>
    // CHECK: async_pipeline.tcgen05.mma %[[HALF]][%[[I]]], transpose %{{.+}}[%[[I]]], transpose %{{.+}}[%[[I]]], %{{.+}} : <64>, <3, 64x128xf16, swizzle 128>, <3, 64x64xf16, swizzle 128>
    async_pipeline.tcgen05.mma %half[%i], transpose %s[%i], transpose %u[%i], %accumulate
        : !async_pipeline.tmem<64>, !async_pipeline.buffer<3, 64x128xf16, swizzle 128>, !async_pipeline.buffer<3, 64x64xf16, swizzle 128>
    // CHECK: async_pipeline.buffer.slot %[[T]][%[[I]]] : <3, 128x64xf16, swizzle 128> to memref<8192xf16, #gpu.address_space<workgroup>>
    %flat = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<3, 128x64xf16, swizzle 128> to memref<8192xf16, #gpu.address_space<workgroup>>
    // CHECK: async_pipeline.tcgen05.ld %[[ACC]][%[[I]]] : <128> -> vector<64xi32>
    %w = async_pipeline.tcgen05.ld %acc[%i] : !async_pipeline.tmem<128> -> vector<64xi32>
    // CHECK: async_pipeline.tcgen05.wait_ld
    async_pipeline.tcgen05.wait_ld
    // CHECK: async_pipeline.tcgen05.st %[[V]] to %[[ACC]][%[[I]]] : vector<32xf32> to <128>
    async_pipeline.tcgen05.st %v to %acc[%i] : vector<32xf32> to !async_pipeline.tmem<128>
    // CHECK: async_pipeline.tcgen05.wait_st
    async_pipeline.tcgen05.wait_st
    // CHECK: async_pipeline.tcgen05.fence_before
    async_pipeline.tcgen05.fence_before
    // CHECK: async_pipeline.tcgen05.dealloc %[[ACC]] : <128>
    async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @products_in_registers
  gpu.func @products_in_registers(%i: i32) kernel {
    // CHECK: %[[A:.+]] = async_pipeline.buffer.alloc "a" : <3, 64x32xf16, swizzle 64>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<3, 64x32xf16, swizzle 64>
    // CHECK: %[[B:.+]] = async_pipeline.buffer.alloc "b" : <3, 32x128xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<3, 32x128xf16, swizzle 128>
    // CHECK: %[[SUMS:.+]] = async_pipeline.channel.create "sums" stages(2) tensor_memory : <128x64xf32>
    %sums = async_pipeline.channel.create "sums" stages(2) tensor_memory : !async_pipeline.channel<128x64xf32>
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<64x128xf32>
        // CHECK: async_pipeline.mma.sync %{{.+}} += %[[A]][%{{.+}}] * %[[B]][%{{.+}}] : <64x128xf32>, <3, 64x32xf16, swizzle 64>, <3, 32x128xf16, swizzle 128>
        async_pipeline.mma.sync %acc += %a[%i] * %b[%i]
            : !async_pipeline.accumulator<64x128xf32>, !async_pipeline.buffer<3, 64x32xf16, swizzle 64>, !async_pipeline.buffer<3, 32x128xf16, swizzle 128>
        // CHECK: async_pipeline.ldmatrix %[[A]][%{{.+}}], %{{.+}} : <3, 64x32xf16, swizzle 64> -> i32
        %w = async_pipeline.ldmatrix %a[%i], %i : !async_pipeline.buffer<3, 64x32xf16, swizzle 64> -> i32
        // CHECK: async_pipeline.ldmatrix %[[B]][%{{.+}}], %{{.+}} plus(16) transpose : <3, 32x128xf16, swizzle 128> -> i32, i32
        %x:2 = async_pipeline.ldmatrix %b[%i], %i plus(16) transpose
            : !async_pipeline.buffer<3, 32x128xf16, swizzle 128> -> i32, i32
        %t = async_pipeline.channel.wait %sums : !async_pipeline.channel<128x64xf32>
        // CHECK: async_pipeline.work.load %{{.+}} : !async_pipeline.slot<128x64xf32> to vector<128x64xf32>
        %v = async_pipeline.work.load %t : !async_pipeline.slot<128x64xf32> to vector<128x64xf32>
        async_pipeline.channel.release %t : !async_pipeline.slot<128x64xf32>
      }
    }
    gpu.return
  }
}
