// expect: 16:9: redefinition of SSA value '%s'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
      ^here:
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
      ^there:
        async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
    %c0 = arith.constant 0 : index
      }
    }
  }
}
