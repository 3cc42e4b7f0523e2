// A consumer that waits for a parity that never comes: compiled with wait-timeout it
// must trap and say which role waited for which barrier.
gpu.module @kernels {
  gpu.func @hang(%A: memref<?xf32> {async_pipeline.name = "A"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"2">} {
    %c0 = arith.constant 0 : index
    %stage = arith.constant 2 : i32
    %parity = arith.constant 0 : i32
    %ring = async_pipeline.mbarrier.alloc "ring" : !async_pipeline.mbarrier<4>
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      async_pipeline.mbarrier.init %ring count(1) : !async_pipeline.mbarrier<4>
    }
    async_pipeline.cta.barrier
    async_pipeline.roles {
      async_pipeline.role @idle warps(1) {
      }
      async_pipeline.role @stuck warps(1) {
        async_pipeline.mbarrier.wait %ring[%stage], %parity : !async_pipeline.mbarrier<4>
      }
    }
    gpu.return
  }
}
