// expect: 6:90: expected an innermost box extent of a multiple of 16 bytes, got 12
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m = async_pipeline.tma.descriptor %A : memref<?x?xf32> to !async_pipeline.tensor_map<4x3xf32>
    gpu.return
  }
}
