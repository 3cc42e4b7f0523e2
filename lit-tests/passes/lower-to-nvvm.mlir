// Tests that roles become branches on the warp id with one election for a role of one thread, that ids
// become special registers, that storage becomes addresses, and that a wait is one piece of PTX. The PTX of
// every op stands in pipelines/every-op.mlir.

// RUN: pipeline-opt %s --async-pipeline-lower-to-nvvm=target=sm_90a | FileCheck %s --check-prefixes=CHECK,NEWER
// RUN: pipeline-opt %s --async-pipeline-lower-to-nvvm=target=sm_100a | FileCheck %s --check-prefixes=CHECK,NEWER
// RUN: pipeline-opt %s --async-pipeline-lower-to-nvvm=target=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: pipeline-opt %s --async-pipeline-lower-to-nvvm="target=sm_90a wait-timeout=7" | FileCheck %s --check-prefix=TIMEOUT

gpu.module @kernels {
  llvm.mlir.global external @async_pipeline_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global external @async_pipeline_wait_report(dense<0> : tensor<2xi64>) {addr_space = 1 : i32} : !llvm.array<2 x i64>

  // The warp id is the same register in every lane, and each role is a branch on it.
  // CHECK-LABEL: llvm.func @roles
  // CHECK: %[[THREAD:.+]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[WARP:.+]] = arith.shrui %[[THREAD]], %{{.+}} : i32
  // CHECK: %[[UNIFORM:.+]] = nvvm.shfl.sync idx %{{.+}}, %[[WARP]], %{{.+}}, %{{.+}} : i32 -> i32
  // CHECK: %[[MINE:.+]] = arith.cmpi ult, %[[UNIFORM]], %[[TWO:.+]] : i32
  // CHECK: scf.if %[[MINE]] {
  // CHECK-NOT: elect
  // CHECK: "role a"
  // CHECK: }
  // CHECK: %[[MINE:.+]] = arith.cmpi eq, %[[UNIFORM]], %{{.+}} : i32
  // CHECK: scf.if %[[MINE]] {
  // NEWER:   %[[LEADER:.+]] = nvvm.elect.sync -> i1
  // CHECK:   scf.if %[[LEADER:.+]] {
  // CHECK:     "role b"
  // CHECK:   }
  // CHECK:   llvm.inline_asm has_side_effects asm_dialect = att "bar.warp.sync 0xffffffff;", "~{memory}"
  // CHECK: }
  // CHECK-NOT: async_pipeline.role
  llvm.func @roles() attributes {nvvm.kernel} {
    async_pipeline.roles {
      async_pipeline.role @a warps(2) {
        llvm.inline_asm has_side_effects "role a", "" : () -> ()
      }
      async_pipeline.role @b warps(1) elected {
        llvm.inline_asm has_side_effects "role b", "" : () -> ()
      }
    }
    llvm.return
  }

  // Threads count from the first of their role.
  // CHECK-LABEL: llvm.func @ids
  // CHECK-COUNT-2: scf.if
  // CHECK: %[[THREAD:.+]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[FIRST:.+]] = arith.constant 64 : i32
  // CHECK: %[[MINE:.+]] = arith.subi %[[THREAD]], %[[FIRST]] : i32
  // CHECK: arith.index_castui %[[MINE]] : i32 to index
  // CHECK: arith.constant 96 : index
  // CHECK: nvvm.read.ptx.sreg.ctaid.y
  // CHECK: nvvm.read.ptx.sreg.nctaid.z
  // CHECK: nvvm.read.ptx.sreg.ntid.x
  // CHECK: nvvm.read.ptx.sreg.laneid
  llvm.func @ids(%out: !llvm.ptr) attributes {nvvm.kernel} {
    async_pipeline.roles {
      async_pipeline.role @a warps(2) {
      }
      async_pipeline.role @b warps(3) {
        %t = async_pipeline.role.thread_id : index
        %n = async_pipeline.role.thread_count : index
        %y = gpu.block_id y
        %z = gpu.grid_dim z
        %x = gpu.block_dim x
        %l = gpu.lane_id
      }
    }
    llvm.return
  }

  // Slots are 128 bytes apart, also where a tile takes 64; barriers 8.
  // CHECK-LABEL: llvm.func @storage
  // CHECK: %[[START:.+]] = llvm.mlir.addressof @async_pipeline_shared : !llvm.ptr<3>
  // CHECK: %[[BASE:.+]] = llvm.getelementptr %{{.+}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: llvm.ptrtoint %[[BASE]] : !llvm.ptr<3> to i32
  // CHECK: %[[STRIDE:.+]] = arith.constant 128 : i32
  // CHECK: arith.muli %[[I:[a-z0-9]+]], %[[STRIDE]] : i32
  // CHECK: builtin.unrealized_conversion_cast %{{.+}} : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)> to memref<32xf16, 3>
  // CHECK: %[[EIGHT:.+]] = arith.constant 8 : i32
  // CHECK: arith.muli %[[I]], %[[EIGHT]] : i32
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "mbarrier.arrive.shared::cta.b64 $0, [$1];", "=l,r,~{memory}"
  llvm.func @storage(%i: i32, %at: i64) attributes {nvvm.kernel} {
    %j = arith.index_cast %at : i64 to index
    %t = async_pipeline.buffer.alloc "t" offset(1024) : !async_pipeline.buffer<4, 32xf16>
    %b = async_pipeline.mbarrier.alloc "b" offset(1536) : !async_pipeline.mbarrier<4>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 32xf16> to memref<32xf16, #gpu.address_space<workgroup>>
    %x = memref.load %v[%j] : memref<32xf16, #gpu.address_space<workgroup>>
    async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4>
    llvm.return
  }

  // CHECK-LABEL: llvm.func @wait
  // NEWER: llvm.inline_asm {{.+}} "{\0A\09.reg .pred done;\0Awaiting:\0A\09mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\0A\09@!done bra waiting;\0A\09}", "r,r,~{memory}"
  // SM80: llvm.inline_asm {{.+}} "{\0A\09.reg .pred done;\0Awaiting:\0A\09mbarrier.test_wait.parity.shared::cta.b64 done, [$0], $1;\0A\09@done bra passed;\0A\09nanosleep.u32 20;\0A\09bra waiting;\0Apassed:\0A\09}", "r,r,~{memory}"
  // TIMEOUT-LABEL: llvm.func @wait
  // TIMEOUT: setp.lt.u64 more, now, 7000;
  // TIMEOUT-SAME: async_pipeline_wait_report
  // TIMEOUT-SAME: trap;
  llvm.func @wait(%i: i32) attributes {nvvm.kernel} {
    %b = async_pipeline.mbarrier.alloc "b" offset(0) : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.wait %b[%i], %i : !async_pipeline.mbarrier<4>
    llvm.return
  }

  // One instruction per barrier of the array.
  // CHECK-LABEL: llvm.func @life
  // CHECK-COUNT-3: "mbarrier.init.shared::cta.b64 [$0], 7;"
  // CHECK-COUNT-3: "mbarrier.inval.shared::cta.b64 [$0];"
  // CHECK-NOT: mbarrier
  llvm.func @life() attributes {nvvm.kernel} {
    %b = async_pipeline.mbarrier.alloc "b" offset(0) : !async_pipeline.mbarrier<3>
    async_pipeline.mbarrier.init %b count(7) : !async_pipeline.mbarrier<3>
    async_pipeline.mbarrier.inval %b : !async_pipeline.mbarrier<3>
    llvm.return
  }
}
