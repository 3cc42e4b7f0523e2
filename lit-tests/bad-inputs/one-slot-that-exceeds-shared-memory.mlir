// expect: 5:3: shared memory: 262144 bytes of tiles and 16 bytes of barriers exceed the 232448 bytes that a CTA has on sm_90a; not even 1 stage fits; use smaller tiles
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %in = async_pipeline.channel.create "in" stages(1) : !async_pipeline.channel<256x256xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<256x256xf32>
        async_pipeline.work.copy %A[%c0, %c0] to %s : memref<?x?xf32> to !async_pipeline.slot<256x256xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<256x256xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<256x256xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<256x256xf32>
      }
    }
    gpu.return
  }
}
