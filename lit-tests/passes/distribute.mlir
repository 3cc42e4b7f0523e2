// Tests that tiles in registers become the values of each thread: sums lie as mma.sync leaves them or as
// tcgen05.ld reads them, anything else in rows of 16 bytes, and only tiles that reach beyond a tensor are tested
// element by element.

// RUN: pipeline-opt %s --async-pipeline-distribute=target=sm_80 --canonicalize --cse | FileCheck %s
// RUN: pipeline-opt %s --async-pipeline-distribute=target=sm_100a --canonicalize --cse | FileCheck %s

gpu.module @m {

// Four warps share 64x32 sums: each thread carries 16 of them around the loop. A step loads two fragments of A and
// one of B that serves two products, all at addresses that were worked out in front of the loop.
//
// CHECK-LABEL: gpu.func @registers
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<?x?xf16>
// CHECK-SAME: %[[STAGE:[a-z0-9]+]]: i32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C32:.+]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
// CHECK: %[[A:.+]] = async_pipeline.buffer.alloc "a"
// CHECK: %[[B:.+]] = async_pipeline.buffer.alloc "b"
// CHECK: async_pipeline.role @compute warps(4) {
// CHECK-NEXT: %[[THREAD:.+]] = async_pipeline.role.thread_id
// CHECK-NEXT: arith.remui %[[THREAD]], %[[C32]]
// CHECK-NEXT: arith.divui %[[THREAD]], %[[C32]]
// CHECK: %[[ROW_A:.+]] = arith.index_cast %{{.+}} : index to i32
// CHECK: %[[ROW_B:.+]] = arith.index_cast %{{.+}} : index to i32
// CHECK: %[[SUMS:.+]]:16 = scf.for {{.+}} iter_args(%[[S0:[a-z0-9]+]] = %[[ZERO]], %[[S1:[a-z0-9]+]] = %[[ZERO]], %[[S2:[a-z0-9]+]] = %[[ZERO]], %[[S3:[a-z0-9]+]] = %[[ZERO]],
// CHECK-NEXT: %[[A0:.+]]:4 = async_pipeline.ldmatrix %[[A]][%[[STAGE]]], %[[ROW_A]] :
// CHECK-NEXT: %[[A1:.+]]:4 = async_pipeline.ldmatrix %[[A]][%[[STAGE]]], %[[ROW_A]] plus(512) :
// CHECK-NEXT: %[[B0:.+]]:4 = async_pipeline.ldmatrix %[[B]][%[[STAGE]]], %[[ROW_B]] :
// CHECK-NEXT: %[[D:.+]] = llvm.inline_asm asm_dialect = att "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f" %[[A0]]#0, %[[A0]]#1, %[[A0]]#2, %[[A0]]#3, %[[B0]]#0, %[[B0]]#1, %[[S0]], %[[S1]], %[[S2]], %[[S3]] :
// CHECK-NEXT: %[[D0:.+]] = llvm.extractvalue %[[D]][0]
// CHECK-NEXT: %[[D1:.+]] = llvm.extractvalue %[[D]][1]
// CHECK: llvm.inline_asm asm_dialect = att "mma.sync{{.+}} %[[A0]]#0, %[[A0]]#1, %[[A0]]#2, %[[A0]]#3, %[[B0]]#2, %[[B0]]#3, %
// CHECK: llvm.inline_asm asm_dialect = att "mma.sync{{.+}} %[[A1]]#0, %[[A1]]#1, %[[A1]]#2, %[[A1]]#3, %[[B0]]#0, %[[B0]]#1, %
// CHECK: llvm.inline_asm asm_dialect = att "mma.sync{{.+}} %[[A1]]#0, %[[A1]]#1, %[[A1]]#2, %[[A1]]#3, %[[B0]]#2, %[[B0]]#3, %
// CHECK-NOT: mma.sync
// CHECK: scf.yield %[[D0]], %[[D1]],
// Within C there are 8 stores of pairs and no test; beyond, each element has its own.
// CHECK-DAG: %[[M:.+]] = memref.dim %[[C]], %{{.+}}
// CHECK: %[[M_FITS:.+]] = arith.cmpi sge, %[[M]], %[[C64]]
// CHECK: %[[N:.+]] = memref.dim %[[C]], %{{.+}}
// CHECK: %[[N_FITS:.+]] = arith.cmpi sge, %[[N]], %[[C32]]
// CHECK: %[[WITHIN:.+]] = arith.andi %[[M_FITS]], %[[N_FITS]]
// CHECK-NEXT: scf.if %[[WITHIN]] {
// CHECK-NEXT: %[[PAIR:.+]] = vector.from_elements %[[SUMS]]#0, %[[SUMS]]#1 : vector<2xf32>
// CHECK-NEXT: %[[HALF:.+]] = arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xf16>
// CHECK-NEXT: vector.store %[[HALF]], {{.+}} {alignment = 4 : i64} :
// CHECK-NOT: scf.if
// CHECK-COUNT-7: vector.store
// CHECK-NEXT: } else {
// CHECK-NOT: vector.store
// CHECK-COUNT-16: memref.store
// CHECK-NOT: memref.store
// CHECK-NOT: async_pipeline.{{mma|work|tile}}
  gpu.func @registers(%C: memref<?x?xf16>, %n: index, %s: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 64x16xf16, swizzle 32>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 32x16xf16, swizzle 32>
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<64x32xf32>
        scf.for %i = %c0 to %n step %c1 {
          async_pipeline.mma.sync %sum += %a[%s] * transpose %b[%s]
              : !async_pipeline.accumulator<64x32xf32>, !async_pipeline.buffer<2, 64x16xf16, swizzle 32>, !async_pipeline.buffer<2, 32x16xf16, swizzle 32>
        }
        %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<64x32xf32> to vector<64x32xf32>
        %h = arith.truncf %f : vector<64x32xf32> to vector<64x32xf16>
        async_pipeline.work.store %h to %C[%c0, %c0] : vector<64x32xf16> to memref<?x?xf16>
      }
    }
    gpu.return
  }

