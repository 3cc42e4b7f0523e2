// expect: 6:88: expected a tile of rank 1 to 5, got rank 6
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<1x1x1x1x1x4xf32>
    gpu.return
  }
}
