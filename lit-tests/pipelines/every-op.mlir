// Tests that every op of the barrier level becomes PTX that ptxas takes: on sm_80 what it has, on newer
// targets all of it.

// REQUIRES: ptxas

// RUN: split-file %s %t
// RUN: pipeline-opt %t/all.mlir --target=sm_80 --emit=ptx -o %t/80.ptx
// RUN: ptxas -arch=sm_80 %t/80.ptx -o %t/80.cubin
// RUN: FileCheck %t/all.mlir --check-prefixes=CHECK,SM80 < %t/80.ptx
// RUN: pipeline-opt %t/all.mlir --target=sm_80 --ptx-version=7.8 --emit=ptx -o %t/78.ptx
// RUN: ptxas -arch=sm_80 %t/78.ptx -o %t/78.cubin
// RUN: pipeline-opt %t/all.mlir --target=sm_90a --emit=ptx -o %t/90a.ptx
// RUN: ptxas -arch=sm_90a %t/90a.ptx -o %t/90a.cubin
// RUN: FileCheck %t/all.mlir --check-prefixes=CHECK,NEWER < %t/90a.ptx
// RUN: pipeline-opt %t/all.mlir --target=sm_100a --emit=ptx -o %t/100a.ptx
// RUN: ptxas -arch=sm_100a %t/100a.ptx -o %t/100a.cubin
// RUN: FileCheck %t/all.mlir --check-prefixes=CHECK,NEWER < %t/100a.ptx
// RUN: pipeline-opt %t/newer.mlir --target=sm_90a --emit=ptx -o %t/newer.90a.ptx
// RUN: ptxas -arch=sm_90a %t/newer.90a.ptx -o %t/newer.90a.cubin
// RUN: FileCheck %t/newer.mlir < %t/newer.90a.ptx
// RUN: pipeline-opt %t/newer.mlir --target=sm_90a --ptx-version=8.0 --emit=ptx -o %t/newer.80.ptx
// RUN: ptxas -arch=sm_90a %t/newer.80.ptx -o %t/newer.80.cubin
// RUN: pipeline-opt %t/newer.mlir --target=sm_100a --emit=ptx -o %t/newer.100a.ptx
// RUN: ptxas -arch=sm_100a %t/newer.100a.ptx -o %t/newer.100a.cubin
// RUN: FileCheck %t/newer.mlir < %t/newer.100a.ptx

//--- all.mlir
// CHECK: .extern .shared .align 1024 .b8 async_pipeline_shared[];
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %out: memref<?xi32>, %i: i32, %j: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<2, 64xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<2, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.init.shared::cta.b64 [%{{.+}}], 3;
    // CHECK: mbarrier.init.shared::cta.b64 [%{{.+}}], 3;
    async_pipeline.mbarrier.init %b count(3) : !async_pipeline.mbarrier<2>
    // CHECK: bar.sync 0;
    async_pipeline.cta.barrier
    // CHECK: mbarrier.arrive.shared::cta.b64 %{{.+}}, [%{{.+}}];
    %s0 = async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<2> -> i64
    // CHECK: mbarrier.arrive.noComplete.shared::cta.b64 %{{.+}}, [%{{.+}}], 2;
    %s1 = async_pipeline.mbarrier.arrive %b[%i] count(2) no_complete : !async_pipeline.mbarrier<2> -> i64
    // CHECK: mbarrier.arrive_drop.shared::cta.b64 %{{.+}}, [%{{.+}}];
    async_pipeline.mbarrier.arrive_drop %b[%i] : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.arrive_drop.noComplete.shared::cta.b64 %{{.+}}, [%{{.+}}], 1;
    async_pipeline.mbarrier.arrive_drop %b[%i] no_complete : !async_pipeline.mbarrier<2>
    // SM80: mbarrier.test_wait.parity.shared::cta.b64 done, [%{{.+}}], %{{.+}};
    // SM80: nanosleep.u32
    // NEWER: mbarrier.try_wait.parity.shared::cta.b64 done, [%{{.+}}], %{{.+}};
    // NEWER-NEXT: @!done bra waiting;
    async_pipeline.mbarrier.wait %b[%i], %zero : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.test_wait.parity.shared::cta.b64 done, [%{{.+}}], %{{.+}};
    // CHECK: selp.b32
    %d0 = async_pipeline.mbarrier.test_wait.parity %b[%i], %zero : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.test_wait.shared::cta.b64 done, [%{{.+}}], %rd{{.+}};
    %d1 = async_pipeline.mbarrier.test_wait %b[%i], %s0 : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.pending_count.b64 %{{.+}}, %rd{{.+}};
    %n = async_pipeline.mbarrier.pending_count %s1 : i32
    memref.store %n, %out[%c0] : memref<?xi32>
    %d2 = arith.andi %d0, %d1 : i1
    scf.if %d2 {
      memref.store %zero, %out[%c0] : memref<?xi32>
    }
    // CHECK: cp.async.cg.shared.global [%{{.+}}], [%rd{{.+}}], 16;
    async_pipeline.cp_async.copy %A[%j] to %v[%c0] bytes(16)
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK: cp.async.ca.shared.global [%{{.+}}], [%rd{{.+}}], 8;
    async_pipeline.cp_async.copy %A[%j] to %v[%c0] bytes(8)
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK: cp.async.ca.shared.global [%{{.+}}], [%rd{{.+}}], 4, %r{{.+}};
    async_pipeline.cp_async.copy %A[%j] to %v[%c0] bytes(4) valid(%i)
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK: cp.async.mbarrier.arrive.shared::cta.b64 [%{{.+}}];
    async_pipeline.cp_async.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<2>
    // CHECK: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%{{.+}}];
    async_pipeline.cp_async.mbarrier.arrive %b[%i] noinc : !async_pipeline.mbarrier<2>
    // CHECK: cp.async.commit_group;
    async_pipeline.cp_async.commit_group
    // CHECK: cp.async.wait_group 2;
    async_pipeline.cp_async.wait_group pending(2)
    // CHECK: barrier.sync 1, 32;
    async_pipeline.named_barrier.sync id(1) threads(32)
    // CHECK: barrier.arrive 2, 64;
    async_pipeline.named_barrier.arrive id(2) threads(64)
    // CHECK: bar.warp.sync 0xffffffff;
    async_pipeline.warp.sync
    // SM80: %laneid
    // NEWER: elect.sync
    %leader = async_pipeline.elect : i1
    scf.if %leader {
      memref.store %i, %out[%c0] : memref<?xi32>
    }
    // CHECK: mbarrier.inval.shared::cta.b64 [%{{.+}}];
    // CHECK: mbarrier.inval.shared::cta.b64 [%{{.+}}];
    async_pipeline.mbarrier.inval %b : !async_pipeline.mbarrier<2>
    gpu.return
  }
}

