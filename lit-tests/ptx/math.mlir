// Tests that a kernel with every function assembles for every target.

// REQUIRES: ptxas
// RUN: pipeline-opt %s --target=sm_80 --emit=ptx -o %t.ptx && ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: pipeline-opt %s --target=sm_90a --emit=ptx -o %t.ptx && ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: pipeline-opt %s --target=sm_100a --emit=ptx -o %t.ptx && ptxas -arch=sm_100a %t.ptx -o %t.cubin
// RUN: FileCheck %s < %t.ptx

// CHECK-NOT: .extern .func
// CHECK-NOT: ex2.approx.f16
// CHECK: ex2.approx.ftz.f32
// CHECK: rsqrt.approx.f32
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %B: memref<?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x0 = memref.load %A[%i] : memref<?xf32>
    %x1 = math.erf %x0 : f32
    %x2 = math.exp %x1 : f32
    %x3 = math.expm1 %x2 : f32
    %x4 = math.log %x3 : f32
    %x5 = math.log10 %x4 : f32
    %x6 = math.log1p %x5 : f32
    %x7 = math.log2 %x6 : f32
    %x8 = math.rsqrt %x7 : f32
    %x9 = math.tanh %x8 : f32
    %x10 = math.sin %x9 : f32
    %x11 = math.cos %x10 : f32
    memref.store %x11, %A[%i] : memref<?xf32>
    %v0 = vector.load %B[%i] : memref<?xf16>, vector<8xf16>
    %v1 = math.erf %v0 : vector<8xf16>
    %v2 = math.exp %v1 : vector<8xf16>
    %v3 = math.exp2 %v2 : vector<8xf16>
    %v4 = math.tanh %v3 : vector<8xf16>
    %v5 = math.cos %v4 : vector<8xf16>
    vector.store %v5, %B[%i] : memref<?xf16>, vector<8xf16>
    gpu.return
  }
}
