// Tests that buffers come first, each slot at a multiple of 128 bytes, that barriers follow with 8 bytes
// each, and that a layout given by hand is kept.

// RUN: pipeline-opt %s --async-pipeline-allocate=target=sm_90a | FileCheck %s
// RUN: pipeline-opt %s --async-pipeline-allocate=target=sm_80 | FileCheck %s

gpu.module @kernels {
  // Tiles of 64 bytes: the second slot starts at 128, where a tensor copy can write it.
  // CHECK-LABEL: gpu.func @small_tiles
  // CHECK-SAME: async_pipeline.shared_bytes = 280 : i64
  // CHECK: async_pipeline.mbarrier.alloc "b" offset(256) : <3>
  // CHECK: async_pipeline.buffer.alloc "t" offset(0) : <2, 32xf16>
  gpu.func @small_tiles() kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<3>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<2, 32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @several
  // CHECK-SAME: async_pipeline.shared_bytes = 1320 : i64
  // CHECK: "t" offset(0)
  // CHECK: "u" offset(1024)
  // CHECK: "b" offset(1280)
  // CHECK: "c" offset(1312)
  gpu.func @several() kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %u = async_pipeline.buffer.alloc "u" : !async_pipeline.buffer<1, 33xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = async_pipeline.mbarrier.alloc "c" : !async_pipeline.mbarrier<1>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @by_hand
  // CHECK-SAME: async_pipeline.shared_bytes = 1152 : i64
  // CHECK: "b" offset(512)
  // CHECK: "t" offset(1024)
  gpu.func @by_hand() kernel {
    %b = async_pipeline.mbarrier.alloc "b" offset(512) : !async_pipeline.mbarrier<64>
    %t = async_pipeline.buffer.alloc "t" offset(1024) : !async_pipeline.buffer<1, 4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @nothing
  // CHECK-SAME: async_pipeline.shared_bytes = 0 : i64
  gpu.func @nothing() kernel {
    gpu.return
  }

  // A swizzled slot starts where its pattern does.
  // CHECK-LABEL: gpu.func @swizzled
  // CHECK-SAME: async_pipeline.shared_bytes = 6152 : i64
  // CHECK: "w" offset(0)
  // CHECK: "s" offset(1024)
  // CHECK: "b" offset(6144)
  gpu.func @swizzled() kernel {
    %w = async_pipeline.buffer.alloc "w" : !async_pipeline.buffer<1, 1xi32>
    %s = async_pipeline.buffer.alloc "s" : !async_pipeline.buffer<5, 4x64xf16, swizzle 128>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
