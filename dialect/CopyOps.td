// Barrier level: asynchronous copies and what signals their completion.

#ifndef ASYNC_PIPELINE_COPY_OPS
#define ASYNC_PIPELINE_COPY_OPS

include "AsyncPipelineBase.td"

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
    One thread issues it. Elements outside the tensor are not written, but rows are
    clipped at a multiple of 16 bytes only; coordinates are not negative. Completion is awaited with `bulk.commit_group`
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

#endif
