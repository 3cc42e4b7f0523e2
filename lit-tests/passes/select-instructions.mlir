// Tests that functions become sequences of the right instructions, vectors staying vectors but for
// instructions on scalars, and that conversions and shifts keep their meaning where values do not fit.

// RUN: split-file %s %t
// RUN: pipeline-opt %t/functions.mlir --async-pipeline-select-instructions=target=sm_80 | FileCheck %t/functions.mlir
// RUN: pipeline-opt %t/functions.mlir --async-pipeline-select-instructions=target=sm_80 --cse --canonicalize | FileCheck %t/functions.mlir --check-prefix=ONCE
// RUN: pipeline-opt %t/kept.mlir --async-pipeline-select-instructions=target=sm_90a | FileCheck %t/kept.mlir
// RUN: pipeline-opt %t/integers.mlir --async-pipeline-select-instructions=target=sm_80 | FileCheck %t/integers.mlir
// RUN: pipeline-opt %t/integers.mlir --async-pipeline-select-instructions=target=sm_90a | FileCheck %t/integers.mlir --check-prefix=NEWER
// RUN: pipeline-opt %t/bytes.mlir --async-pipeline-select-instructions=target=sm_90a | FileCheck %t/bytes.mlir

//--- functions.mlir
gpu.module @kernels {
  // A function on f32 has no conversions; the product with log2 e is taken in two steps.
  // CHECK-LABEL: func @exp
  // CHECK-NOT: arith.extf
  // CHECK: %[[PART:.+]] = llvm.inline_asm "fma.rn.sat.f32 $0, $1, $2, $3;", "=f,f,f,f" %arg0
  // CHECK: %[[COUNT:.+]] = math.fma %[[PART]]
  // CHECK: math.fma %arg0
  // CHECK: %[[REST:.+]] = math.fma %arg0
  // CHECK: arith.shli
  // CHECK: %[[POWER:.+]] = llvm.inline_asm "ex2.approx.ftz.f32 $0, $1;", "=f,f" %[[REST]]
  // CHECK: arith.mulf %[[POWER]]
  gpu.func @exp(%x: f32) -> f32 {
    %y = math.exp %x : f32
    gpu.return %y : f32
  }

  // 16 bits are computed in f32 and rounded once; scalars come out of the vector and go back.
  // CHECK-LABEL: func @rsqrt
  // CHECK: %[[WIDE:.+]] = arith.extf %arg0 : vector<2xf16> to vector<2xf32>
  // CHECK: %[[FIRST:.+]] = vector.extract %[[WIDE]][0]
  // CHECK: %[[SECOND:.+]] = vector.extract %[[WIDE]][1]
  // CHECK: %[[A:.+]] = llvm.inline_asm "rsqrt.approx.f32 $0, $1;", "=f,f" %[[FIRST]]
  // CHECK: %[[B:.+]] = llvm.inline_asm "rsqrt.approx.f32 $0, $1;", "=f,f" %[[SECOND]]
  // CHECK: %[[BOTH:.+]] = vector.from_elements %[[A]], %[[B]] : vector<2xf32>
  // CHECK: arith.truncf %[[BOTH]] : vector<2xf32> to vector<2xf16>
  gpu.func @rsqrt(%x: vector<2xf16>) -> vector<2xf16> {
    %y = math.rsqrt %x : vector<2xf16>
    gpu.return %y : vector<2xf16>
  }

  // CHECK-LABEL: func @exp2
  // CHECK: %[[WIDE:.+]] = arith.extf %arg0 : bf16 to f32
  // CHECK: %[[POWER:.+]] = math.exp2 %[[WIDE]] : f32
  // CHECK: arith.truncf %[[POWER]] : f32 to bf16
  gpu.func @exp2(%x: bf16) -> bf16 {
    %y = math.exp2 %x : bf16
    gpu.return %y : bf16
  }

  // Polynomials are on whole vectors.
  // CHECK-LABEL: func @tanh
  // CHECK-COUNT-5: math.fma {{.+}} : vector<4xf32>
  // CHECK: %[[NEAR:.+]] = math.fma {{.+}} : vector<4xf32>
  // CHECK: arith.select {{.+}}, %{{.+}}, %[[NEAR]] : vector<4xi1>, vector<4xf32>
  // CHECK: math.copysign
  gpu.func @tanh(%x: vector<4xf32>) -> vector<4xf32> {
    %y = math.tanh %x : vector<4xf32>
    gpu.return %y : vector<4xf32>
  }

  // Long vectors are computed eight lanes at a time, so that few values are live.
  // CHECK-LABEL: func @long
  // CHECK: vector.from_elements {{.+}} : vector<8xbf16>
  // CHECK: math.exp2 {{.+}} : vector<8xf32>
  // CHECK: vector.from_elements {{.+}} : vector<4xbf16>
  // CHECK: math.exp2 {{.+}} : vector<4xf32>
  // CHECK: vector.from_elements {{.+}} : vector<12xbf16>
  gpu.func @long(%x: vector<12xbf16>) -> vector<12xbf16> {
    %y = math.exp2 %x : vector<12xbf16>
    gpu.return %y : vector<12xbf16>
  }

  // Inline PTX has no effects: of two equal ops one is left, of an unused one nothing.
  // ONCE-LABEL: func @twice
  // ONCE-COUNT-1: rsqrt.approx
  // ONCE-NOT: llvm.inline_asm
  // ONCE: return
  gpu.func @twice(%x: f32) -> (f32, f32) {
    %a = math.rsqrt %x : f32
    %b = math.rsqrt %x : f32
    %c = math.erf %x : f32
    gpu.return %a, %b : f32, f32
  }

  // CHECK-LABEL: func @others
  // CHECK-NOT: math.{{log|erf|expm1|sin|cos}}
  // CHECK: return
  gpu.func @others(%x: f32, %v: vector<3xbf16>, %w: vector<2xf32>) -> (f32, f32, f32, f32, f32, f32, vector<3xbf16>, f32, vector<2xf32>) {
    %a = math.log %x : f32
    %b = math.log2 %x : f32
    %c = math.log10 %x : f32
    %d = math.log1p %x : f32
    %e = math.expm1 %x : f32
    %f = math.erf %x : f32
    %g = math.erf %v : vector<3xbf16>
    %h = math.sin %x : f32
    %i = math.cos %w : vector<2xf32>
    gpu.return %a, %b, %c, %d, %e, %f, %g, %h, %i : f32, f32, f32, f32, f32, f32, vector<3xbf16>, f32, vector<2xf32>
  }
}

