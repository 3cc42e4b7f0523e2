// expect: 11:18: 'async_pipeline.channel.acquire' op expected its slot to be used by channel and work ops only, got scf.for
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %c1 = arith.constant 1 : index
        %first = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        %last = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %first) -> (!async_pipeline.slot<64xf32>) {
          async_pipeline.channel.commit %t : !async_pipeline.slot<64xf32>
          %next = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          scf.yield %next : !async_pipeline.slot<64xf32>
        }
        async_pipeline.channel.commit %last : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}
