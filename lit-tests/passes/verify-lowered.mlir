// Tests that what every target can select passes, and that the targets differ where they do.

// RUN: split-file %s %t
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-lowered=target=sm_80 | FileCheck %t/all.mlir
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-lowered=target=sm_90a | FileCheck %t/all.mlir
// RUN: pipeline-opt %t/all.mlir --async-pipeline-verify-lowered=target=sm_100a | FileCheck %t/all.mlir
// RUN: pipeline-opt %t/newer.mlir --async-pipeline-verify-lowered=target=sm_90a
// RUN: pipeline-opt %t/newer.mlir --async-pipeline-verify-lowered=target=sm_100a
// RUN: pipeline-opt %t/pairs.mlir --async-pipeline-verify-lowered=target=sm_90a
// RUN: not pipeline-opt %t/pairs.mlir --async-pipeline-verify-lowered=target=sm_100a 2>&1 | FileCheck %t/pairs.mlir

//--- all.mlir
// CHECK-LABEL: llvm.func @helper
llvm.func @helper(%x: f32) -> f32 {
  llvm.return %x : f32
}
// CHECK-LABEL: llvm.func @k
llvm.func @k(%x: f32, %h: f16, %n: i32, %p: !llvm.ptr) attributes {nvvm.kernel} {
  %0 = llvm.intr.exp2(%x) : (f32) -> f32
  %1 = llvm.intr.exp2(%h) : (f16) -> f16
  %2 = llvm.intr.sqrt(%x) : (f32) -> f32
  %3 = llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32
  %4 = llvm.frem %x, %x : f32
  %5 = llvm.intr.bswap(%n) : (i32) -> i32
  %6 = llvm.call @helper(%x) : (f32) -> f32
  %7 = nvvm.read.ptx.sreg.tid.x : i32
  %8 = nvvm.read.ptx.sreg.nctaid.y : i32
  %9 = llvm.atomicrmw add %p, %n syncscope("device") monotonic : !llvm.ptr, i32
  llvm.inline_asm has_side_effects "bar.sync 0;", "~{memory}" : () -> ()
  llvm.return
}

//--- newer.mlir
llvm.func @k() {
  %0 = nvvm.elect.sync -> i1
  nvvm.cluster.arrive
  nvvm.cluster.wait
  nvvm.fence.mbarrier.init
  llvm.return
}

//--- pairs.mlir
llvm.func @k(%v: vector<4xi32>) {
  // CHECK: error: 'bswap' on vector<4xi32> has no PTX instruction
  %0 = llvm.intr.bswap(%v) : (vector<4xi32>) -> vector<4xi32>
  llvm.return
}