//--- kept.mlir
gpu.module @kernels {
  // What has an instruction, and what has none and is refused later, stays.
  // CHECK-LABEL: func @kept
  // CHECK-NEXT: math.exp2 %{{.+}} : f32
  // CHECK-NEXT: math.sqrt %{{.+}} : f16
  // CHECK-NEXT: math.exp %{{.+}} : f64
  // CHECK-NEXT: math.tanh %{{.+}} : vector<2x2xf32>
  // CHECK-NEXT: math.powf %{{.+}}, %{{.+}} : f32
  // CHECK-NEXT: arith.sitofp
  // CHECK-NEXT: arith.truncf %{{.+}} : f32 to f16
  // CHECK-NEXT: return
  gpu.func @kept(%x: f32, %h: f16, %d: f64, %v: vector<2x2xf32>, %n: i32) {
    %0 = math.exp2 %x : f32
    %1 = math.sqrt %h : f16
    %2 = math.exp %d : f64
    %3 = math.tanh %v : vector<2x2xf32>
    %4 = math.powf %x, %x : f32
    %5 = arith.sitofp %n : i32 to bf16
    %6 = arith.truncf %x : f32 to f16
    gpu.return
  }
}

//--- integers.mlir
gpu.module @kernels {
  // CHECK-LABEL: func @to_byte
  // CHECK: %[[WORD:.+]] = llvm.inline_asm "cvt.rzi.s32.f32 $0, $1;", "=r,f" %arg0
  // CHECK: %[[LEAST:.+]] = arith.maxsi %[[WORD]], %c-128_i32
  // CHECK: %[[MOST:.+]] = arith.minsi %[[LEAST]], %c127_i32
  // CHECK: arith.trunci %[[MOST]] : i32 to i8
  gpu.func @to_byte(%x: f32) -> i8 {
    %y = arith.fptosi %x : f32 to i8
    gpu.return %y : i8
  }

  // NaN is 0 also where 64 bits take part.
  // CHECK-LABEL: func @to_long
  // CHECK: %[[LONG:.+]] = llvm.inline_asm "cvt.rzi.u64.f64 $0, $1;", "=l,d" %arg0
  // CHECK: %[[NUMBER:.+]] = arith.cmpf ord, %arg0, %arg0
  // CHECK: arith.select %[[NUMBER]], %[[LONG]], %c0_i64
  gpu.func @to_long(%x: f64) -> i64 {
    %y = arith.fptoui %x : f64 to i64
    gpu.return %y : i64
  }

  // CHECK-LABEL: func @shifts
  // CHECK: %[[LEFT:.+]] = arith.shli %arg0, %arg1
  // CHECK: %[[FITS:.+]] = arith.cmpi ule, %arg1, %c31_i32
  // CHECK: arith.select %[[FITS]], %[[LEFT]], %c0_i32
  // CHECK: %[[COUNT:.+]] = arith.minui %arg1, %c31_i32
  // CHECK: arith.shrsi %arg0, %[[COUNT]]
  // CHECK: arith.shrui %arg0, %c5_i32
  // CHECK-NEXT: return
  gpu.func @shifts(%x: i32, %n: i32) {
    %c5 = arith.constant 5 : i32
    %a = arith.shli %x, %n : i32
    %b = arith.shrsi %x, %n : i32
    %c = arith.shrui %x, %c5 : i32
    gpu.return
  }

  // Any width works: of a truth value, shifting by 1 leaves nothing.
  // CHECK-LABEL: func @widths
  // CHECK: %[[FITS:.+]] = arith.cmpi ule, %arg1, %false
  // CHECK: arith.select %[[FITS]], %{{.+}}, %false
  // CHECK: arith.cmpi ule, %arg2, %cst
  // CHECK: arith.maxsi %{{.+}}, %c-64_i32
  // CHECK: arith.minsi %{{.+}}, %c63_i32
  gpu.func @widths(%x: f32, %p: i1, %v: vector<4xindex>) {
    %a = arith.shli %p, %p : i1
    %b = arith.shrui %v, %v : vector<4xindex>
    %c = arith.fptosi %x : f32 to i7
    gpu.return
  }

  // A target with the instruction needs no help.
  // CHECK-LABEL: func @to_bf16
  // CHECK: %[[CUT:.+]] = llvm.inline_asm "cvt.rz.f32.s64 $0, $1;", "=f,l" %arg0
  // CHECK: %[[BACK:.+]] = llvm.inline_asm "cvt.rzi.s64.f32 $0, $1;", "=l,f" %[[CUT]]
  // CHECK: arith.cmpi ne, %[[BACK]], %arg0
  // CHECK: arith.ori
  // CHECK: arith.truncf {{.+}} : f32 to bf16
  // NEWER-LABEL: func @to_bf16
  // NEWER-NEXT: arith.sitofp
  gpu.func @to_bf16(%n: i64) -> bf16 {
    %y = arith.sitofp %n : i64 to bf16
    gpu.return %y : bf16
  }
}

