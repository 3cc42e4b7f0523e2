// Barrier level: shared-memory storage and the mbarrier.

#ifndef ASYNC_PIPELINE_BARRIER_OPS
#define ASYNC_PIPELINE_BARRIER_OPS

include "AsyncPipelineBase.td"

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def AsyncPipeline_BufferAllocOp : AsyncPipeline_Op<"buffer.alloc"> {
  let summary = "a ring of tiles in shared memory";
  let description = [{
    `offset` is the byte offset in the CTA's dynamic shared memory; the pass
    `async-pipeline-allocate` sets it.

    Verified: inside a `gpu.func` kernel, outside any loop or branch and before
    its `roles` op; the name as in `channel.create`; a given offset is a
    multiple of 128.

    Ends as an address in `.extern .shared` memory.

    ```mlir
    %tiles = async_pipeline.buffer.alloc "in.0" : !async_pipeline.buffer<4, 1024xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs AsyncPipeline_BufferType:$buffer);
  let assemblyFormat = "$name (`offset` `(` $offset^ `)`)? attr-dict `:` type($buffer)";
}

def AsyncPipeline_BufferSlotOp : AsyncPipeline_Op<"buffer.slot", [Pure]> {
  let summary = "one slot of a buffer as a workgroup memref";
  let description = [{
    Verified: the memref has the tile's shape and element type, the identity
    layout and `#gpu.address_space<workgroup>`; of a buffer with a swizzle it is of rank
    1, all elements in the order in which they lie. A constant stage is in range.

    Ends as an address computation.

    ```mlir
    %t = async_pipeline.buffer.slot %tiles[%stage]
        : !async_pipeline.buffer<4, 1024xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AsyncPipeline_BufferType:$buffer, I32:$stage);
  let results = (outs AnyMemRef:$view);
  let assemblyFormat = "$buffer `[` $stage `]` attr-dict `:` type($buffer) `to` type($view)";
}

def AsyncPipeline_MBarrierAllocOp : AsyncPipeline_Op<"mbarrier.alloc"> {
  let summary = "an array of mbarriers in shared memory";
  let description = [{
    `offset` is the byte offset in the CTA's dynamic shared memory; the pass
    `async-pipeline-allocate` sets it. `name` is used in reports and the manifest.

    Verified: inside a `gpu.func` kernel, outside any loop or branch and before
    its `roles` op; the name as in `channel.create`; a given offset is a
    multiple of 8.

    Ends as an address in `.extern .shared` memory.

    ```mlir
    %full = async_pipeline.mbarrier.alloc "in.full" : !async_pipeline.mbarrier<4>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs AsyncPipeline_MBarrierType:$barrier);
  let assemblyFormat = "$name (`offset` `(` $offset^ `)`)? attr-dict `:` type($barrier)";
}

//===----------------------------------------------------------------------===//
// mbarrier
//===----------------------------------------------------------------------===//

def AsyncPipeline_MBarrierInitOp : AsyncPipeline_Op<"mbarrier.init"> {
  let summary = "initialises every barrier of an array";
  let description = [{
    Phase 0, `count` arrivals wanted in each phase, no bytes. One thread runs it;
    other threads may use the barriers after a CTA barrier, the copy engine after
    `fence.mbarrier_init` and a CTA barrier.

    Verified: count is 1 to 1048575.

    Ends as `mbarrier.init.shared::cta.b64`, once per barrier.

    ```mlir
    async_pipeline.mbarrier.init %full count(1) : !async_pipeline.mbarrier<4>
    ```
  }];
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32Attr:$count);
  let assemblyFormat = "$barrier `count` `(` $count `)` attr-dict `:` type($barrier)";
}

def AsyncPipeline_MBarrierInvalOp : AsyncPipeline_Op<"mbarrier.inval"> {
  let summary = "ends the life of every barrier of an array";
  let description = [{
    One thread runs it, after all others have stopped using the barriers.

    Verified: the operand type only.

    Ends as `mbarrier.inval.shared::cta.b64`, once per barrier.

    ```mlir
    async_pipeline.mbarrier.inval %full : !async_pipeline.mbarrier<4>
    ```
  }];
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
}

