// C = A · Bᵀ for row-major A (M×K), B (N×K) and C (M×N) of bf16, any sizes; sums are in f32.
//
// examples/gemm.mlir with another element type.
gpu.module @kernels {
  gpu.func @gemm_bf16(%A: memref<?x?xbf16> {async_pipeline.name = "A"},
                      %B: memref<?x?xbf16> {async_pipeline.name = "B"},
                      %C: memref<?x?xbf16> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<
        "ceildiv(dim(0, 0), 128) * ceildiv(dim(1, 0), 256)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %M = memref.dim %A, %c0 : memref<?x?xbf16>
    %N = memref.dim %B, %c0 : memref<?x?xbf16>
    %K = memref.dim %A, %c1 : memref<?x?xbf16>

    // The tile of this block: row x, column y of the tiles of C.
    %block = gpu.block_id x
    %rows = arith.ceildivui %M, %c128 : index
    %columns = arith.ceildivui %N, %c256 : index
    %in_group = arith.muli %columns, %c8 : index
    %group = arith.divui %block, %in_group : index
    %within = arith.remui %block, %in_group : index
    %first = arith.muli %group, %c8 : index
    %left = arith.subi %rows, %first : index
    %height = arith.minui %left, %c8 : index
    %down = arith.remui %within, %height : index
    %x = arith.addi %first, %down : index
    %y = arith.divui %within, %height : index
    %m = arith.muli %x, %c128 : index
    %n = arith.muli %y, %c256 : index

    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xbf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<256x64xbf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    scf.for %k = %c0 to %K step %c64 {
      async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xbf16> to !async_pipeline.buffer<128x64xbf16>
      async_pipeline.work.copy %B[%n, %k] to %b : memref<?x?xbf16> to !async_pipeline.buffer<256x64xbf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xbf16>, !async_pipeline.buffer<256x64xbf16>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    %h = arith.truncf %f : vector<128x256xf32> to vector<128x256xbf16>
    async_pipeline.work.store %h to %C[%m, %n] : vector<128x256xbf16> to memref<?x?xbf16>
    gpu.return
  }
}