//--- bytes.mlir
gpu.module @kernels {
  // Two values make one instruction; of an odd number the last stands for both.
  // CHECK-LABEL: func @narrow
  // CHECK: %[[ONE:.+]] = vector.extract %arg0[0]
  // CHECK: %[[TWO:.+]] = vector.extract %arg0[1]
  // CHECK: %[[THREE:.+]] = vector.extract %arg0[2]
  // CHECK: llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f" %[[TWO]], %[[ONE]]
  // CHECK: llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f" %[[THREE]], %[[THREE]]
  // CHECK: vector.extract_strided_slice {{.+}} sizes = [3]
  gpu.func @narrow(%x: vector<3xf32>) -> vector<3xf8E4M3FN> {
    %y = arith.truncf %x : vector<3xf32> to vector<3xf8E4M3FN>
    gpu.return %y : vector<3xf8E4M3FN>
  }

  // CHECK-LABEL: func @widen
  // CHECK: llvm.inline_asm "cvt.rn.f16x2.e5m2x2 $0, $1;", "=r,h"
  // CHECK: arith.extf {{.+}} : f16 to f32
  gpu.func @widen(%x: f8E5M2) -> f32 {
    %y = arith.extf %x : f8E5M2 to f32
    gpu.return %y : f32
  }
}
