// expect: 7:11: channel "in": expected a role that acquires its slots, got none
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
      }
      async_pipeline.role @use warps(1) {
      }
    }
    gpu.return
  }
}
