// C = gelu(A · Bᵀ + bias) + R for row-major A (M×K), B (N×K), R and C (M×N) of f16 and a bias of N
// elements, any sizes; sums and everything on them are in f32.
//
// What examples/gemm.mlir says of roles and of the order of blocks holds here too.
gpu.module @kernels {
  gpu.func @gemm_bias_gelu(%A: memref<?x?xf16> {async_pipeline.name = "A"},
                           %B: memref<?x?xf16> {async_pipeline.name = "B"},
                           %bias: memref<?xf16> {async_pipeline.name = "bias"},
                           %R: memref<?x?xf16> {async_pipeline.name = "R"},
                           %C: memref<?x?xf16> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<
        "ceildiv(dim(0, 0), 128) * ceildiv(dim(1, 0), 256)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
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

    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<256x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    scf.for %k = %c0 to %K step %c64 {
      async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      async_pipeline.work.copy %B[%n, %k] to %b : memref<?x?xf16> to !async_pipeline.buffer<256x64xf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>

    // The bias of each column.
    %bias_h = async_pipeline.work.load %bias[%n] : memref<?xf16> to vector<256xf16>
    %bias_f = arith.extf %bias_h : vector<256xf16> to vector<256xf32>
    %bias_rows = vector.broadcast %bias_f : vector<256xf32> to vector<128x256xf32>
    %z = arith.addf %f, %bias_rows : vector<128x256xf32>

    // gelu(z) = z / 2 · (1 + erf(z / √2))
    %half = arith.constant dense<0.5> : vector<128x256xf32>
    %one = arith.constant dense<1.0> : vector<128x256xf32>
    %sqrt_half = arith.constant dense<0.707106769> : vector<128x256xf32>
    %scaled = arith.mulf %z, %sqrt_half : vector<128x256xf32>
    %erf = math.erf %scaled : vector<128x256xf32>
    %above = arith.addf %erf, %one : vector<128x256xf32>
    %z_half = arith.mulf %z, %half : vector<128x256xf32>
    %gelu = arith.mulf %z_half, %above : vector<128x256xf32>

    %r_h = async_pipeline.work.load %R[%m, %n] : memref<?x?xf16> to vector<128x256xf16>
    %r = arith.extf %r_h : vector<128x256xf16> to vector<128x256xf32>
    %out = arith.addf %gelu, %r : vector<128x256xf32>
    %h = arith.truncf %out : vector<128x256xf32> to vector<128x256xf16>
    async_pipeline.work.store %h to %C[%m, %n] : vector<128x256xf16> to memref<?x?xf16>
    gpu.return
  }
}
