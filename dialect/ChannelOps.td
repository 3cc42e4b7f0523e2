// Channel level: who hands what to whom, without barriers.

#ifndef ASYNC_PIPELINE_CHANNEL_OPS
#define ASYNC_PIPELINE_CHANNEL_OPS

include "AsyncPipelineBase.td"

def AsyncPipeline_RolesOp : AsyncPipeline_Op<"roles",
    [SingleBlock, NoTerminator, NoRegionArguments, SymbolTable]> {
  let summary = "splits the warps of the CTA into roles";
  let description = [{
    The region holds `role` ops only. Every role starts when the threads of the
    CTA reach this op and the op ends when all roles have ended. Roles take the
    CTA's warps in order: the first role has warp 0. A single role is the form
    without specialisation.

    Verified: inside a `gpu.func` kernel, outside any loop or branch; at least
    one `role`, nothing but `role` ops; at most 32 warps in all; one `roles` op
    per kernel.

    Ends as a branch on the warp id.

    ```mlir
    async_pipeline.roles {
      async_pipeline.role @load warps(1) { ... }
      async_pipeline.role @compute warps(8) { ... }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword custom<Body>($body)";
}

def AsyncPipeline_RoleOp : AsyncPipeline_Op<"role",
    [SingleBlock, NoTerminator, NoRegionArguments, Symbol, HasParent<"RolesOp">]> {
  let summary = "what a group of warps does";
  let description = [{
    The body is run by every thread of `warps` consecutive warps; with `elected`,
    by one elected thread of its first warp. Before
    `async-pipeline-insert-barriers` nobody writes `elected`: the pass sets it
    where a role does nothing but issue bulk copies.

    Verified: 1 to 32 warps; an elected role has one warp.

    Ends as an arm of the branch on the warp id; `elected` as one `elect.sync`.

    ```mlir
    async_pipeline.role @load warps(1) {
      %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<1024xf32>
      async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<1024xf32>
      async_pipeline.channel.commit %s : !async_pipeline.slot<1024xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I32Attr:$warps, UnitAttr:$elected);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `warps` `(` $warps `)` (`elected` $elected^)? attr-dict-with-keyword custom<Body>($body)
  }];
}

def AsyncPipeline_RoleThreadIdOp : AsyncPipeline_Op<"role.thread_id", [Pure]> {
  let summary = "index of this thread within its role";
  let description = [{
    0 to 32 * warps - 1. Verified: inside a `role`. Ends as `%tid.x` minus the
    first thread of the role.

    ```mlir
    %t = async_pipeline.role.thread_id : index
    ```
  }];
  let results = (outs Index:$id);
  let assemblyFormat = "attr-dict `:` type($id)";
}

