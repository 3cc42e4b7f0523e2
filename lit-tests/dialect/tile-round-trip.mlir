// Tests that every op, type and attribute of the tile level prints as it is read, and that the
// generic form reads as the same.

// RUN: pipeline-opt %s | pipeline-opt | FileCheck %s
// RUN: pipeline-opt %s --mlir-print-op-generic | pipeline-opt | FileCheck %s
// RUN: pipeline-opt %S/../../tests/tile/gemm.mlir | pipeline-opt --async-pipeline-verify-tiles | FileCheck %s --check-prefix=GEMM

// GEMM: scf.for
// GEMM: async_pipeline.work.mma %{{.+}} += %{{.+}} * transpose %{{.+}} : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16>
// GEMM: } {async_pipeline.stages = 4 : i32}

// CHECK-LABEL: gpu.func @tiles
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf16>, %[[T:[a-z0-9]+]]: memref<?x?x?xf16>, %[[C:[a-z0-9]+]]: memref<?x?xf32>
gpu.module @kernels {
  gpu.func @tiles(%A: memref<?x?xf16>, %T: memref<?x?x?xf16>, %C: memref<?x?xf32>, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %low = arith.constant 0xFF800000 : f32
    // CHECK: %[[NAMED:.+]] = async_pipeline.tile.alloc "a" : <128x64xf16>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    // CHECK: %[[B:.+]] = async_pipeline.tile.alloc : <64x256xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<64x256xf16>
    // CHECK: %[[ACC:.+]] = async_pipeline.tile.accumulator : <128x256xf32>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    // CHECK: %[[W:.+]] = async_pipeline.tile.window %[[A]][%{{.+}}, %{{.+}}] sizes [%{{.+}}, %{{.+}}] : memref<?x?xf16> to <?x?xf16>
    %w = async_pipeline.tile.window %A[%m, %c0] sizes [%n, %m] : memref<?x?xf16> to !async_pipeline.window<?x?xf16>
    // CHECK: %[[V:.+]] = async_pipeline.tile.window %[[W]][%{{.+}}, %{{.+}}] sizes [%{{.+}}, %{{.+}}] : !async_pipeline.window<?x?xf16> to <?x?xf16>
    %v = async_pipeline.tile.window %w[%m, %c0] sizes [%n, %m] : !async_pipeline.window<?x?xf16> to !async_pipeline.window<?x?xf16>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: async_pipeline.work.copy %[[A]][%{{.+}}, %{{.+}}] to %[[NAMED]] : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      async_pipeline.work.copy %A[%m, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      // CHECK: async_pipeline.work.copy %[[V]][%{{.+}}, %{{.+}}] to %[[B]] : !async_pipeline.window<?x?xf16> to !async_pipeline.buffer<64x256xf16>
      async_pipeline.work.copy %v[%m, %i] to %b : !async_pipeline.window<?x?xf16> to !async_pipeline.buffer<64x256xf16>
      // CHECK: async_pipeline.work.mma %[[ACC]] += %[[NAMED]] * %[[B]] : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x256xf16>
      async_pipeline.work.mma %acc += %a * %b
          : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x256xf16>
    // CHECK: } {async_pipeline.exactly, async_pipeline.stages = 3 : i32}
    } {async_pipeline.stages = 3 : i32, async_pipeline.exactly}
    // CHECK: async_pipeline.work.copy %[[NAMED]] to %[[T]][%{{.+}}, %{{.+}}, %{{.+}}] : !async_pipeline.buffer<128x64xf16> to memref<?x?x?xf16>
    async_pipeline.work.copy %a to %T[%c0, %m, %n] : !async_pipeline.buffer<128x64xf16> to memref<?x?x?xf16>
    // CHECK: %[[R:.+]] = async_pipeline.work.load %[[NAMED]] : !async_pipeline.buffer<128x64xf16> to vector<128x64xf16>
    %r = async_pipeline.work.load %a : !async_pipeline.buffer<128x64xf16> to vector<128x64xf16>
    // CHECK: async_pipeline.work.mma %[[ACC]] += %[[R]] * %[[B]] : !async_pipeline.accumulator<128x256xf32>, vector<128x64xf16>, !async_pipeline.buffer<64x256xf16>
    async_pipeline.work.mma %acc += %r * %b
        : !async_pipeline.accumulator<128x256xf32>, vector<128x64xf16>, !async_pipeline.buffer<64x256xf16>
    // CHECK: async_pipeline.work.store %[[R]] to %[[NAMED]] : vector<128x64xf16> to !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.store %r to %a : vector<128x64xf16> to !async_pipeline.buffer<128x64xf16>
    // CHECK: %[[F:.+]] = async_pipeline.work.load %[[ACC]] : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    // CHECK: async_pipeline.work.store %[[F]] to %[[ACC]] : vector<128x256xf32> to !async_pipeline.accumulator<128x256xf32>
    async_pipeline.work.store %f to %acc : vector<128x256xf32> to !async_pipeline.accumulator<128x256xf32>
    // CHECK: async_pipeline.work.store %[[F]] to %[[C]][%{{.+}}, %{{.+}}] : vector<128x256xf32> to memref<?x?xf32>
    async_pipeline.work.store %f to %C[%m, %n] : vector<128x256xf32> to memref<?x?xf32>
    // CHECK: async_pipeline.work.store %[[F]] to %[[C]][%{{.+}}, %{{.+}}] reduce add : vector<128x256xf32> to memref<?x?xf32>
    async_pipeline.work.store %f to %C[%m, %n] reduce add : vector<128x256xf32> to memref<?x?xf32>
    // CHECK: async_pipeline.work.load %[[C]][%{{.+}}, %{{.+}}] : memref<?x?xf32> to vector<64xf32>
    %row = async_pipeline.work.load %C[%m, %n] : memref<?x?xf32> to vector<64xf32>
    // CHECK: async_pipeline.work.load %[[C]][%{{.+}}, %{{.+}}] fill(%{{.+}} : f32) : memref<?x?xf32> to vector<2x64xf32>
    %rows = async_pipeline.work.load %C[%m, %n] fill(%low : f32) : memref<?x?xf32> to vector<2x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @transposed
  gpu.func @transposed(%A: memref<?x?xf8E4M3FN>) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<64x128xf8E4M3FN>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<256x64xf8E5M2>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    // CHECK: async_pipeline.work.mma %{{.+}} += transpose %{{.+}} * transpose %{{.+}} : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<64x128xf8E4M3FN>, !async_pipeline.buffer<256x64xf8E5M2>
    async_pipeline.work.mma %acc += transpose %a * transpose %b
        : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<64x128xf8E4M3FN>, !async_pipeline.buffer<256x64xf8E5M2>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @slots
  gpu.func @slots(%C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16, 8x32xf16>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
        %t = async_pipeline.channel.acquire %in : !async_pipeline.channel<16x32xf16, 8x32xf16>
        %zero = arith.constant dense<0.0> : vector<8x32xf16>
        // CHECK: async_pipeline.work.store %{{.+}} to %{{.+}} field(1) : vector<8x32xf16> to !async_pipeline.slot<16x32xf16, 8x32xf16>
        async_pipeline.work.store %zero to %t field(1) : vector<8x32xf16> to !async_pipeline.slot<16x32xf16, 8x32xf16>
        async_pipeline.channel.commit %t : !async_pipeline.slot<16x32xf16, 8x32xf16>
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16x32xf16, 8x32xf16>
        // CHECK: async_pipeline.work.load %{{.+}} field(1) : !async_pipeline.slot<16x32xf16, 8x32xf16> to vector<8x32xf16>
        %v = async_pipeline.work.load %s field(1) : !async_pipeline.slot<16x32xf16, 8x32xf16> to vector<8x32xf16>
        // CHECK: async_pipeline.work.mma %{{.+}} += %[[S:.+]] * transpose %[[S]] field(1) : !async_pipeline.accumulator<16x8xf32>
        async_pipeline.work.mma %acc += %s * transpose %s field(1)
            : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.slot<16x32xf16, 8x32xf16>, !async_pipeline.slot<16x32xf16, 8x32xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<16x32xf16, 8x32xf16>
      }
    }
    gpu.return
  }
}
