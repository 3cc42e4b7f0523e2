// expect: 6:11: a channel without roles: expected an async_pipeline.roles op in the kernel
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}
