// Tests that every piece of inline PTX is marked convergent and stays where it is: behind
// a divergent branch the warp sync is there once, not once per arm.

// RUN: pipeline-opt %s --target=sm_90a --emit=llvm -o %t.ll
// RUN: FileCheck %s --check-prefix=LLVM --input-file=%t.ll
// RUN: pipeline-opt %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// LLVM: define ptx_kernel void @k({{.*}} #[[FUNCTION:[0-9]+]]
// LLVM: call void asm sideeffect "bar.warp.sync 0xffffffff;", "~{memory}"() #[[MARK:[0-9]+]]
// LLVM-NOT: asm sideeffect
// LLVM: attributes #[[FUNCTION]] = { convergent
// LLVM: attributes #[[MARK]] = { convergent

// PTX-COUNT-1: bar.warp.sync
// PTX-NOT: bar.warp.sync
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %c16 : index
    scf.if %low {
      memref.store %one, %A[%t] : memref<?xf32>
    } else {
      memref.store %two, %A[%c0] : memref<?xf32>
    }
    async_pipeline.warp.sync
    scf.if %low {
      memref.store %two, %A[%t] : memref<?xf32>
    }
    gpu.return
  }
}
