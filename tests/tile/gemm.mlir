// C = A · Bᵀ for row-major A (M×K), B (N×K) and C (M×N), any sizes.

gpu.module @kernels {
  gpu.func @gemm(%A: memref<?x?xf16> {async_pipeline.name = "A"},
                 %B: memref<?x?xf16> {async_pipeline.name = "B"},
                 %C: memref<?x?xf16> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<
        "ceildiv(dim(0, 0), 128)", "ceildiv(dim(1, 0), 256)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %c128 : index
    %n = arith.muli %y, %c256 : index
    %K = memref.dim %A, %c1 : memref<?x?xf16>

    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<256x64xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    scf.for %k = %c0 to %K step %c64 {
      async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      async_pipeline.work.copy %B[%n, %k] to %b : memref<?x?xf16> to !async_pipeline.buffer<256x64xf16>
      async_pipeline.work.mma %acc += %a * transpose %b
          : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16>
    } {async_pipeline.stages = 4 : i32}
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    %h = arith.truncf %f : vector<128x256xf32> to vector<128x256xf16>
    async_pipeline.work.store %h to %C[%m, %n] : vector<128x256xf16> to memref<?x?xf16>
    gpu.return
  }
}
