// Tests that products become one piece of PTX for each 32 bytes of K, with descriptors computed once, and that
// tensor memory is addressed by the number that was read.

// RUN: pipeline-opt %s --async-pipeline-lower-to-nvvm=target=sm_100a | FileCheck %s

gpu.module @kernels {
  llvm.mlir.global external @async_pipeline_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: llvm.func @product
  // CHECK: %[[D:.+]] = llvm.inline_asm has_side_effects asm_dialect = att "ld.shared::cta.b32 $0, [$1];", "=r,r,~{memory}"
  // CHECK: %[[KIND:.+]] = arith.constant 136314896 : i32
  // CHECK: arith.extui %{{.+}} : i1 to i32
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "{{.*}}tcgen05.mma.cta_group::1.kind::f16 [$0], $1, $2, $3, adds;{{.*}}", "r,l,l,r,r,~{memory}" %{{.+}}, %{{.+}}, %{{.+}}, %[[KIND]], %
  // CHECK-COUNT-3: tcgen05.mma
  // CHECK-NOT: tcgen05.mma
  // CHECK: "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];", "r,~{memory}"
  // CHECK: "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 128;", "r,~{memory}" %[[D]] :
  // CHECK-NOT: unrealized_conversion_cast
  llvm.func @product(%i: i32, %p: i1) attributes {nvvm.kernel} {
    %where = async_pipeline.buffer.alloc "where" offset(0) : !async_pipeline.buffer<1, 1xi32>
    %a = async_pipeline.buffer.alloc "a" offset(1024) : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %bars = async_pipeline.mbarrier.alloc "bars" offset(65536) : !async_pipeline.mbarrier<2>
    async_pipeline.tcgen05.alloc %where[%i] columns(128) : !async_pipeline.buffer<1, 1xi32>
    %d = async_pipeline.tcgen05.address %where[%i] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.tcgen05.mma %d[%i], %a[%i], %a[%i], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    async_pipeline.tcgen05.commit %bars[%i] : !async_pipeline.mbarrier<2>
    async_pipeline.tcgen05.dealloc %d : !async_pipeline.tmem<128>
    llvm.return
  }
}
