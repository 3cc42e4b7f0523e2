// expect: 5:145: grid expression: at byte 0: unknown name `threads`; known are ceildiv, dim, floordiv, max, min, scalar and sm_count
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"threads">} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
