// expect: 11:9: 'async_pipeline.work.copy' op expected a memref on one side and a slot or buffer on the other, got !async_pipeline.slot<64xf32> and !async_pipeline.slot<64xf32>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %s to %s : !async_pipeline.slot<64xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}