//--- newer.mlir
gpu.module @kernels {
  // CHECK: .param .align 64 .b8 k_param_0[128]
  // CHECK: .reqntid 32, 1, 1
  gpu.func @k(%M: memref<?x?xf32>, %A: memref<?xf32>, %out: memref<?xi32>, %i: i32, %j: index, %bytes: i32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %map = async_pipeline.tma.descriptor %M : memref<?x?xf32> to !async_pipeline.tensor_map<8x16xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<2, 16x16xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<2, 16x16xf32> to memref<16x16xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<2>
    async_pipeline.mbarrier.init %b count(1) : !async_pipeline.mbarrier<2>
    // CHECK: fence.mbarrier_init.release.cluster;
    async_pipeline.fence.mbarrier_init
    // CHECK: mbarrier.arrive.shared::cta.b64 %{{.+}}, [%{{.+}}], 5;
    async_pipeline.mbarrier.arrive %b[%i] count(5) : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.arrive_drop.shared::cta.b64 %{{.+}}, [%{{.+}}], 6;
    async_pipeline.mbarrier.arrive_drop %b[%i] count(6) : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%{{.+}}], %{{.+}};
    async_pipeline.mbarrier.arrive.expect_tx %b[%i], %bytes : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%{{.+}}], %{{.+}};
    async_pipeline.mbarrier.expect_tx %b[%i], %bytes : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%{{.+}}], %{{.+}};
    async_pipeline.mbarrier.complete_tx %b[%i], %bytes : !async_pipeline.mbarrier<2>
    // CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [%{{.+}}], %{{.+}};
    // CHECK-NEXT: selp.b32
    %d0 = async_pipeline.mbarrier.try_wait.parity %b[%i], %zero : !async_pipeline.mbarrier<2>
    %s = async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<2> -> i64
    // CHECK: mbarrier.try_wait.shared::cta.b64 done, [%{{.+}}], %rd{{.+}};
    %d1 = async_pipeline.mbarrier.try_wait %b[%i], %s : !async_pipeline.mbarrier<2>
    %d = arith.andi %d0, %d1 : i1
    scf.if %d {
      memref.store %zero, %out[%c0] : memref<?xi32>
    }
    // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%{{.+}}], [%rd{{.+}}], %{{.+}}, [%{{.+}}];
    async_pipeline.bulk.load %A[%j] to %v[%c0, %c0], %bytes, %b[%i]
        : memref<?xf32> to memref<16x16xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<2>
    // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%{{.+}}], [%rd{{.+}}, {%{{.+}}, %{{.+}}}], [%{{.+}}];
    async_pipeline.tma.load %map[%i, %zero] to %t[%i] at(128), %b[%i]
        : !async_pipeline.tensor_map<8x16xf32> to !async_pipeline.buffer<2, 16x16xf32>, !async_pipeline.mbarrier<2>
    // CHECK: fence.proxy.async.shared::cta;
    async_pipeline.fence.proxy_async
    // CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd{{.+}}, {%{{.+}}, %{{.+}}}], [%{{.+}}];
    async_pipeline.tma.store %t[%i] to %map[%i, %zero]
        : !async_pipeline.buffer<2, 16x16xf32> to !async_pipeline.tensor_map<8x16xf32>
    // CHECK: cp.async.bulk.global.shared::cta.bulk_group [%rd{{.+}}], [%{{.+}}], %{{.+}};
    async_pipeline.bulk.store %v[%c0, %c0] to %A[%j], %bytes
        : memref<16x16xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    // CHECK: cp.async.bulk.commit_group;
    async_pipeline.bulk.commit_group
    // CHECK: cp.async.bulk.wait_group.read 1;
    async_pipeline.bulk.wait_group pending(1) read
    // CHECK: cp.async.bulk.wait_group 0;
    async_pipeline.bulk.wait_group pending(0)
    gpu.return
  }
}
