// expect: 10:9: slots of a channel are taken inside scf.execute_region, through which the ring's position cannot be carried; expected scf.for, scf.if or scf.while
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        scf.execute_region {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          scf.yield
        }
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}
