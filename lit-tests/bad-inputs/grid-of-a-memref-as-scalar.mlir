// expect: 5:3: grid expression: there is no scalar(0)
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"scalar(0)">} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
