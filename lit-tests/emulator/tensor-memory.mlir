// Tests that what four warps store into tensor memory each of them loads again, under strict rules, and that a
// forgotten wait or free is reported.

// RUN: pipeline-run %s --device emulator --target sm_100a --strict --schedules 5 --size 128x8 --expect 'C = A' | FileCheck %s
// RUN: sed '/wait_st/d' %s > %t.no-wait.mlir
// RUN: not pipeline-run %t.no-wait.mlir --device emulator --target sm_100a --size 128x8 --expect 'C = A' | FileCheck %s --check-prefix=WAIT
// RUN: sed '/tcgen05.dealloc/d' %s > %t.no-free.mlir
// RUN: not pipeline-run %t.no-free.mlir --device emulator --target sm_100a --size 128x8 --expect 'C = A' | FileCheck %s --check-prefix=FREE

// CHECK: : ok
// WAIT: [read-before-complete]
// FREE: are still allocated when the CTA ends

gpu.module @kernels {
  gpu.func @through(%A: memref<?x?xf32> {async_pipeline.name = "A"}, %C: memref<?x?xf32> {async_pipeline.name = "C"}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"1">} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %first = arith.constant 5 : i32
    %second = arith.constant 28 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %thread = gpu.thread_id x
    %warp_0 = arith.cmpi ult, %thread, %c32 : index
    scf.if %warp_0 {
      async_pipeline.tcgen05.alloc %where[%zero] columns(32) : !async_pipeline.buffer<1, 1xi32>
      async_pipeline.tcgen05.relinquish
    }
    async_pipeline.tcgen05.fence_before
    async_pipeline.cta.barrier
    async_pipeline.tcgen05.fence_after
    %d = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<32>
    %x = vector.load %A[%thread, %c0] : memref<?x?xf32>, vector<4xf32>
    %y = vector.load %A[%thread, %c4] : memref<?x?xf32>, vector<4xf32>
    async_pipeline.tcgen05.st %x to %d[%first] : vector<4xf32> to !async_pipeline.tmem<32>
    async_pipeline.tcgen05.st %y to %d[%second] : vector<4xf32> to !async_pipeline.tmem<32>
    async_pipeline.tcgen05.wait_st
    %v = async_pipeline.tcgen05.ld %d[%first] : !async_pipeline.tmem<32> -> vector<4xf32>
    %w = async_pipeline.tcgen05.ld %d[%second] : !async_pipeline.tmem<32> -> vector<4xf32>
    async_pipeline.tcgen05.wait_ld
    vector.store %v, %C[%thread, %c0] : memref<?x?xf32>, vector<4xf32>
    vector.store %w, %C[%thread, %c4] : memref<?x?xf32>, vector<4xf32>
    async_pipeline.tcgen05.fence_before
    async_pipeline.cta.barrier
    async_pipeline.tcgen05.fence_after
    scf.if %warp_0 {
      async_pipeline.tcgen05.dealloc %d : !async_pipeline.tmem<32>
    }
    gpu.return
  }
}
