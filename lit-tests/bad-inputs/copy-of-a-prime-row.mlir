// expect: 11:9: a tile of this shape takes 524 tensor copies, at most 64 are made; use smaller tiles
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<4x1048xf16>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<4x1048xf16>
        async_pipeline.work.copy %A[%c0, %c0] to %s : memref<?x?xf16> to !async_pipeline.slot<4x1048xf16>
        async_pipeline.channel.commit %s : !async_pipeline.slot<4x1048xf16>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<4x1048xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<4x1048xf16>
      }
    }
    gpu.return
  }
}
