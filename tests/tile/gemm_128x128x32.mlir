// examples/gemm.mlir with tiles of 128x128 and steps of 32 along K.
gpu.module @kernels {
  gpu.func @gemm(%A: memref<?x?xf16> {async_pipeline.name = "A"},
                 %B: memref<?x?xf16> {async_pipeline.name = "B"},
                 %C: memref<?x?xf16> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<
        "ceildiv(dim(0, 0), 128) * ceildiv(dim(1, 0), 128)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 128 : index
    %M = memref.dim %A, %c0 : memref<?x?xf16>
    %N = memref.dim %B, %c0 : memref<?x?xf16>
    %K = memref.dim %A, %c1 : memref<?x?xf16>

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

    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x32xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<128x32xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x128xf32>
    scf.for %k = %c0 to %K step %c64 {
      async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x32xf16>
      async_pipeline.work.copy %B[%n, %k] to %b : memref<?x?xf16> to !async_pipeline.buffer<128x32xf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x128xf32>, !async_pipeline.buffer<128x32xf16>, !async_pipeline.buffer<128x32xf16>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x128xf32> to vector<128x128xf32>
    %h = arith.truncf %f : vector<128x128xf32> to vector<128x128xf16>
    async_pipeline.work.store %h to %C[%m, %n] : vector<128x128xf16> to memref<?x?xf16>
    gpu.return
  }
}