def AsyncPipeline_MBarrierArriveOp : AsyncPipeline_Op<"mbarrier.arrive"> {
  let summary = "arrives on a barrier";
  let description = [{
    Takes `count` (default 1) off the pending arrivals; release at CTA scope.
    With `no_complete` the arrival must not end the phase. The optional result is
    the state for `mbarrier.test_wait` and, with `no_complete`, for
    `mbarrier.pending_count`.

    Verified: count is 1 to 1048575; a constant stage is in range. On sm_80 a
    count needs `no_complete`.

    Ends as `mbarrier.arrive{.noComplete}.shared::cta.b64`.

    ```mlir
    async_pipeline.mbarrier.arrive %empty[%stage] : !async_pipeline.mbarrier<4>
    %state = async_pipeline.mbarrier.arrive %b[%stage] count(2) no_complete : !async_pipeline.mbarrier<4> -> i64
    ```
  }];
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage,
                       DefaultValuedAttr<I32Attr, "1">:$count, UnitAttr:$no_complete);
  let results = (outs Optional<I64>:$state);
  let assemblyFormat = [{
    $barrier `[` $stage `]` (`count` `(` $count^ `)`)? (`no_complete` $no_complete^)?
    attr-dict `:` type($barrier) (`->` type($state)^)?
  }];
}

def AsyncPipeline_MBarrierArriveDropOp : AsyncPipeline_Op<"mbarrier.arrive_drop"> {
  let summary = "arrives and leaves the barrier for all later phases";
  let description = [{
    Takes `count` (default 1) off the arrivals that later phases expect, then
    arrives with it.

    Verified: count is 1 to 1048575; a constant stage is in range. On sm_80 the
    count is 1 unless `no_complete` is given.

    Ends as `mbarrier.arrive_drop{.noComplete}.shared::cta.b64`.

    ```mlir
    async_pipeline.mbarrier.arrive_drop %b[%stage] : !async_pipeline.mbarrier<1>
    ```
  }];
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage,
                       DefaultValuedAttr<I32Attr, "1">:$count, UnitAttr:$no_complete);
  let results = (outs Optional<I64>:$state);
  let assemblyFormat = [{
    $barrier `[` $stage `]` (`count` `(` $count^ `)`)? (`no_complete` $no_complete^)?
    attr-dict `:` type($barrier) (`->` type($state)^)?
  }];
}

class AsyncPipeline_MBarrierTxOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic> {
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage, I32:$bytes);
  let assemblyFormat = "$barrier `[` $stage `]` `,` $bytes attr-dict `:` type($barrier)";
}

def AsyncPipeline_MBarrierArriveExpectTxOp
    : AsyncPipeline_MBarrierTxOp<"mbarrier.arrive.expect_tx"> {
  let summary = "announces bytes and arrives, in one step";
  let description = [{
    Adds `bytes` to the tx-count, then arrives with count 1.

    Verified: constant bytes are 0 to 1048575; a constant stage is in range;
    the target is not sm_80.

    Ends as `mbarrier.arrive.expect_tx.shared::cta.b64`.

    ```mlir
    async_pipeline.mbarrier.arrive.expect_tx %full[%stage], %bytes : !async_pipeline.mbarrier<4>
    ```
  }];
}

def AsyncPipeline_MBarrierExpectTxOp : AsyncPipeline_MBarrierTxOp<"mbarrier.expect_tx"> {
  let summary = "announces bytes without arriving";
  let description = [{
    Adds `bytes` to the tx-count. Somebody else must still arrive in this phase.

    Verified: as `mbarrier.arrive.expect_tx`.

    Ends as `mbarrier.expect_tx.relaxed.cta.shared::cta.b64`.

    ```mlir
    async_pipeline.mbarrier.expect_tx %full[%stage], %bytes : !async_pipeline.mbarrier<4>
    ```
  }];
}

def AsyncPipeline_MBarrierCompleteTxOp : AsyncPipeline_MBarrierTxOp<"mbarrier.complete_tx"> {
  let summary = "completes bytes without a copy";
  let description = [{
    Takes `bytes` off the tx-count, as a finished copy would; moves no data.

    Verified: as `mbarrier.arrive.expect_tx`.

    Ends as `mbarrier.complete_tx.relaxed.cta.shared::cta.b64`.

    ```mlir
    async_pipeline.mbarrier.complete_tx %full[%stage], %bytes : !async_pipeline.mbarrier<4>
    ```
  }];
}

