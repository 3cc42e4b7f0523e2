// Tests that upstream's clean-up merges reads of tiles that nothing is written between, and keeps
// storage and everything that writes.

// RUN: pipeline-opt %s --canonicalize --cse | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @reads
  gpu.func @reads(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // CHECK: async_pipeline.tile.alloc : <16x32xf16>
    // CHECK: async_pipeline.tile.alloc : <16x32xf16>
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    async_pipeline.work.copy %A[%i, %i] to %b : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    // CHECK: %[[ACC:.+]] = async_pipeline.tile.accumulator
    // CHECK: async_pipeline.tile.accumulator
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x16xf32>
    %other = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x16xf32>
    // CHECK: %[[FIRST:.+]] = async_pipeline.work.load %[[ACC]]
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x16xf32> to vector<16x16xf32>
    // CHECK: async_pipeline.work.mma
    async_pipeline.work.mma %acc += %a * transpose %b
        : !async_pipeline.accumulator<16x16xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<16x32xf16>
    // CHECK: async_pipeline.work.mma
    async_pipeline.work.mma %acc += %a * transpose %b
        : !async_pipeline.accumulator<16x16xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<16x32xf16>
    // CHECK: %[[SECOND:.+]] = async_pipeline.work.load %[[ACC]]
    // CHECK-NOT: work.load
    %g = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x16xf32> to vector<16x16xf32>
    %h = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x16xf32> to vector<16x16xf32>
    %unused = async_pipeline.work.load %C[%i, %i] : memref<?x?xf32> to vector<16x16xf32>
    // CHECK: arith.addf %[[FIRST]], %[[SECOND]]
    // CHECK: arith.addf %{{.+}}, %[[SECOND]]
    %s = arith.addf %f, %g : vector<16x16xf32>
    %t = arith.addf %s, %h : vector<16x16xf32>
    async_pipeline.work.store %t to %C[%i, %i] : vector<16x16xf32> to memref<?x?xf32>
    // CHECK: gpu.return
    gpu.return
  }
}
