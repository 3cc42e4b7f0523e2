// expect: 6:66: expected tile extents of at least 1, got 0
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<4, 0xf32>
    gpu.return
  }
}
