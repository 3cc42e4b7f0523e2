// expect: 6:47: grid expression: division by zero in `ceildiv(4, 0)`
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>,
    async_pipeline.grid = #async_pipeline.grid<"ceildiv(4, 0)">} {
    gpu.return
  }
}
