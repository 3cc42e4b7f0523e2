// Tests that kernels of the tile level become roles that hand each other tiles: one role on targets that hold
// sums in registers, three where tensor memory holds them.

// RUN: pipeline-opt %s --async-pipeline-partition=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,REGISTERS
// RUN: pipeline-opt %s --async-pipeline-partition=target=sm_90a --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,REGISTERS
// RUN: pipeline-opt %s --async-pipeline-partition=target=sm_100a --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,TENSOR
// RUN: pipeline-opt %s --async-pipeline-partition="target=sm_80 stages=3" | FileCheck %s --check-prefix=THREE
// RUN: pipeline-opt %s --async-pipeline-partition="target=sm_100a stages=3" | FileCheck %s --check-prefix=THREE

// What it leaves obeys the rules of the channel level.
// RUN: pipeline-opt %s --async-pipeline-partition=target=sm_80 --async-pipeline-verify-channels -o %t
// RUN: pipeline-opt %s --async-pipeline-partition=target=sm_100a --async-pipeline-verify-channels -o %t

gpu.module @kernels {

// Both operands travel in one slot, acquired in front of the first copy, committed behind the second, and
// released behind the product. Where no product runs, tensor memory holds what another kernel left.
//
// CHECK-LABEL: gpu.func @product
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf16>
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x?xf16>
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<?x?xf16>
// TENSOR-DAG: %[[NOTHING:.+]] = arith.constant dense<0.000000e+00> : vector<128x64xf32>
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
// TENSOR: %[[SUMS:.+]] = async_pipeline.channel.create "accumulator0" stages(1) exactly tensor_memory : <128x64xf32>
// CHECK: %[[TILES:.+]] = async_pipeline.channel.create "a_b" stages(4) exactly : <128x64xf16, 64x64xf16>
// CHECK: %[[K:.+]] = memref.dim %[[A]]
// TENSOR: %[[ANY:.+]] = arith.cmpi sgt, %[[K]], %[[C0]]
// CHECK: async_pipeline.roles {
//
// REGISTERS-NEXT: async_pipeline.role @compute warps(4) {
// REGISTERS-NEXT: %[[SUM:.+]] = async_pipeline.tile.accumulator : <128x64xf32>
// REGISTERS-NEXT: scf.for %[[I:.+]] = %[[C0]] to %[[K]] step %[[C64]] {
// REGISTERS-NEXT:   %[[S:.+]] = async_pipeline.channel.acquire %[[TILES]]
// REGISTERS-NEXT:   async_pipeline.work.copy %[[A]][%[[C0]], %[[I]]] to %[[S]] :
// REGISTERS-NEXT:   async_pipeline.work.copy %[[B]][%[[C0]], %[[I]]] to %[[S]] field(1) :
// REGISTERS-NEXT:   async_pipeline.channel.commit %[[S]]
// REGISTERS-NEXT:   %[[T:.+]] = async_pipeline.channel.wait %[[TILES]]
// REGISTERS-NEXT:   async_pipeline.work.mma %[[SUM]] += %[[T]] * transpose %[[T]] field(1) :
// REGISTERS-NEXT:   async_pipeline.channel.release %[[T]]
// REGISTERS-NEXT: }
// REGISTERS-NEXT: %[[F:.+]] = async_pipeline.work.load %[[SUM]]
// REGISTERS-NEXT: %[[H:.+]] = arith.truncf %[[F]]
// REGISTERS-NEXT: async_pipeline.work.store %[[H]] to %[[C]][%[[C0]], %[[C0]]]
// REGISTERS-NEXT: }
// REGISTERS-NEXT: }
// REGISTERS-NEXT: gpu.return
//
// TENSOR-NEXT: async_pipeline.role @epilogue warps(4) {
// TENSOR-NEXT:   %[[T:.+]] = async_pipeline.channel.wait %[[SUMS]]
// TENSOR-NEXT:   %[[F:.+]] = scf.if %[[ANY]] -> (vector<128x64xf32>) {
// TENSOR-NEXT:     %[[L:.+]] = async_pipeline.work.load %[[T]] : !async_pipeline.slot<128x64xf32>
// TENSOR-NEXT:     scf.yield %[[L]]
// TENSOR-NEXT:   } else {
// TENSOR-NEXT:     scf.yield %[[NOTHING]]
// TENSOR-NEXT:   }
// TENSOR-NEXT:   %[[H:.+]] = arith.truncf %[[F]]
// TENSOR-NEXT:   async_pipeline.work.store %[[H]] to %[[C]][%[[C0]], %[[C0]]]
// TENSOR-NEXT:   async_pipeline.channel.release %[[T]]
// TENSOR-NEXT: }
// TENSOR-NEXT: async_pipeline.role @load warps(1) {
// TENSOR-NEXT:   scf.for %[[I:.+]] = %[[C0]] to %[[K]] step %[[C64]] {
// TENSOR-NEXT:     %[[S:.+]] = async_pipeline.channel.acquire %[[TILES]]
// TENSOR-NEXT:     async_pipeline.work.copy %[[A]][%[[C0]], %[[I]]] to %[[S]] :
// TENSOR-NEXT:     async_pipeline.work.copy %[[B]][%[[C0]], %[[I]]] to %[[S]] field(1) :
// TENSOR-NEXT:     async_pipeline.channel.commit %[[S]]
// TENSOR-NEXT:   }
// TENSOR-NEXT: }
// TENSOR-NEXT: async_pipeline.role @product warps(1) {
// TENSOR-NEXT:   %[[SUM:.+]] = async_pipeline.channel.acquire %[[SUMS]]
// TENSOR-NEXT:   scf.for %{{.+}} = %[[C0]] to %[[K]] step %[[C64]] {
// TENSOR-NEXT:     %[[T:.+]] = async_pipeline.channel.wait %[[TILES]]
// TENSOR-NEXT:     async_pipeline.work.mma %[[SUM]] += %[[T]] * transpose %[[T]] field(1) :
// TENSOR-NEXT:     async_pipeline.channel.release %[[T]]
// TENSOR-NEXT:   }
// TENSOR-NEXT:   async_pipeline.channel.commit %[[SUM]]
// TENSOR-NEXT: }
// TENSOR-NEXT: }
// TENSOR-NEXT: gpu.return
//
// THREE-LABEL: gpu.func @product
// THREE: async_pipeline.channel.create "a_b" stages(3) exactly
  gpu.func @product(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    scf.for %k = %c0 to %K step %c64 {
      async_pipeline.work.copy %A[%c0, %k] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      async_pipeline.work.copy %B[%c0, %k] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    %h = arith.truncf %f : vector<128x64xf32> to vector<128x64xf16>
    async_pipeline.work.store %h to %C[%c0, %c0] : vector<128x64xf16> to memref<?x?xf16>
    gpu.return
  }

// A product of copies outside any loop has one slot, and always runs: its sum is loaded without a test.
//
// CHECK-LABEL: gpu.func @one_step
// CHECK: async_pipeline.channel.create "a_b" stages(1) exactly
// REGISTERS: async_pipeline.role @compute warps(4) {
// TENSOR: async_pipeline.role @epilogue warps(4) {
// TENSOR-NOT: scf.if
// TENSOR: async_pipeline.role @load warps(1) {
// TENSOR-NOT: scf.for
// TENSOR: async_pipeline.role @product warps(1) {
// CHECK-NOT: scf.for
// CHECK: gpu.return
//
// THREE-LABEL: gpu.func @one_step
// THREE: async_pipeline.channel.create "a_b" stages(1) exactly
  gpu.func @one_step(%A: memref<128x64xf16>, %B: memref<64x64xf16>, %C: memref<128x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<128x64xf16> to !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<64x64xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<128x64xf32>
    gpu.return
  }

// An operand that stays is a channel of its own, outside the loop; a loop that says how many stages it wants
// and `exactly` gets them whatever the options say. Sums of 256 columns take 8 warps.
//
// CHECK-LABEL: gpu.func @one_operand_stays
// CHECK: async_pipeline.channel.create "b" stages(2) exactly : <256x64xf16>
// CHECK: async_pipeline.channel.create "a" stages(1) exactly : <128x64xf16>
// REGISTERS: async_pipeline.role @compute warps(8) {
// TENSOR: async_pipeline.role @product warps(1) {
// CHECK: %[[A:.+]] = async_pipeline.channel.wait %{{.+}} : <128x64xf16>
// CHECK: scf.for
// CHECK: %[[B:.+]] = async_pipeline.channel.wait %{{.+}} : <256x64xf16>
// CHECK-NEXT: async_pipeline.work.mma %{{.+}} += %[[A]] * transpose %[[B]] :
// CHECK-NEXT: async_pipeline.channel.release %[[B]] : <256x64xf16>
// CHECK-NEXT: }
// CHECK-NEXT: async_pipeline.channel.release %[[A]] : <128x64xf16>
// TENSOR-NEXT: async_pipeline.channel.commit %{{.+}} : <128x256xf32>
//
// THREE-LABEL: gpu.func @one_operand_stays
// THREE: async_pipeline.channel.create "b" stages(2) exactly
  gpu.func @one_operand_stays(%A: memref<128x64xf16>, %B: memref<?x64xf16>, %C: memref<128x256xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %N = memref.dim %B, %c0 : memref<?x64xf16>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<256x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<128x64xf16> to !async_pipeline.buffer<128x64xf16>
    scf.for %n = %c0 to %N step %c256 {
      async_pipeline.work.copy %B[%n, %c0] to %b : memref<?x64xf16> to !async_pipeline.buffer<256x64xf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16>
    } {async_pipeline.exactly, async_pipeline.stages = 2 : i32}
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x256xf32> to memref<128x256xf32>
    gpu.return
  }

// A kernel without products is one role of 4 warps on every target.
//
// CHECK-LABEL: gpu.func @without_products
// CHECK: async_pipeline.role @compute warps(4) {
// CHECK-NEXT: async_pipeline.work.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: async_pipeline.work.store
// CHECK-NOT: async_pipeline.role @
// CHECK: gpu.return
  gpu.func @without_products(%A: memref<?x?xf32>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = async_pipeline.work.load %A[%c0, %c0] : memref<?x?xf32> to vector<64x64xf32>
    %w = arith.addf %v, %v : vector<64x64xf32>
    async_pipeline.work.store %w to %C[%c0, %c0] : vector<64x64xf32> to memref<?x?xf32>
    gpu.return
  }

// Kernels that have roles, and those without tiles, are left as they are.
//
// CHECK-LABEL: gpu.func @with_roles
// CHECK: async_pipeline.role @own warps(2) {
// CHECK-NOT: async_pipeline.role @
// CHECK: gpu.return
  gpu.func @with_roles() kernel {
    async_pipeline.roles {
      async_pipeline.role @own warps(2) {
        async_pipeline.warp.sync
      }
    }
    gpu.return
  }

// CHECK-LABEL: gpu.func @without_tiles
// CHECK-NOT: async_pipeline.role
// CHECK: gpu.return
  gpu.func @without_tiles(%A: memref<4xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    memref.store %x, %A[%c0] : memref<4xf32>
    gpu.return
  }
}
