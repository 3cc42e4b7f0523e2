// expect: 6:10: 'async_pipeline.buffer.alloc' op expected an offset that is a multiple of 128, got 64
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.buffer.alloc "a" offset(64) : !async_pipeline.buffer<1, 4xf32>
    gpu.return
  }
}
