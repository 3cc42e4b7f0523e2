// Tests that rows which no cp.async moves are refused.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-insert-barriers=target=sm_80

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<4x3xf16>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<4x3xf16>
        // expected-error @below {{a row of 3 elements of 2 bytes is no multiple of 4 bytes, the smallest cp.async}}
        async_pipeline.work.copy %A[%j, %j] to %s : memref<?x?xf16> to !async_pipeline.slot<4x3xf16>
        async_pipeline.channel.commit %s : !async_pipeline.slot<4x3xf16>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<4x3xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<4x3xf16>
      }
    }
    gpu.return
  }
}
