// Barrier level: every barrier, byte count, parity, wait and fence is explicit.

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
    layout and `#gpu.address_space<workgroup>`. A constant stage is in range.

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

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

def AsyncPipeline_CpAsyncCopyOp : AsyncPipeline_Op<"cp_async.copy", [AttrSizedOperandSegments]> {
  let summary = "one thread copies 4, 8 or 16 bytes from global to shared memory";
  let description = [{
    Asynchronous. With `valid` only that many bytes are read and the rest is
    zero; `valid` 0 reads nothing.

    Verified: bytes is 4, 8 or 16; source in global memory, target in workgroup
    memory, element types equal; one index per dimension.

    Ends as `cp.async.cg.shared.global` for 16 bytes, `cp.async.ca.shared.global`
    for fewer.

    ```mlir
    async_pipeline.cp_async.copy %A[%i] to %t[%j] bytes(16) valid(%v)
        : memref<?xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$source_indices,
                       AnyMemRef:$target, Variadic<Index>:$target_indices,
                       Optional<I32>:$valid, I32Attr:$bytes);
  let assemblyFormat = [{
    $source `[` $source_indices `]` `to` $target `[` $target_indices `]`
    `bytes` `(` $bytes `)` (`valid` `(` $valid^ `)`)?
    attr-dict `:` type($source) `to` type($target)
  }];
}

def AsyncPipeline_CpAsyncMBarrierArriveOp : AsyncPipeline_Op<"cp_async.mbarrier.arrive"> {
  let summary = "arrives once this thread's copies so far are done";
  let description = [{
    An asynchronous arrive, triggered when every earlier `cp_async.copy` of this
    thread has landed. Without `noinc` the pending count is raised by one first,
    so that the barrier's count does not include it; with `noinc` the count
    includes one arrival per executing thread.

    Verified: a constant stage is in range.

    Ends as `cp.async.mbarrier.arrive{.noinc}.shared::cta.b64`.

    ```mlir
    async_pipeline.cp_async.mbarrier.arrive %full[%stage] noinc : !async_pipeline.mbarrier<4>
    ```
  }];
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage, UnitAttr:$noinc);
  let assemblyFormat = "$barrier `[` $stage `]` (`noinc` $noinc^)? attr-dict `:` type($barrier)";
}

def AsyncPipeline_CpAsyncCommitGroupOp : AsyncPipeline_Op<"cp_async.commit_group"> {
  let summary = "closes this thread's group of cp.async copies";
  let description = [{
    An empty group is legal. Verified: nothing beyond the form.

    Ends as `cp.async.commit_group`.

    ```mlir
    async_pipeline.cp_async.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_CpAsyncWaitGroupOp : AsyncPipeline_Op<"cp_async.wait_group"> {
  let summary = "waits until at most `pending` of this thread's youngest groups are open";
  let description = [{
    What landed is visible to this thread only; others need a CTA barrier.

    Verified: pending is 0 or more.

    Ends as `cp.async.wait_group`.

    ```mlir
    async_pipeline.cp_async.wait_group pending(2)
    ```
  }];
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "`pending` `(` $pending `)` attr-dict";
}

//===----------------------------------------------------------------------===//
// Bulk and tensor copies
//===----------------------------------------------------------------------===//

def AsyncPipeline_BulkLoadOp : AsyncPipeline_Op<"bulk.load", [AttrSizedOperandSegments]> {
  let summary = "copies a run of bytes from global to shared memory";
  let description = [{
    One thread issues it; completion takes `bytes` off the barrier's tx-count.

    Verified: source in global memory, target in workgroup memory, element types
    equal; constant bytes are a positive multiple of 16; one index per dimension;
    the target is not sm_80.

    Ends as `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`.

    ```mlir
    async_pipeline.bulk.load %A[%i] to %t[%c0], %bytes, %full[%stage]
        : memref<?xf32> to memref<1024xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$source_indices,
                       AnyMemRef:$target, Variadic<Index>:$target_indices,
                       I32:$bytes, AsyncPipeline_MBarrierType:$barrier, I32:$stage);
  let assemblyFormat = [{
    $source `[` $source_indices `]` `to` $target `[` $target_indices `]` `,` $bytes `,`
    $barrier `[` $stage `]` attr-dict `:` type($source) `to` type($target) `,` type($barrier)
  }];
}

def AsyncPipeline_BulkStoreOp : AsyncPipeline_Op<"bulk.store", [AttrSizedOperandSegments]> {
  let summary = "copies a run of bytes from shared to global memory";
  let description = [{
    One thread issues it; completion is awaited with `bulk.commit_group` and
    `bulk.wait_group` by the same thread.

    Verified: as `bulk.load`, the other way round.

    Ends as `cp.async.bulk.global.shared::cta.bulk_group`.

    ```mlir
    async_pipeline.bulk.store %t[%c0] to %C[%i], %bytes
        : memref<1024xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$source_indices,
                       AnyMemRef:$target, Variadic<Index>:$target_indices, I32:$bytes);
  let assemblyFormat = [{
    $source `[` $source_indices `]` `to` $target `[` $target_indices `]` `,` $bytes
    attr-dict `:` type($source) `to` type($target)
  }];
}

def AsyncPipeline_TmaDescriptorOp : AsyncPipeline_Op<"tma.descriptor", [Pure]> {
  let summary = "a tensor map of a kernel argument";
  let description = [{
    The launcher encodes the map from the launch manifest. The pass
    `async-pipeline-materialize-tensor-maps` brings these ops to the kernel's
    entry, one per argument and box.

    Verified: the memref is in global memory, of the box's rank and element type,
    its innermost stride 1; the target is not sm_80.

    Ends as a 128-byte `.param` of the kernel.

    ```mlir
    %map = async_pipeline.tma.descriptor %A : memref<?x?xf32> to !async_pipeline.tensor_map<64x64xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$memref);
  let results = (outs AsyncPipeline_TensorMapType:$map);
  let assemblyFormat = "$memref attr-dict `:` type($memref) `to` type($map)";
}

def AsyncPipeline_TmaLoadOp : AsyncPipeline_Op<"tma.load"> {
  let summary = "copies a box of a tensor into a slot";
  let description = [{
    One thread issues it. Coordinates are element indices, outermost dimension
    first; elements outside the tensor arrive as zero. Completion takes the bytes
    of the whole box off the barrier's tx-count. `at` is the first element of the
    slot that is written (default 0).

    Verified: one coordinate per dimension; box and tile have the same element
    type; the box fits behind `at`, which is a multiple of 128 bytes; a constant
    stage is in range; the target is not sm_80.

    Ends as `cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes`.

    ```mlir
    async_pipeline.tma.load %map[%i, %j] to %tiles[%stage], %full[%stage]
        : !async_pipeline.tensor_map<64x64xf32> to !async_pipeline.buffer<4, 64x64xf32>, !async_pipeline.mbarrier<4>
    ```
  }];
  let arguments = (ins AsyncPipeline_TensorMapType:$map, Variadic<I32>:$coordinates,
                       AsyncPipeline_BufferType:$buffer, I32:$slot,
                       AsyncPipeline_MBarrierType:$barrier, I32:$stage,
                       DefaultValuedAttr<I64Attr, "0">:$at);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $buffer `[` $slot `]` (`at` `(` $at^ `)`)? `,`
    $barrier `[` $stage `]` attr-dict `:` type($map) `to` type($buffer) `,` type($barrier)
  }];
}

def AsyncPipeline_TmaStoreOp : AsyncPipeline_Op<"tma.store"> {
  let summary = "copies a slot into a box of a tensor";
  let description = [{
    One thread issues it. Elements outside the tensor are not written;
    coordinates are not negative. Completion is awaited with `bulk.commit_group`
    and `bulk.wait_group` by the same thread.

    Verified: as `tma.load`.

    Ends as `cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group`.

    ```mlir
    async_pipeline.tma.store %tiles[%stage] to %map[%i, %j]
        : !async_pipeline.buffer<4, 64x64xf32> to !async_pipeline.tensor_map<64x64xf32>
    ```
  }];
  let arguments = (ins AsyncPipeline_BufferType:$buffer, I32:$slot,
                       AsyncPipeline_TensorMapType:$map, Variadic<I32>:$coordinates,
                       DefaultValuedAttr<I64Attr, "0">:$at);
  let assemblyFormat = [{
    $buffer `[` $slot `]` (`at` `(` $at^ `)`)? `to` $map `[` $coordinates `]`
    attr-dict `:` type($buffer) `to` type($map)
  }];
}

def AsyncPipeline_BulkCommitGroupOp : AsyncPipeline_Op<"bulk.commit_group"> {
  let summary = "closes this thread's group of bulk stores";
  let description = [{
    Verified: the target is not sm_80.

    Ends as `cp.async.bulk.commit_group`.

    ```mlir
    async_pipeline.bulk.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_BulkWaitGroupOp : AsyncPipeline_Op<"bulk.wait_group"> {
  let summary = "waits until at most `pending` of this thread's bulk groups are open";
  let description = [{
    With `read` it waits only until the sources have been read.

    Verified: pending is 0 or more; the target is not sm_80.

    Ends as `cp.async.bulk.wait_group{.read}`.

    ```mlir
    async_pipeline.bulk.wait_group pending(0) read
    ```
  }];
  let arguments = (ins I32Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "`pending` `(` $pending `)` (`read` $read^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Fences, CTA and warp synchronisation
//===----------------------------------------------------------------------===//

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
