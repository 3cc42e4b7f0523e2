// Tests that two equal products in a row both reach the PTX: they add twice, though nothing between them tells them
// apart.

// RUN: pipeline-opt %s --target=sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=REGISTERS
// RUN: pipeline-opt %s --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=REGISTERS
// RUN: pipeline-opt %s --target=sm_100a --emit=ptx -o - | FileCheck %s --check-prefix=TENSOR

// A product of 128x64x64 is 64 instructions of each of four warps, or four of one thread. The loop of the tensor
// core's has its first step in front, which adds to nothing.

// REGISTERS-LABEL: .entry once(
// REGISTERS-COUNT-64: mma.sync.aligned.m16n8k16
// REGISTERS-NOT: mma.sync
// REGISTERS-LABEL: .entry twice(
// REGISTERS-COUNT-128: mma.sync.aligned.m16n8k16
// REGISTERS-NOT: mma.sync

// TENSOR-LABEL: .entry once(
// TENSOR-COUNT-8: tcgen05.mma.cta_group::1
// TENSOR-NOT: tcgen05.mma
// TENSOR-LABEL: .entry twice(
// TENSOR-COUNT-16: tcgen05.mma.cta_group::1
// TENSOR-NOT: tcgen05.mma

gpu.module @kernels {
  gpu.func @once(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
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
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }

  gpu.func @twice(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
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
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}
