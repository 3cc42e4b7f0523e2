// expect: 6:11: 'arith.constant' op expected async_pipeline.stages on an scf.for, got arith.constant
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant {async_pipeline.stages = 4 : i32} 0 : index
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