class AsyncPipeline_MBarrierParityOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic> {
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage, I32:$parity);
  let assemblyFormat = "$barrier `[` $stage `]` `,` $parity attr-dict `:` type($barrier)";
}

def AsyncPipeline_MBarrierWaitOp : AsyncPipeline_MBarrierParityOp<"mbarrier.wait"> {
  let summary = "blocks until the phase of a parity is complete";
  let description = [{
    Acquire at CTA scope. On a fresh barrier parity 1 passes at once.

    Verified: a constant parity is 0 or 1; a constant stage is in range.

    Ends as a loop of `mbarrier.try_wait.parity` on sm_90a and sm_100a, of
    `mbarrier.test_wait.parity` and `nanosleep` on sm_80.

    ```mlir
    async_pipeline.mbarrier.wait %full[%stage], %parity : !async_pipeline.mbarrier<4>
    ```
  }];
}

class AsyncPipeline_MBarrierPollParityOp<string opMnemonic>
    : AsyncPipeline_MBarrierParityOp<opMnemonic> {
  let results = (outs I1:$done);
}

def AsyncPipeline_MBarrierTestWaitParityOp
    : AsyncPipeline_MBarrierPollParityOp<"mbarrier.test_wait.parity"> {
  let summary = "asks whether the phase of a parity is complete";
  let description = [{
    Never blocks. Acquire at CTA scope when it returns true.

    Verified: as `mbarrier.wait`.

    Ends as `mbarrier.test_wait.parity.shared::cta.b64`.

    ```mlir
    %done = async_pipeline.mbarrier.test_wait.parity %b[%stage], %parity : !async_pipeline.mbarrier<4>
    ```
  }];
}

def AsyncPipeline_MBarrierTryWaitParityOp
    : AsyncPipeline_MBarrierPollParityOp<"mbarrier.try_wait.parity"> {
  let summary = "waits a while for the phase of a parity";
  let description = [{
    May suspend the thread and may return false before the phase is complete.

    Verified: as `mbarrier.wait`; the target is not sm_80.

    Ends as one `mbarrier.try_wait.parity.shared::cta.b64`.

    ```mlir
    %done = async_pipeline.mbarrier.try_wait.parity %b[%stage], %parity : !async_pipeline.mbarrier<4>
    ```
  }];
}

class AsyncPipeline_MBarrierPollStateOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic> {
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage, I64:$state);
  let results = (outs I1:$done);
  let assemblyFormat = "$barrier `[` $stage `]` `,` $state attr-dict `:` type($barrier)";
}

def AsyncPipeline_MBarrierTestWaitOp : AsyncPipeline_MBarrierPollStateOp<"mbarrier.test_wait"> {
  let summary = "asks whether the phase of a state is complete";
  let description = [{
    Never blocks. The state comes from an arrive on the same barrier in the
    current or the phase before.

    Verified: a constant stage is in range.

    Ends as `mbarrier.test_wait.shared::cta.b64`.

    ```mlir
    %done = async_pipeline.mbarrier.test_wait %b[%stage], %state : !async_pipeline.mbarrier<4>
    ```
  }];
}

def AsyncPipeline_MBarrierTryWaitOp : AsyncPipeline_MBarrierPollStateOp<"mbarrier.try_wait"> {
  let summary = "waits a while for the phase of a state";
  let description = [{
    May suspend the thread and may return false before the phase is complete.

    Verified: a constant stage is in range; the target is not sm_80.

    Ends as one `mbarrier.try_wait.shared::cta.b64`.

    ```mlir
    %done = async_pipeline.mbarrier.try_wait %b[%stage], %state : !async_pipeline.mbarrier<4>
    ```
  }];
}

def AsyncPipeline_MBarrierPendingCountOp : AsyncPipeline_Op<"mbarrier.pending_count", [Pure]> {
  let summary = "pending arrivals in a state";
  let description = [{
    Verified: the state is the result of an arrive or arrive_drop with `no_complete`.

    Ends as `mbarrier.pending_count.b64`.

    ```mlir
    %n = async_pipeline.mbarrier.pending_count %state : i32
    ```
  }];
  let arguments = (ins I64:$state);
  let results = (outs I32:$count);
  let assemblyFormat = "$state attr-dict `:` type($count)";
}

#endif
