// Barrier level: the tensor core and tensor memory of sm_100a.

#ifndef ASYNC_PIPELINE_TENSOR_OPS
#define ASYNC_PIPELINE_TENSOR_OPS

include "AsyncPipelineBase.td"

//===----------------------------------------------------------------------===//
// Tensor memory: its life
//===----------------------------------------------------------------------===//

def AsyncPipeline_Tcgen05AllocOp : AsyncPipeline_Op<"tcgen05.alloc"> {
  let summary = "one warp allocates columns of tensor memory";
  let description = [{
    May wait until another CTA of the same multiprocessor has freed enough. The
    address is written into a slot; threads read it with `tcgen05.address` after a
    CTA barrier. Everything that is allocated is freed before the kernel ends.

    Verified: columns is a power of two from 32 to 512; the buffer is of `1xi32`; a
    constant stage is in range; not in an elected role, nor in one of several warps;
    the target is sm_100a.

    Ends as `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32`.

    ```mlir
    async_pipeline.tcgen05.alloc %where[%c0] columns(128) : !async_pipeline.buffer<1, 1xi32>
    ```
  }];
  let arguments = (ins AsyncPipeline_BufferType:$buffer, I32:$stage, I32Attr:$columns);
  let assemblyFormat = [{
    $buffer `[` $stage `]` `columns` `(` $columns `)` attr-dict `:` type($buffer)
  }];
}

def AsyncPipeline_Tcgen05AddressOp : AsyncPipeline_Op<"tcgen05.address"> {
  let summary = "reads where columns were allocated";
  let description = [{
    The slot is read where the op stands: behind a CTA barrier that follows
    `tcgen05.alloc`.

    Verified: a `tcgen05.alloc` into the buffer has the same number of columns, and
    none has another; a constant stage is in range; the target is sm_100a.

    Ends as `ld.shared::cta.b32`.

    ```mlir
    %acc = async_pipeline.tcgen05.address %where[%c0] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    ```
  }];
  let arguments = (ins AsyncPipeline_BufferType:$buffer, I32:$stage);
  let results = (outs AsyncPipeline_TmemType:$range);
  let assemblyFormat = "$buffer `[` $stage `]` attr-dict `:` type($buffer) `to` type($range)";
}

def AsyncPipeline_Tcgen05SliceOp : AsyncPipeline_Op<"tcgen05.slice", [Pure]> {
  let summary = "some columns of a range";
  let description = [{
    Verified: the range is made by `tcgen05.address`; constant columns are in range; the
    target is sm_100a.

    Ends as an addition.

    ```mlir
    %half = async_pipeline.tcgen05.slice %acc[%at] : !async_pipeline.tmem<256> to !async_pipeline.tmem<128>
    ```
  }];
  let arguments = (ins AsyncPipeline_TmemType:$range, I32:$at);
  let results = (outs AsyncPipeline_TmemType:$slice);
  let assemblyFormat = "$range `[` $at `]` attr-dict `:` type($range) `to` type($slice)";
}

