// Tests what is printed of a kernel's plan, and that the module stays as it is.

// RUN: pipeline-opt %examples/gemm.mlir --async-pipeline-print-plan=target=sm_100a 2>%t.plan | FileCheck %s --check-prefix=SAME
// RUN: FileCheck %s --check-prefix=PRODUCT --match-full-lines --strict-whitespace < %t.plan
// RUN: pipeline-opt %examples/gemm.mlir --async-pipeline-print-plan=target=sm_80 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: pipeline-opt %examples/gemm.mlir --async-pipeline-print-plan="target=sm_80 sync=groups" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: pipeline-opt %examples/stream_scale_2d.mlir --async-pipeline-print-plan="target=sm_90a stages=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: pipeline-opt %examples/handwritten_ring.mlir --async-pipeline-print-plan=target=sm_90a -o /dev/null 2>&1 | FileCheck %s --check-prefix=RING
// RUN: not pipeline-opt %examples/gemm.mlir --async-pipeline-print-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not pipeline-opt %s --async-pipeline-print-plan=target=sm_80 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUSED

// SAME: async_pipeline.tile.accumulator
// SAME-NOT: async_pipeline.roles

//      PRODUCT:kernel gemm for sm_100a: 6 warps, 192 threads
// PRODUCT-NEXT:  roles
// PRODUCT-NEXT:    epilogue  warps 0 to 3
// PRODUCT-NEXT:    load      warp 4        one elected thread
// PRODUCT-NEXT:    product   warp 5        one elected thread
// PRODUCT-NEXT:  channels
// PRODUCT-NEXT:    product  ── accumulator0 ─► epilogue  1 slot of 128x256xf32, by tcgen05
// PRODUCT-NEXT:    load     ── a_b ──────────► product   4 slots of 128x64xf16 + 256x64xf16, by tma
// PRODUCT-NEXT:  barriers
// PRODUCT-NEXT:    accumulator0.full   1 x  1 arrival per phase
// PRODUCT-NEXT:    accumulator0.empty  1 x  4 arrivals per phase
// PRODUCT-NEXT:    a_b.full            4 x  1 arrival and 49152 bytes per phase
// PRODUCT-NEXT:    a_b.empty           4 x  1 arrival per phase
// PRODUCT-NEXT:  shared memory: 196816 of 232448 bytes
// PRODUCT-NEXT:          0    65536 bytes  a_b.0               4 x 16384: 128x64xf16, swizzle 128
// PRODUCT-NEXT:      65536   131072 bytes  a_b.1               4 x 32768: 256x64xf16, swizzle 128
// PRODUCT-NEXT:     196608      128 bytes  tensor_memory       1 x 128: 1xi32
// PRODUCT-NEXT:     196736        8 bytes  accumulator0.full   1 x 8: mbarrier
//      PRODUCT:  tensor memory: 256 of 512 columns

// REGISTERS: remark: 3 of 4 stages fit
// REGISTERS: compute  warps 0 to 7  128 f32 sums in registers of each thread
// REGISTERS: compute  ── a_b ─► compute  3 slots of 128x64xf16 + 256x64xf16, by cp_async
// REGISTERS: a_b.full   3 x  256 arrivals per phase

// GROUPS: channels
// GROUPS-NOT: barriers
// GROUPS: shared memory: 147456 of 166912 bytes

// STREAM: kernel stream_scale_2d for sm_90a: 6 warps, 192 threads
// STREAM: compute  ── out ─► store {{ *}}2 slots of 32x64xf32, by threads

// RING: kernel handwritten_ring for sm_90a: 12 warps, 384 threads
// RING: empty  4 x  8 arrivals per phase

// NOWHERE: error: no target given

// REFUSED: error: expected a buffer that a product reads, got none
gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}