def AsyncPipeline_RoleThreadCountOp : AsyncPipeline_Op<"role.thread_count", [Pure]> {
  let summary = "number of threads of this role";
  let description = [{
    Verified: inside a `role`. Ends as a constant.

    ```mlir
    %n = async_pipeline.role.thread_count : index
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict `:` type($count)";
}

def AsyncPipeline_ChannelCreateOp : AsyncPipeline_Op<"channel.create"> {
  let summary = "makes a ring of slots";
  let description = [{
    `stages` is the number of slots; without it the compiler's `stages` option
    decides (default 4). An explicit option overrides `stages` unless `exactly`
    stands behind it. `cp_async` asks for thread-issued copies also on targets
    that have bulk copies. With `tensor_memory` the slots are columns of tensor memory,
    each zero when it is acquired: `work.mma` adds to them, `work.load` reads them.

    `groups` is set by `async-pipeline-multistage`: the copies of each iteration are one
    group of `cp.async`, and no mbarrier is needed.

    Verified: inside a `gpu.func` kernel, outside any loop or branch and before
    its `roles` op; stages 1 to 64; the name has letters, digits, `_`, `-` and `.` only;
    with `tensor_memory` one field of 128 rows and 32, 64, 128, 256 or 512 columns of f32.

    Ends as shared memory for the tiles, or columns of tensor memory, and two arrays of
    mbarriers, full and empty.

    ```mlir
    %in = async_pipeline.channel.create "in" stages(4) exactly
        : !async_pipeline.channel<1024xf32, 1024xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I32Attr>:$stages,
                       UnitAttr:$exactly, UnitAttr:$cp_async, UnitAttr:$tensor_memory,
                       UnitAttr:$groups);
  let results = (outs AsyncPipeline_ChannelType:$channel);
  let assemblyFormat = [{
    $name (`stages` `(` $stages^ `)`)? (`exactly` $exactly^)? (`cp_async` $cp_async^)?
    (`tensor_memory` $tensor_memory^)? (`groups` $groups^)? attr-dict `:` type($channel)
  }];
}

class AsyncPipeline_TakeSlotOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic, [
    TypesMatchWith<"the slot has the fields of its channel", "channel", "slot",
                   "::async_pipeline::slotOfChannel($_self)">]> {
  let arguments = (ins AsyncPipeline_ChannelType:$channel);
  let results = (outs AsyncPipeline_SlotType:$slot);
  let assemblyFormat = "$channel attr-dict `:` type($channel)";
}

def AsyncPipeline_ChannelAcquireOp : AsyncPipeline_TakeSlotOp<"channel.acquire"> {
  let summary = "takes the next free slot for filling";
  let description = [{
    Blocks until the consumers have released the slot's previous contents.

    Verified: inside a `role`; the channel is made by `channel.create`; the slot
    is used up by exactly one `channel.commit` in the same block.

    Ends as a wait on the slot's empty barrier and, for bulk copies,
    `mbarrier.arrive.expect_tx` on its full barrier.

    ```mlir
    %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<1024xf32>
    ```
  }];
}

def AsyncPipeline_ChannelWaitOp : AsyncPipeline_TakeSlotOp<"channel.wait"> {
  let summary = "takes the next filled slot for reading";
  let description = [{
    Blocks until everything that the producer put into the slot is there.

    Verified: inside a `role`; the channel is made by `channel.create`; the slot
    is used up by exactly one `channel.release` in the same block.

    Ends as a wait on the slot's full barrier.

    ```mlir
    %s = async_pipeline.channel.wait %in : !async_pipeline.channel<1024xf32>
    ```
  }];
}

class AsyncPipeline_EndSlotOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic> {
  let arguments = (ins AsyncPipeline_SlotType:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}

def AsyncPipeline_ChannelCommitOp : AsyncPipeline_EndSlotOp<"channel.commit"> {
  let summary = "hands a filled slot to the consumers";
  let description = [{
    The slot counts as full once every copy into it has landed.

    Verified: the slot comes from `channel.acquire`, and nothing uses it afterwards.

    Ends as nothing for bulk copies (their bytes complete the barrier), as
    `cp.async.mbarrier.arrive` for thread-issued copies, and as `mbarrier.arrive`
    for slots that threads fill through `channel.view`.

    ```mlir
    async_pipeline.channel.commit %s : !async_pipeline.slot<1024xf32>
    ```
  }];
}

def AsyncPipeline_ChannelReleaseOp : AsyncPipeline_EndSlotOp<"channel.release"> {
  let summary = "gives a slot back to the producer";
  let description = [{
    Stands behind the last use in program order. Where the reader is
    asynchronous, the arrive is delayed until the read is done.

    Verified: the slot comes from `channel.wait`, and nothing uses it afterwards.

    Ends as `mbarrier.arrive` on the slot's empty barrier, one per warp.

    ```mlir
    async_pipeline.channel.release %s : !async_pipeline.slot<1024xf32>
    ```
  }];
}

def AsyncPipeline_ChannelViewOp : AsyncPipeline_Op<"channel.view", [Pure]> {
  let summary = "a slot's tile as a workgroup memref";
  let description = [{
    Any code may read the memref between `channel.wait` and `channel.release`,
    or write it between `channel.acquire` and `channel.commit`.

    Verified: the field exists; the memref has its shape and element type, the
    identity layout and `#gpu.address_space<workgroup>`.

    Ends as an address in shared memory.

    ```mlir
    %t = async_pipeline.channel.view %s field(1)
        : !async_pipeline.slot<1024xf32, 1024xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AsyncPipeline_SlotType:$slot, DefaultValuedAttr<I32Attr, "0">:$field);
  let results = (outs AnyMemRef:$view);
  let assemblyFormat = "$slot (`field` `(` $field^ `)`)? attr-dict `:` type($slot) `to` type($view)";
}

#endif
