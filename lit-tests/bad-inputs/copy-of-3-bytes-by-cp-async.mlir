// expect: 11:9: a row of 3 elements of 1 bytes is no multiple of 4 bytes, the smallest cp.async
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xi8>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<3xi8>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<3xi8>
        async_pipeline.work.copy %A[%c0] to %s : memref<?xi8> to !async_pipeline.slot<3xi8>
        async_pipeline.channel.commit %s : !async_pipeline.slot<3xi8>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<3xi8>
        async_pipeline.channel.release %s : !async_pipeline.slot<3xi8>
      }
    }
    gpu.return
  }
}
