// expect: 5:3: 'gpu.func' op expected async_pipeline.grid to be an #async_pipeline.grid, got "dim(0, 0)"
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = "dim(0, 0)"} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