def AsyncPipeline_Tcgen05RelinquishOp : AsyncPipeline_Op<"tcgen05.relinquish"> {
  let summary = "one warp gives up the CTA's right to allocate";
  let description = [{
    No `tcgen05.alloc` of the CTA follows; other CTAs may allocate.

    Verified: not in an elected role, nor in one of several warps; the target is
    sm_100a.

    Ends as `tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned`.

    ```mlir
    async_pipeline.tcgen05.relinquish
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_Tcgen05DeallocOp : AsyncPipeline_Op<"tcgen05.dealloc"> {
  let summary = "one warp frees columns of tensor memory";
  let description = [{
    Every access to them is over: a CTA barrier stands between.

    Verified: the range is made by `tcgen05.address`; not in an elected role, nor in
    one of several warps; the target is sm_100a.

    Ends as `tcgen05.dealloc.cta_group::1.sync.aligned.b32`.

    ```mlir
    async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
    ```
  }];
  let arguments = (ins AsyncPipeline_TmemType:$range);
  let assemblyFormat = "$range attr-dict `:` type($range)";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def AsyncPipeline_Tcgen05MmaOp : AsyncPipeline_Op<"tcgen05.mma"> {
  let summary = "multiplies two tiles in shared memory into tensor memory";
  let description = [{
    `D = A · Bᵀ`, or `D += A · Bᵀ` where the flag `accumulate` is true. One thread
    issues it; `tcgen05.commit` by the same thread tells when it is done. A is a tile
    of 128 rows, B of N rows, both with K along their rows; with `transpose` in front
    an operand is stored with K along its columns. D is in f32: N columns of the
    range from column `at` on, its row `i` in lane `i`.

    | elements of A and B | kind | K of one instruction |
    |---|---|---|
    | f16; bf16 | f16 | 16 |
    | f32, of which tf32 is used | tf32 | 8 |
    | f8E4M3FN and f8E5M2, also one of each | f8f6f4 | 32 |

    Verified: the range is made by `tcgen05.address` or `tcgen05.slice`; A and B are
    buffers of rank 2 with a swizzle and of element types as in the table; both have
    the same K, a multiple of that of one instruction; A has 128 rows, B 16 to 256 in
    steps of 16; no `transpose` on f32; a constant column is such that D fits; a
    constant stage is in range; the target is sm_100a.

    Ends as `tcgen05.mma.cta_group::1.kind::KIND`, one for each K of one instruction.

    ```mlir
    async_pipeline.tcgen05.mma %acc[%c0], %a[%stage], %b[%stage], %accumulate
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    ```
  }];
  let arguments = (ins AsyncPipeline_TmemType:$d, I32:$at,
                       AsyncPipeline_BufferType:$a, I32:$a_stage,
                       AsyncPipeline_BufferType:$b, I32:$b_stage, I1:$accumulate,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let assemblyFormat = [{
    $d `[` $at `]` `,` (`transpose` $transpose_a^)? $a `[` $a_stage `]` `,`
    (`transpose` $transpose_b^)? $b `[` $b_stage `]` `,` $accumulate
    attr-dict `:` type($d) `,` type($a) `,` type($b)
  }];
}

def AsyncPipeline_Tcgen05CommitOp : AsyncPipeline_Op<"tcgen05.commit"> {
  let summary = "arrives once this thread's products so far are done";
  let description = [{
    An asynchronous arrival of count 1 when every earlier `tcgen05.mma` of this
    thread is complete. It says nothing of `tcgen05.ld` and `tcgen05.st`.

    Verified: a constant stage is in range; the target is sm_100a.

    Ends as `tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64`.

    ```mlir
    async_pipeline.tcgen05.commit %empty[%stage] : !async_pipeline.mbarrier<3>
    ```
  }];
  let arguments = (ins AsyncPipeline_MBarrierType:$barrier, I32:$stage);
  let assemblyFormat = "$barrier `[` $stage `]` attr-dict `:` type($barrier)";
}

//===----------------------------------------------------------------------===//
// Tensor memory: registers
//===----------------------------------------------------------------------===//

def AsyncPipeline_Tcgen05LdOp : AsyncPipeline_Op<"tcgen05.ld"> {
  let summary = "one warp reads columns of its lanes";
  let description = [{
    All lanes of the warp run it with the same column. Lane `t` of a warp whose number
    in the CTA is `w` reads lane `32 * (w % 4) + t` of tensor memory: element `i` is
    column `at + i`. Before anybody is told that the columns may be overwritten or
    freed stands a `tcgen05.wait_ld`.

    Verified: the range is made by `tcgen05.address` or `tcgen05.slice`; the result is a vector of rank 1
    of i32 or f32, its length a power of two from 1 to 128; constant columns are in
    range; not in an elected role; the target is sm_100a.

    Ends as `tcgen05.ld.sync.aligned.32x32b.xN.b32`.

    ```mlir
    %v = async_pipeline.tcgen05.ld %acc[%c0] : !async_pipeline.tmem<128> -> vector<32xf32>
    ```
  }];
  let arguments = (ins AsyncPipeline_TmemType:$range, I32:$at);
  let results = (outs AnyVectorOfNonZeroRank:$values);
  let assemblyFormat = "$range `[` $at `]` attr-dict `:` type($range) `->` type($values)";
}

def AsyncPipeline_Tcgen05StOp : AsyncPipeline_Op<"tcgen05.st"> {
  let summary = "one warp writes columns of its lanes";
  let description = [{
    Lanes and columns are those of `tcgen05.ld`. Before anybody is told that the values
    are there stands a `tcgen05.wait_st`.

    Verified: as `tcgen05.ld`, of the vector that is written.

    Ends as `tcgen05.st.sync.aligned.32x32b.xN.b32`.

    ```mlir
    async_pipeline.tcgen05.st %v to %acc[%c0] : vector<32xf32> to !async_pipeline.tmem<128>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$values, AsyncPipeline_TmemType:$range, I32:$at);
  let assemblyFormat = [{
    $values `to` $range `[` $at `]` attr-dict `:` type($values) `to` type($range)
  }];
}

class AsyncPipeline_Tcgen05PlainOp<string opMnemonic> : AsyncPipeline_Op<opMnemonic> {
  let assemblyFormat = "attr-dict";
}

def AsyncPipeline_Tcgen05WaitLdOp : AsyncPipeline_Tcgen05PlainOp<"tcgen05.wait_ld"> {
  let summary = "waits until this warp's tcgen05.ld are done";
  let description = [{
    Verified: not in an elected role; the target is sm_100a.

    Ends as `tcgen05.wait::ld.sync.aligned`.

    ```mlir
    async_pipeline.tcgen05.wait_ld
    ```
  }];
}

def AsyncPipeline_Tcgen05WaitStOp : AsyncPipeline_Tcgen05PlainOp<"tcgen05.wait_st"> {
  let summary = "waits until this warp's tcgen05.st are done";
  let description = [{
    Verified: not in an elected role; the target is sm_100a.

    Ends as `tcgen05.wait::st.sync.aligned`.

    ```mlir
    async_pipeline.tcgen05.wait_st
    ```
  }];
}

def AsyncPipeline_Tcgen05FenceBeforeOp : AsyncPipeline_Tcgen05PlainOp<"tcgen05.fence_before"> {
  let summary = "orders this thread's tcgen05 operations before the arrive or barrier that follows";
  let description = [{
    Stands between the last access to tensor memory and what tells other threads of it;
    `tcgen05.commit` needs none.

    Verified: the target is sm_100a.

    Ends as `tcgen05.fence::before_thread_sync`.

    ```mlir
    async_pipeline.tcgen05.fence_before
    ```
  }];
}

def AsyncPipeline_Tcgen05FenceAfterOp : AsyncPipeline_Tcgen05PlainOp<"tcgen05.fence_after"> {
  let summary = "orders this thread's tcgen05 operations behind the wait or barrier before it";
  let description = [{
    Stands between a wait or barrier and the first access to tensor memory that relies
    on it.

    Verified: the target is sm_100a.

    Ends as `tcgen05.fence::after_thread_sync`.

    ```mlir
    async_pipeline.tcgen05.fence_after
    ```
  }];
}

#endif
