gpu.module @kernels {
  gpu.func @up(%X: memref<?x?xbf16> {async_pipeline.name = "X"} loc("residual.embed":3:11),
               %W: memref<?x?xbf16> {async_pipeline.name = "W"} loc("residual.embed":3:26),
               %b: memref<?xbf16> {async_pipeline.name = "b"} loc("residual.embed":3:41),
               %H: memref<?x?xbf16> {async_pipeline.name = "H"} loc("residual.embed":3:56)) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(3, 0), 128)", "ceildiv(dim(3, 1), 256)">} {
    %0 = gpu.block_id x loc("residual.embed":3:56)
    %1 = gpu.block_id y loc("residual.embed":3:56)
    %2 = arith.constant 128 : index loc("residual.embed":3:56)
    %3 = arith.constant 256 : index loc("residual.embed":3:56)
    %4 = arith.muli %0, %2 : index loc("residual.embed":3:56)
    %5 = arith.muli %1, %3 : index loc("residual.embed":3:56)
    %6 = async_pipeline.tile.alloc "a1" : !async_pipeline.buffer<128x64xbf16> loc("residual.embed":4:16)
    %7 = async_pipeline.tile.alloc "b1" : !async_pipeline.buffer<256x64xbf16> loc("residual.embed":4:16)
    %8 = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32> loc("residual.embed":4:16)
    %9 = arith.constant 0 : index loc("residual.embed":4:16)
    %10 = arith.constant 64 : index loc("residual.embed":4:16)
    %11 = arith.constant 1 : index loc("residual.embed":4:16)
    %12 = memref.dim %X, %11 : memref<?x?xbf16> loc("residual.embed":4:16)
    scf.for %13 = %9 to %12 step %10 {
      async_pipeline.work.copy %X[%4, %13] to %6 : memref<?x?xbf16> to !async_pipeline.buffer<128x64xbf16> loc("residual.embed":4:16)
      async_pipeline.work.copy %W[%5, %13] to %7 : memref<?x?xbf16> to !async_pipeline.buffer<256x64xbf16> loc("residual.embed":4:16)
      async_pipeline.work.mma %8 += %6 * transpose %7 : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xbf16>, !async_pipeline.buffer<256x64xbf16> loc("residual.embed":4:16)
    } {async_pipeline.stages = 4 : i32} loc("residual.embed":4:16)
    %14 = async_pipeline.work.load %8 : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32> loc("residual.embed":4:16)
    %15 = async_pipeline.work.load %b[%5] : memref<?xbf16> to vector<256xbf16> loc("residual.embed":4:24)
    %16 = arith.extf %15 : vector<256xbf16> to vector<256xf32> loc("residual.embed":4:24)
    %17 = vector.broadcast %16 : vector<256xf32> to vector<128x256xf32> loc("residual.embed":4:22)
    %18 = arith.addf %14, %17 : vector<128x256xf32> loc("residual.embed":4:22)
    %19 = arith.constant dense<5.0e-1> : vector<128x256xf32> loc("residual.embed":4:9)
    %20 = arith.constant dense<1.0> : vector<128x256xf32> loc("residual.embed":4:9)
    %21 = arith.constant dense<7.071067690849304e-1> : vector<128x256xf32> loc("residual.embed":4:9)
    %22 = arith.mulf %18, %21 : vector<128x256xf32> loc("residual.embed":4:9)
    %23 = math.erf %22 : vector<128x256xf32> loc("residual.embed":4:9)
    %24 = arith.addf %23, %20 : vector<128x256xf32> loc("residual.embed":4:9)
    %25 = arith.mulf %18, %19 : vector<128x256xf32> loc("residual.embed":4:9)
    %26 = arith.mulf %25, %24 : vector<128x256xf32> loc("residual.embed":4:9)
    %27 = arith.truncf %26 : vector<128x256xf32> to vector<128x256xbf16> loc("residual.embed":3:56)
    async_pipeline.work.store %27 to %H[%4, %5] : vector<128x256xbf16> to memref<?x?xbf16> loc("residual.embed":3:56)
    gpu.return loc("residual.embed":3:8)
  } loc("residual.embed":3:8)
} loc("residual.embed":3:8)
gpu.module @kernels {
  gpu.func @down(%H: memref<?x?xbf16> {async_pipeline.name = "H"} loc("residual.embed":6:13),
                 %W: memref<?x?xbf16> {async_pipeline.name = "W"} loc("residual.embed":6:28),
                 %b: memref<?xbf16> {async_pipeline.name = "b"} loc("residual.embed":6:43),
                 %X: memref<?x?xbf16> {async_pipeline.name = "X"} loc("residual.embed":6:55),
                 %alpha: f32 {async_pipeline.name = "alpha"} loc("residual.embed":6:70),
                 %Y: memref<?x?xbf16> {async_pipeline.name = "Y"} loc("residual.embed":6:85)) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(5, 0), 128)", "ceildiv(dim(5, 1), 256)">} {
    %0 = gpu.block_id x loc("residual.embed":6:85)
    %1 = gpu.block_id y loc("residual.embed":6:85)
    %2 = arith.constant 128 : index loc("residual.embed":6:85)
    %3 = arith.constant 256 : index loc("residual.embed":6:85)
    %4 = arith.muli %0, %2 : index loc("residual.embed":6:85)
    %5 = arith.muli %1, %3 : index loc("residual.embed":6:85)
    %6 = async_pipeline.tile.alloc "a1" : !async_pipeline.buffer<128x64xbf16> loc("residual.embed":7:11)
    %7 = async_pipeline.tile.alloc "b1" : !async_pipeline.buffer<256x64xbf16> loc("residual.embed":7:11)
    %8 = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32> loc("residual.embed":7:11)
    %9 = arith.constant 0 : index loc("residual.embed":7:11)
    %10 = arith.constant 64 : index loc("residual.embed":7:11)
    %11 = arith.constant 1 : index loc("residual.embed":7:11)
    %12 = memref.dim %H, %11 : memref<?x?xbf16> loc("residual.embed":7:11)
    scf.for %13 = %9 to %12 step %10 {
      async_pipeline.work.copy %H[%4, %13] to %6 : memref<?x?xbf16> to !async_pipeline.buffer<128x64xbf16> loc("residual.embed":7:11)
      async_pipeline.work.copy %W[%5, %13] to %7 : memref<?x?xbf16> to !async_pipeline.buffer<256x64xbf16> loc("residual.embed":7:11)
      async_pipeline.work.mma %8 += %6 * transpose %7 : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xbf16>, !async_pipeline.buffer<256x64xbf16> loc("residual.embed":7:11)
    } {async_pipeline.stages = 4 : i32} loc("residual.embed":7:11)
    %14 = async_pipeline.work.load %8 : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32> loc("residual.embed":7:11)
    %15 = async_pipeline.work.load %b[%5] : memref<?xbf16> to vector<256xbf16> loc("residual.embed":7:19)
    %16 = arith.extf %15 : vector<256xbf16> to vector<256xf32> loc("residual.embed":7:19)
    %17 = vector.broadcast %16 : vector<256xf32> to vector<128x256xf32> loc("residual.embed":7:17)
    %18 = arith.addf %14, %17 : vector<128x256xf32> loc("residual.embed":7:17)
    %19 = async_pipeline.work.load %X[%4, %5] : memref<?x?xbf16> to vector<128x256xbf16> loc("residual.embed":8:9)
    %20 = arith.extf %19 : vector<128x256xbf16> to vector<128x256xf32> loc("residual.embed":8:9)
    %21 = vector.broadcast %alpha : f32 to vector<128x256xf32> loc("residual.embed":8:19)
    %22 = arith.mulf %21, %18 : vector<128x256xf32> loc("residual.embed":8:19)
    %23 = arith.addf %20, %22 : vector<128x256xf32> loc("residual.embed":8:11)
    %24 = arith.truncf %23 : vector<128x256xf32> to vector<128x256xbf16> loc("residual.embed":6:85)
    async_pipeline.work.store %24 to %Y[%4, %5] : vector<128x256xbf16> to memref<?x?xbf16> loc("residual.embed":6:85)
    gpu.return loc("residual.embed":6:8)
  } loc("residual.embed":6:8)
} loc("residual.embed":6:8)
