// expect: 11:9: the argument promises an alignment of 8 bytes, and tensor copies on sm_90a need 16; write cp_async on the channel to copy by threads
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32> {async_pipeline.align = 8 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
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
