// C = A · Bᵀ: two blocks go through all tiles of C, with an accumulator of each tile.

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16> {async_pipeline.name = "A"}, %B: memref<?x?xf16> {async_pipeline.name = "B"}, %C: memref<?x?xf32> {async_pipeline.name = "C"}) kernel attributes {async_pipeline.grid = #async_pipeline.grid<"2">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %M = memref.dim %C, %c0 : memref<?x?xf32>
    %N = memref.dim %C, %c1 : memref<?x?xf32>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<128x64xf16>
    %bid = gpu.block_id x
    %tr = arith.ceildivui %M, %c128 : index
    %tc = arith.ceildivui %N, %c128 : index
    %tiles = arith.muli %tr, %tc : index
    scf.for %t = %bid to %tiles step %c2 {
      %x = arith.divui %t, %tc : index
      %y = arith.remui %t, %tc : index
      %m = arith.muli %x, %c128 : index
      %n = arith.muli %y, %c128 : index
      %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x128xf32>
      scf.for %k = %c0 to %K step %c64 {
        async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
        async_pipeline.work.copy %B[%n, %k] to %b : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
        async_pipeline.work.mma %sum += %a * transpose %b : !async_pipeline.accumulator<128x128xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<128x64xf16>
      }
      %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x128xf32> to vector<128x128xf32>
      async_pipeline.work.store %f to %C[%m, %n] : vector<128x128xf32> to memref<?x?xf32>
    }
    gpu.return
  }
}