// A thread reads its row of tensor memory 32 columns at a time, with the bias of the same columns.
//
// CHECK-LABEL: gpu.func @tensor
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<?x?xf16>
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<?xf16>
// CHECK: %[[SUMS:.+]] = async_pipeline.tcgen05.address
// CHECK: async_pipeline.role @epilogue warps(4) {
// The lane of tensor memory follows from the number of the thread in the CTA.
// CHECK-NEXT: %[[THREAD:.+]] = gpu.thread_id x
// CHECK-NEXT: %[[LANE:.+]] = arith.remui %[[THREAD]], %c128
// CHECK: %[[LENGTH:.+]] = memref.dim %[[BIAS]]
// CHECK: %[[FITS:.+]] = arith.cmpi sge, %[[LENGTH]], %c64
// CHECK: %[[WITHIN:.+]] = arith.andi %[[FITS]],
// CHECK-NEXT: scf.if %[[WITHIN]] {
// CHECK-NEXT: scf.for %[[AT:.+]] = %c0 to %c64 step %c32 {
// CHECK-NEXT:   %[[COLUMN:.+]] = arith.index_cast %[[AT]] : index to i32
// CHECK-NEXT:   %[[F:.+]] = async_pipeline.tcgen05.ld %[[SUMS]][%[[COLUMN]]] : <64> -> vector<32xf32>
// CHECK-NEXT:   async_pipeline.tcgen05.wait_ld
// CHECK-NEXT:   %[[R:.+]] = vector.load %[[BIAS]][%[[AT]]] {{.*}}: memref<?xf16>, vector<32xf16>
// CHECK-NEXT:   %[[X:.+]] = arith.extf %[[R]] : vector<32xf16> to vector<32xf32>
// CHECK-NEXT:   %[[G:.+]] = arith.addf %[[F]], %[[X]] : vector<32xf32>
// CHECK-NEXT:   %[[H:.+]] = arith.truncf %[[G]] : vector<32xf32> to vector<32xf16>
// CHECK-NEXT:   arith.muli %[[LANE]],
// CHECK:        vector.store %[[H]],
// CHECK-NOT:  vector.store
// CHECK:      } else {
// Every thread takes part in the load from tensor memory; the rest is masked by row and column.
// CHECK-NEXT: scf.for {{.+}} = %c0 to %c64 step %c32 {
// CHECK-NOT: scf.if
// CHECK:        async_pipeline.tcgen05.ld
// CHECK-NEXT:   async_pipeline.tcgen05.wait_ld
// CHECK:        vector.maskedload %[[BIAS]]
// CHECK:        vector.store
// CHECK:        vector.maskedstore
// CHECK-NOT: async_pipeline.work
  gpu.func @tensor(%C: memref<?x?xf16>, %bias: memref<?xf16>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %w = async_pipeline.buffer.alloc "w" : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.tcgen05.alloc %w[%zero] columns(64) : !async_pipeline.buffer<1, 1xi32>
    %sums = async_pipeline.tcgen05.address %w[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<64>
    async_pipeline.roles {
      async_pipeline.role @epilogue warps(4) {
        %f = async_pipeline.work.load %sums : !async_pipeline.tmem<64> to vector<128x64xf32>
        %r = async_pipeline.work.load %bias[%c0] : memref<?xf16> to vector<64xf16>
        %x = arith.extf %r : vector<64xf16> to vector<64xf32>
        %y = vector.broadcast %x : vector<64xf32> to vector<128x64xf32>
        %g = arith.addf %f, %y : vector<128x64xf32>
        %h = arith.truncf %g : vector<128x64xf32> to vector<128x64xf16>
        async_pipeline.work.store %h to %C[%c0, %c0] : vector<128x64xf16> to memref<?x?xf16>
      }
    }
    gpu.return
  }

// A tile of neither lies in rows of 16 bytes; where only the rows of C are unknown, only they are compared.
//
// CHECK-LABEL: gpu.func @rows
// CHECK-SAME: %{{[a-z0-9]+}}: memref<64x64xf32>, %[[C:[a-z0-9]+]]: memref<?x64xf32>
// CHECK: async_pipeline.role @compute warps(4) {
// CHECK: %[[M:.+]] = memref.dim %[[C]]
// CHECK-NEXT: %[[WITHIN:.+]] = arith.cmpi sge, %[[M]], %c64
// CHECK-NEXT: scf.if %[[WITHIN]] {
// CHECK-NEXT: %[[V:.+]] = vector.load {{.+}} {alignment = 16 : i64} : {{.+}}, vector<4xf32>
// CHECK-NEXT: %[[W:.+]] = arith.addf %[[V]], %[[V]] : vector<4xf32>
// CHECK-NEXT: vector.store %[[W]], {{.+}} {alignment = 16 : i64}
// CHECK-COUNT-7: vector.store
// CHECK-NEXT: } else {
// CHECK: scf.if
  gpu.func @rows(%A: memref<64x64xf32>, %C: memref<?x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %f = async_pipeline.work.load %A[%c0, %c0] : memref<64x64xf32> to vector<64x64xf32>
        %g = arith.addf %f, %f : vector<64x64xf32>
        async_pipeline.work.store %g to %C[%c0, %c0] : vector<64x64xf32> to memref<?x64xf32>
      }
    }
    gpu.return
  }
}
