// expect: 24:7: a product of f32 with an operand stored across K is not supported on sm_90a; store it along K
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf32> {async_pipeline.name = "A"}, %B: memref<?x?xf32> {async_pipeline.name = "B"}, %C: memref<?x?xf32> {async_pipeline.name = "C"}) kernel attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(2, 0), 128)", "ceildiv(dim(2, 1), 128)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %K = memref.dim %A, %c1 : memref<?x?xf32>
    %M = memref.dim %C, %c0 : memref<?x?xf32>
    %N = memref.dim %C, %c1 : memref<?x?xf32>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x32xf32>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<32x128xf32>
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %c128 : index
    %n = arith.muli %y, %c128 : index
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x128xf32>
    scf.for %k = %c0 to %K step %c32 {
      async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xf32> to !async_pipeline.buffer<128x32xf32>
      async_pipeline.work.copy %B[%k, %n] to %b : memref<?x?xf32> to !async_pipeline.buffer<32x128xf32>
      async_pipeline.work.mma %sum += %a * %b : !async_pipeline.accumulator<128x128xf32>, !async_pipeline.buffer<128x32xf32>, !async_pipeline.buffer<32x128xf32>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x128xf32> to vector<128x128xf32>
    async_pipeline.work.store %f to %C[%m, %n] : vector<128x128xf32> to memref<?x?xf32>
    gpu.return
  }
}
