// expect: 10:74: unbalanced '<' character in pretty dialect name
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64