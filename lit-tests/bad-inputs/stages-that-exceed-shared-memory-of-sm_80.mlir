// expect: 5:3: shared memory: 196608 bytes of tiles and 48 bytes of barriers exceed the 166912 bytes that a CTA has on sm_80; the largest number of stages that fits is 2
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" stages(3) : !async_pipeline.channel<16384xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<16384xf32>
        async_pipeline.work.copy %A[%c0] to %s : memref<?xf32> to !async_pipeline.slot<16384xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<16384xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16384xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<16384xf32>
      }
    }
    gpu.return
  }
}
