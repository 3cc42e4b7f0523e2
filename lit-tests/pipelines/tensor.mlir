// Tests that every op of the tensor core becomes PTX that ptxas takes, that two equal products in a row both
// reach the PTX, and that there is one commit for each that is written.

// REQUIRES: ptxas

// RUN: pipeline-opt %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: ptxas -arch=sm_100a %t.ptx -o %t.cubin
// RUN: FileCheck %s < %t.ptx
// RUN: pipeline-opt %s --target=sm_100a --ptx-version=8.6 --emit=ptx -o %t.86.ptx
// RUN: ptxas -arch=sm_100a %t.86.ptx -o %t.86.cubin

gpu.module @kernels {
  // CHECK-LABEL: .entry life
  gpu.func @life(%out: memref<?xi32>, %i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    // CHECK: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%{{.+}}], 256;
    async_pipeline.tcgen05.alloc %where[%i] columns(256) : !async_pipeline.buffer<1, 1xi32>
    // CHECK: tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    async_pipeline.tcgen05.relinquish
    // CHECK: tcgen05.fence::before_thread_sync;
    async_pipeline.tcgen05.fence_before
    // CHECK: bar.sync 0;
    async_pipeline.cta.barrier
    // CHECK: tcgen05.fence::after_thread_sync;
    async_pipeline.tcgen05.fence_after
    // CHECK: ld.shared::cta.b32 %[[D:.+]], [%{{.+}}];
    %d = async_pipeline.tcgen05.address %where[%i] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<256>
    // The warp's quarter of the lanes is in the address.
    // CHECK: mov.u32 %[[T:.+]], %tid.x;
    // CHECK: tcgen05.st.sync.aligned.32x32b.x4.b32 [%{{.+}}], {%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}};
    %v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
    async_pipeline.tcgen05.st %v to %d[%i] : vector<4xi32> to !async_pipeline.tmem<256>
    // CHECK: tcgen05.st.sync.aligned.32x32b.x1.b32 [%{{.+}}], {%{{.+}}};
    %x = arith.constant dense<1.0> : vector<1xf32>
    async_pipeline.tcgen05.st %x to %d[%i] : vector<1xf32> to !async_pipeline.tmem<256>
    // CHECK: tcgen05.wait::st.sync.aligned;
    async_pipeline.tcgen05.wait_st
    // CHECK: tcgen05.ld.sync.aligned.32x32b.x1.b32 {%{{.+}}}, [%{{.+}}];
    %one = async_pipeline.tcgen05.ld %d[%i] : !async_pipeline.tmem<256> -> vector<1xi32>
    // CHECK: tcgen05.ld.sync.aligned.32x32b.x128.b32 {
    %all = async_pipeline.tcgen05.ld %d[%i] : !async_pipeline.tmem<256> -> vector<128xf32>
    // CHECK: tcgen05.wait::ld.sync.aligned;
    async_pipeline.tcgen05.wait_ld
    %word = vector.extract %one[0] : i32 from vector<1xi32>
    memref.store %word, %out[%c0] : memref<?xi32>
    // CHECK: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %[[D]], 256;
    async_pipeline.tcgen05.dealloc %d : !async_pipeline.tmem<256>
    gpu.return
  }

  // CHECK-LABEL: .entry products
  gpu.func @products(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<2>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.cta.barrier
    %d = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    %leader = async_pipeline.elect : i1
    scf.if %leader {
      // 0x08200010: f32 += f16 x f16, 128 x 128; 0x4000404000010000: swizzle of 128 bytes.
      // CHECK-DAG: mov.b32 %[[KIND:.+]], 136314896;
      // CHECK-DAG: or.b64 %[[DA:.+]], %{{.+}}, 4611756662049538048;
      // CHECK-COUNT-8: tcgen05.mma.cta_group::1.kind::f16 [%{{.+}}], %{{.+}}, %{{.+}}, %[[KIND]], adds;
      // CHECK-NOT: tcgen05.mma
      async_pipeline.tcgen05.mma %d[%zero], %a[%i], %a[%i], %true
          : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
      async_pipeline.tcgen05.mma %d[%zero], %a[%i], %a[%i], %true
          : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
      // CHECK: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%{{.+}}];
      // CHECK-NOT: tcgen05.commit
      async_pipeline.tcgen05.commit %bars[%i] : !async_pipeline.mbarrier<2>
    }
    // CHECK: tcgen05.dealloc
    async_pipeline.tcgen05.dealloc %d : !async_pipeline.tmem<128>
    gpu.return
  }

  // CHECK-LABEL: .entry kinds
  gpu.func @kinds(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %bf16 = async_pipeline.buffer.alloc "bf16" : !async_pipeline.buffer<1, 128x64xbf16, swizzle 128>
    %tf32 = async_pipeline.buffer.alloc "tf32" : !async_pipeline.buffer<1, 128x32xf32, swizzle 128>
    %e4m3 = async_pipeline.buffer.alloc "e4m3" : !async_pipeline.buffer<1, 128x128xf8E4M3FN, swizzle 128>
    %e5m2 = async_pipeline.buffer.alloc "e5m2" : !async_pipeline.buffer<1, 256x128xf8E5M2, swizzle 128>
    %p = arith.cmpi ne, %i, %zero : i32
    async_pipeline.tcgen05.alloc %where[%zero] columns(512) : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.cta.barrier
    %d = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<512>
    %leader = async_pipeline.elect : i1
    scf.if %leader {
      // CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::f16
      async_pipeline.tcgen05.mma %d[%i], %bf16[%zero], %bf16[%zero], %p
          : !async_pipeline.tmem<512>, !async_pipeline.buffer<1, 128x64xbf16, swizzle 128>, !async_pipeline.buffer<1, 128x64xbf16, swizzle 128>
      // CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::tf32
      async_pipeline.tcgen05.mma %d[%i], %tf32[%zero], %tf32[%zero], %p
          : !async_pipeline.tmem<512>, !async_pipeline.buffer<1, 128x32xf32, swizzle 128>, !async_pipeline.buffer<1, 128x32xf32, swizzle 128>
      // CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::f8f6f4
      async_pipeline.tcgen05.mma %d[%i], %e4m3[%zero], %e5m2[%zero], %p
          : !async_pipeline.tmem<512>, !async_pipeline.buffer<1, 128x128xf8E4M3FN, swizzle 128>, !async_pipeline.buffer<1, 256x128xf8E5M2, swizzle 128>
    }
    async_pipeline.tcgen05.dealloc %d : !async_pipeline.tmem<512>
    gpu.return
  }
}
