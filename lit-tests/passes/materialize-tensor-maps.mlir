// Tests that tensor maps come to the kernel's entry, one per argument and box, in the arguments' order.

// RUN: pipeline-opt %s --async-pipeline-materialize-tensor-maps | FileCheck %s

// CHECK-LABEL: gpu.func @k
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?xf32>, %[[B:[a-z0-9]+]]: memref<?xf32>
// CHECK-NEXT: %[[OF_A:.+]] = async_pipeline.tma.descriptor %[[A]] : memref<?xf32> to <64xf32>
// CHECK-NEXT: %[[OF_B:.+]] = async_pipeline.tma.descriptor %[[B]] : memref<?xf32> to <64xf32>
// CHECK-NEXT: %[[SMALL:.+]] = async_pipeline.tma.descriptor %[[B]] : memref<?xf32> to <32xf32>
// CHECK-NOT: tma.descriptor
// CHECK: scf.if
// CHECK: async_pipeline.tma.store %{{.+}} to %[[OF_B]]
// CHECK: async_pipeline.tma.store %{{.+}} to %[[SMALL]]
// CHECK: async_pipeline.tma.store %{{.+}} to %[[OF_A]]
// CHECK: async_pipeline.tma.store %{{.+}} to %[[OF_B]]
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %B: memref<?xf32>, %i: i32, %p: i1) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<1, 64xf32>
    scf.if %p {
      %b = async_pipeline.tma.descriptor %B : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
      async_pipeline.tma.store %t[%i] to %b[%i]
          : !async_pipeline.buffer<1, 64xf32> to !async_pipeline.tensor_map<64xf32>
      %small = async_pipeline.tma.descriptor %B : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
      async_pipeline.tma.store %t[%i] to %small[%i]
          : !async_pipeline.buffer<1, 64xf32> to !async_pipeline.tensor_map<32xf32>
    }
    %a = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    async_pipeline.tma.store %t[%i] to %a[%i]
        : !async_pipeline.buffer<1, 64xf32> to !async_pipeline.tensor_map<64xf32>
    %again = async_pipeline.tma.descriptor %B : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    async_pipeline.tma.store %t[%i] to %again[%i]
        : !async_pipeline.buffer<1, 64xf32> to !async_pipeline.tensor_map<64xf32>
    gpu.return
  }
}
