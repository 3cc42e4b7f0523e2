// Tests that a kernel becomes an llvm.func whose parameters are tensor maps, base pointers, dynamic sizes
// and strides, then scalars, with memrefs rebuilt inside.

// RUN: pipeline-opt %s --async-pipeline-lower-kernel-abi=target=sm_90a | FileCheck %s
// RUN: pipeline-opt %s --async-pipeline-lower-kernel-abi="target=sm_90a wait-timeout=5" | FileCheck %s --check-prefix=TIMEOUT

// CHECK: llvm.mlir.global external @async_pipeline_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-NOT: llvm.mlir.global
// TIMEOUT: llvm.mlir.global external @async_pipeline_wait_report({{.+}}) {addr_space = 1 : i32} : !llvm.array<2 x i64>

// CHECK: llvm.func @k(
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: %[[BASE_A:[a-z0-9]+]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}
// CHECK-SAME: %[[BASE_B:[a-z0-9]+]]: !llvm.ptr<1> {llvm.align = 8 : i64}
// CHECK-SAME: %[[SIZE_A:[a-z0-9]+]]: i64
// CHECK-SAME: %[[SIZE_B0:[a-z0-9]+]]: i64
// CHECK-SAME: %[[SIZE_B1:[a-z0-9]+]]: i64
// CHECK-SAME: %[[PITCH_B:[a-z0-9]+]]: i64
// CHECK-SAME: %[[ALPHA:[a-z0-9]+]]: f32
// CHECK-SAME: %[[N:[a-z0-9]+]]: i64
// CHECK-SAME: attributes {
// The manifest's part of the kernel, arguments by name.
// CHECK-SAME: async_pipeline.kernel = "{\22name\22:\22k\22,\22block\22:[64,1,1]
// CHECK-SAME: \22grid\22:[{\22ceildiv\22:[{\22dim\22:{\22argument\22:0,\22dimension\22:0}},{\22const\22:64}]}
// CHECK-SAME: \22dynamic_shared_bytes\22:520
// CHECK-SAME: \22name\22:\22A\22
// CHECK-SAME: \22alignment\22:8,\22aliases\22:true
// CHECK-SAME: \22kind\22:\22tensor_map\22,\22argument\22:0,\22element_type\22:\22f32\22,\22box\22:[64]
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>
// CHECK-DAG: %[[INDEX:.+]] = arith.index_cast %[[N]] : i64 to index
// CHECK-DAG: %[[MEMREF_A:.+]] = builtin.unrealized_conversion_cast %{{.+}} : !llvm.struct<{{.+}}> to memref<?xf32>
// CHECK-DAG: %[[TENSOR_MAP:.+]] = builtin.unrealized_conversion_cast %[[MAP]] : !llvm.ptr to !async_pipeline.tensor_map<64xf32>
// CHECK: memref.store %[[ALPHA]], %[[MEMREF_A]][%[[INDEX]]]
// CHECK: llvm.return
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = "A"},
              %alpha: f32,
              %B: memref<?x?xf16, strided<[?, 1]>> {async_pipeline.align = 8 : i64, async_pipeline.may_alias},
              %n: index) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(0, 0), 64)">,
                  async_pipeline.shared_bytes = 520 : i64} {
    %map = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %t = async_pipeline.buffer.alloc "t" offset(0) : !async_pipeline.buffer<2, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" offset(512) : !async_pipeline.mbarrier<1>
    memref.store %alpha, %A[%n] : memref<?xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) elected {
        %i = arith.constant 0 : i32
        async_pipeline.tma.load %map[%i] to %t[%i], %b[%i]
            : !async_pipeline.tensor_map<64xf32> to !async_pipeline.buffer<2, 64xf32>, !async_pipeline.mbarrier<1>
      }
      async_pipeline.role @use warps(1) {
      }
    }
    gpu.return
  }

  // Strides that follow from the sizes are no parameters, and neither is anything static.
  // CHECK: llvm.func @static_sizes(%{{[a-z0-9]+}}: !llvm.ptr<1> {{{[^}]+}}}) attributes
  gpu.func @static_sizes(%A: memref<4x8xi8>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    gpu.return
  }
  // CHECK: llvm.func @rows(%{{[a-z0-9]+}}: !llvm.ptr<1> {{{[^}]+}}}, %[[ROWS:[a-z0-9]+]]: i64, %[[COLUMNS:[a-z0-9]+]]: i64) attributes
  // CHECK: llvm.mul %{{.+}}, %[[COLUMNS]] : i64
  gpu.func @rows(%A: memref<?x?xi8>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    gpu.return
  }
}
