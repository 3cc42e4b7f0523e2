// Barrier level: fences, CTA and warp synchronisation.

#ifndef ASYNC_PIPELINE_SYNC_OPS
#define ASYNC_PIPELINE_SYNC_OPS

include "AsyncPipelineBase.td"

def AsyncPipeline_FenceMBarrierInitOp : AsyncPipeline_Op<"fence.mbarrier_init"> {
  let summary = "makes this thread's mbarrier.init visible to the copy engine and the cluster";
  let description = [{
    A CTA or cluster barrier follows before anybody uses the barriers.

    Verified: the target is not sm_80.

    Ends as `fence.mbarrier_init.release.cluster`.

    ```mlir
    async_pipeline.fence.mbarrier_init
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_FenceProxyAsyncOp : AsyncPipeline_Op<"fence.proxy_async"> {
  let summary = "orders this thread's shared-memory accesses against the async proxy";
  let description = [{
    Needed between ordinary accesses and bulk copies of the same shared memory,
    on the path from one to the other.

    Verified: the target is not sm_80.

    Ends as `fence.proxy.async.shared::cta`.

    ```mlir
    async_pipeline.fence.proxy_async
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_CtaBarrierOp : AsyncPipeline_Op<"cta.barrier"> {
  let summary = "every thread of the CTA waits for every other";
  let description = [{
    Verified: outside `role`.

    Ends as `bar.sync 0`.

    ```mlir
    async_pipeline.cta.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

class AsyncPipeline_NamedBarrierOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic> {
  let arguments = (ins I32Attr:$id, I32Attr:$threads);
  let assemblyFormat = "`id` `(` $id `)` `threads` `(` $threads `)` attr-dict";
}

def AsyncPipeline_NamedBarrierSyncOp : AsyncPipeline_NamedBarrierOp<"named_barrier.sync"> {
  let summary = "waits until `threads` threads have come to a named barrier";
  let description = [{
    Verified: id is 1 to 15 (0 is the CTA barrier); threads is a positive
    multiple of 32, at most 1024.

    Ends as `barrier.sync`.

    ```mlir
    async_pipeline.named_barrier.sync id(1) threads(128)
    ```
  }];
}

def AsyncPipeline_NamedBarrierArriveOp : AsyncPipeline_NamedBarrierOp<"named_barrier.arrive"> {
  let summary = "comes to a named barrier without waiting";
  let description = [{
    Verified: as `named_barrier.sync`.

    Ends as `barrier.arrive`.

    ```mlir
    async_pipeline.named_barrier.arrive id(1) threads(128)
    ```
  }];
}

def AsyncPipeline_WarpSyncOp : AsyncPipeline_Op<"warp.sync"> {
  let summary = "every lane of the warp waits for every other";
  let description = [{
    Also orders the lanes' memory accesses. Verified: not in an elected role.

    Ends as `bar.warp.sync 0xffffffff`.

    ```mlir
    async_pipeline.warp.sync
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_ElectOp : AsyncPipeline_Op<"elect"> {
  let summary = "true in one lane of the warp";
  let description = [{
    All lanes of the warp run it. Verified: not in an elected role.

    Ends as `elect.sync`; on sm_80 as a test for lane 0.

    ```mlir
    %leader = async_pipeline.elect : i1
    ```
  }];
  let results = (outs I1:$leader);
  let assemblyFormat = "attr-dict `:` type($leader)";
}

#endif
