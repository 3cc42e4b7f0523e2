// Tests that what a target has passes unchanged: on sm_80 the first kernel, elsewhere both.

// RUN: split-file %s %t
// RUN: pipeline-opt %t/all.mlir > %t/all.expected
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-barriers=target=sm_80 > %t/all.sm_80
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-barriers="target=sm_80 ptx-version=7.8" > %t/all.7.8
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-barriers=target=sm_90a > %t/all.sm_90a
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-barriers=target=sm_100a > %t/all.sm_100a
// RUN: cmp %t/all.expected %t/all.sm_80
// RUN: cmp %t/all.expected %t/all.7.8
// RUN: cmp %t/all.expected %t/all.sm_90a
// RUN: cmp %t/all.expected %t/all.sm_100a
// RUN: pipeline-opt %t/newer.mlir > %t/newer.expected
// RUN: pipeline-opt %t/newer.mlir --async-pipeline-verify-barriers="target=sm_90a ptx-version=8.0" > %t/newer.sm_90a
// RUN: pipeline-opt %t/newer.mlir --async-pipeline-verify-barriers="target=sm_100a ptx-version=8.6" > %t/newer.sm_100a
// RUN: cmp %t/newer.expected %t/newer.sm_90a
// RUN: cmp %t/newer.expected %t/newer.sm_100a

//--- all.mlir
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.init %b count(1) : !async_pipeline.mbarrier<4>
    %s0 = async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4> -> i64
    %s1 = async_pipeline.mbarrier.arrive %b[%i] count(2) no_complete : !async_pipeline.mbarrier<4> -> i64
    async_pipeline.mbarrier.arrive_drop %b[%i] : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.arrive_drop %b[%i] count(2) no_complete : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.wait %b[%i], %i : !async_pipeline.mbarrier<4>
    %d0 = async_pipeline.mbarrier.test_wait.parity %b[%i], %i : !async_pipeline.mbarrier<4>
    %d1 = async_pipeline.mbarrier.test_wait %b[%i], %s0 : !async_pipeline.mbarrier<4>
    %n = async_pipeline.mbarrier.pending_count %s1 : i32
    async_pipeline.cp_async.copy %A[%j] to %v[%j] bytes(16) : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    async_pipeline.cp_async.copy %A[%j] to %v[%j] bytes(4) valid(%i) : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    async_pipeline.cp_async.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4>
    async_pipeline.cp_async.mbarrier.arrive %b[%i] noinc : !async_pipeline.mbarrier<4>
    async_pipeline.cp_async.commit_group
    async_pipeline.cp_async.wait_group pending(0)
    async_pipeline.cta.barrier
    async_pipeline.named_barrier.sync id(1) threads(32)
    async_pipeline.named_barrier.arrive id(1) threads(32)
    async_pipeline.warp.sync
    %leader = async_pipeline.elect : i1
    async_pipeline.mbarrier.inval %b : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

//--- newer.mlir
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.fence.mbarrier_init
    async_pipeline.mbarrier.arrive %b[%i] count(2) : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.arrive_drop %b[%i] count(2) : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.arrive.expect_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.expect_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.complete_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    %d0 = async_pipeline.mbarrier.try_wait.parity %b[%i], %i : !async_pipeline.mbarrier<4>
    %s = async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4> -> i64
    %d1 = async_pipeline.mbarrier.try_wait %b[%i], %s : !async_pipeline.mbarrier<4>
    async_pipeline.bulk.load %A[%j] to %v[%j], %i, %b[%i] : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    async_pipeline.tma.load %m[%i] to %t[%i], %b[%i]
        : !async_pipeline.tensor_map<64xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    async_pipeline.fence.proxy_async
    async_pipeline.tma.store %t[%i] to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<64xf32>
    async_pipeline.bulk.store %v[%j] to %A[%j], %i : memref<64xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    async_pipeline.bulk.commit_group
    async_pipeline.bulk.wait_group pending(0)
    async_pipeline.bulk.wait_group pending(0) read
    async_pipeline.roles {
      async_pipeline.role @one warps(1) elected {
      }
    }
    gpu.return
  }
}
