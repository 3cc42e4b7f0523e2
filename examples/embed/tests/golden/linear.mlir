gpu.module @kernels {
  gpu.func @linear(%A: memref<?x?xf16> {async_pipeline.name = "A"} loc("linear.embed":2:15),
                   %B: memref<?x?xf16> {async_pipeline.name = "B"} loc("linear.embed":2:29),
                   %bias: memref<?xf16> {async_pipeline.name = "bias"} loc("linear.embed":2:43),
                   %C: memref<?x?xf16> {async_pipeline.name = "C"} loc("linear.embed":2:60)) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(3, 0), 128)", "ceildiv(dim(3, 1), 256)">} {
    %0 = gpu.block_id x loc("linear.embed":2:60)
    %1 = gpu.block_id y loc("linear.embed":2:60)
    %2 = arith.constant 128 : index loc("linear.embed":2:60)
    %3 = arith.constant 256 : index loc("linear.embed":2:60)
    %4 = arith.muli %0, %2 : index loc("linear.embed":2:60)
    %5 = arith.muli %1, %3 : index loc("linear.embed":2:60)
    %6 = async_pipeline.tile.alloc "a1" : !async_pipeline.buffer<128x64xf16> loc("linear.embed":3:16)
    %7 = async_pipeline.tile.alloc "b1" : !async_pipeline.buffer<256x64xf16> loc("linear.embed":3:16)
    %8 = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32> loc("linear.embed":3:16)
    %9 = arith.constant 0 : index loc("linear.embed":3:16)
    %10 = arith.constant 64 : index loc("linear.embed":3:16)
    %11 = arith.constant 1 : index loc("linear.embed":3:16)
    %12 = memref.dim %A, %11 : memref<?x?xf16> loc("linear.embed":3:16)
    scf.for %13 = %9 to %12 step %10 {
      async_pipeline.work.copy %A[%4, %13] to %6 : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16> loc("linear.embed":3:16)
      async_pipeline.work.copy %B[%5, %13] to %7 : memref<?x?xf16> to !async_pipeline.buffer<256x64xf16> loc("linear.embed":3:16)
      async_pipeline.work.mma %8 += %6 * transpose %7 : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16> loc("linear.embed":3:16)
    } {async_pipeline.stages = 4 : i32} loc("linear.embed":3:16)
    %14 = async_pipeline.work.load %8 : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32> loc("linear.embed":3:16)
    %15 = async_pipeline.work.load %bias[%5] : memref<?xf16> to vector<256xf16> loc("linear.embed":3:24)
    %16 = arith.extf %15 : vector<256xf16> to vector<256xf32> loc("linear.embed":3:24)
    %17 = vector.broadcast %16 : vector<256xf32> to vector<128x256xf32> loc("linear.embed":3:22)
    %18 = arith.addf %14, %17 : vector<128x256xf32> loc("linear.embed":3:22)
    %19 = arith.constant dense<0.0> : vector<128x256xf32> loc("linear.embed":3:9)
    %20 = arith.maximumf %18, %19 : vector<128x256xf32> loc("linear.embed":3:9)
    %21 = arith.truncf %20 : vector<128x256xf32> to vector<128x256xf16> loc("linear.embed":2:60)
    async_pipeline.work.store %21 to %C[%4, %5] : vector<128x256xf16> to memref<?x?xf16> loc("linear.embed":2:60)
    gpu.return loc("linear.embed":2:8)
  } loc("linear.embed":2:8)
} loc("linear.embed":2:8)
