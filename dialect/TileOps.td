// Tile level: storage that whole tiles live in, and the work that is done on them.
//
// The `work` ops are also legal at the channel level, on slots.

#ifndef ASYNC_PIPELINE_TILE_OPS
#define ASYNC_PIPELINE_TILE_OPS

include "AsyncPipelineBase.td"

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def AsyncPipeline_TileAllocOp : AsyncPipeline_Op<"tile.alloc"> {
  let summary = "a tile in shared memory";
  let description = [{
    What it holds is undefined until a `work.copy` or `work.store` fills it; both
    fill all of it. The name is used in reports and the manifest.

    Verified: inside a `gpu.func` and outside roles; the buffer type has no
    stages; a given name has letters, digits, `_`, `-` and `.` only.

    Ends as a channel whose slots hold the tile, with as many slots as the loop
    around its copies allows.

    ```mlir
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name);
  let results = (outs AsyncPipeline_BufferType:$buffer);
  let assemblyFormat = "($name^)? attr-dict `:` type($buffer)";
}

def AsyncPipeline_TileAccumulatorOp : AsyncPipeline_Op<"tile.accumulator"> {
  let summary = "an accumulator, zero where it stands";
  let description = [{
    Every time the op is reached, the accumulator is full of zeros.

    Verified: inside a `gpu.func`; the accumulator is used by `work.mma`,
    `work.load` and `work.store` only.

    Ends as registers on sm_80 and sm_90a and as columns of tensor memory on
    sm_100a; the zero ends as the first product not being added to anything,
    where there is one.

    ```mlir
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    ```
  }];
  let results = (outs AsyncPipeline_AccumulatorType:$accumulator);
  let assemblyFormat = "attr-dict `:` type($accumulator)";
}

def AsyncPipeline_TileWindowOp : AsyncPipeline_Op<"tile.window",
    [Pure, AttrSizedOperandSegments]> {
  let summary = "a part of a global tensor with its own bounds";
  let description = [{
    Element (0, 0) of the window is the element of the base at the indices. An
    element belongs to the window if it lies within the sizes and, in the base,
    within the base's own bounds; a size below 0 is 0.

    Verified: the base is a memref in global memory, with a strided layout,
    offset 0 and innermost stride 1, or another window; one index and one size per
    dimension; a window of the base's rank and element type.

    Ends as an offset and bounds that are added to every access.

    ```mlir
    %w = async_pipeline.tile.window %A[%i, %j] sizes [%m, %n]
        : memref<?x?xf16> to !async_pipeline.window<?x?xf16>
    ```
  }];
  let arguments = (ins AnyType:$base, Variadic<Index>:$indices, Variadic<Index>:$sizes);
  let results = (outs AsyncPipeline_WindowType:$window);
  let assemblyFormat = [{
    $base `[` $indices `]` `sizes` ` ` `[` $sizes `]` attr-dict `:` type($base) `to` type($window)
  }];
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

def AsyncPipeline_WorkCopyOp : AsyncPipeline_Op<"work.copy", [AttrSizedOperandSegments]> {
  let summary = "copies a tile between global memory and a buffer or slot";
  let description = [{
    The global side is a memref, or at the tile level a window, indexed at the
    tile's first element; the tile has the shape of the buffer or of the slot's
    field. Elements outside the memref or window read as zero and are not written.
    With a buffer the tensor may have more dimensions than the tile: the tile lies
    along the last ones, and the outer indices choose where.

    Taken for granted with a slot: indices are not negative, and the innermost one
    is a multiple of 16 bytes (of what `async_pipeline.align` says for copies by
    threads). A copy engine traps otherwise.

    Verified: one side is a buffer or slot and carries no index, the other a memref
    in global memory with one index per dimension, or a window if there is a buffer;
    the field exists; ranks and element types agree; the innermost stride of the
    memref is 1. A buffer comes from `tile.alloc`; a slot stands inside a `role`.

    Ends as `cp.async.bulk.tensor` on sm_90a and sm_100a, as `cp.async` (loads)
    and ordinary stores on sm_80. Where a row ends within 16 bytes, stores on sm_90a
    and sm_100a are ordinary ones too.

    ```mlir
    async_pipeline.work.copy %X[%i, %j] to %s field(0)
        : memref<?x?xf32> to !async_pipeline.slot<64x64xf32>
    async_pipeline.work.copy %B[%n, %k] to %b
        : memref<?x?xf16> to !async_pipeline.buffer<256x64xf16>
    ```
  }];
  let arguments = (ins AnyType:$source, Variadic<Index>:$source_indices,
                       AnyType:$target, Variadic<Index>:$target_indices,
                       DefaultValuedAttr<I32Attr, "0">:$field);
  let assemblyFormat = [{
    $source (`[` $source_indices^ `]`)? `to` $target (`[` $target_indices^ `]`)?
    (`field` `(` $field^ `)`)? attr-dict `:` type($source) `to` type($target)
  }];
}

def AsyncPipeline_WorkMmaOp : AsyncPipeline_Op<"work.mma"> {
  let summary = "adds the product of two tiles to an accumulator";
  let description = [{
    A is M×K and B is K×N; with `transpose` in front, the operand is stored as K×M
    or N×K. A may be a register value. f32 elements take part as tf32: their low 13
    bits are dropped.

    Verified: the accumulator comes from `tile.accumulator` or is a slot from
    `channel.acquire` of a channel in tensor memory; B and, unless it is a
    vector, A are buffers from `tile.alloc` or slots from `channel.wait` inside a
    `role`, of rank 2; the fields exist; no `transpose` and no field on a vector;
    shapes agree; the elements of both are f16, bf16 or f32, or f8E4M3FN or f8E5M2 in
    any mix.

    Ends as `ldmatrix` and `mma.sync` on sm_80 and sm_90a, as `tcgen05.mma` on sm_100a.

    ```mlir
    async_pipeline.work.mma %acc += %a * transpose %b
        : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16>
    async_pipeline.work.mma %acc += %t field(0) * transpose %t field(1)
        : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.slot<128x64xf16, 256x64xf16>, !async_pipeline.slot<128x64xf16, 256x64xf16>
    ```
  }];
  let arguments = (ins AnyType:$accumulator, AnyType:$a, AnyType:$b,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       DefaultValuedAttr<I32Attr, "0">:$field_a,
                       DefaultValuedAttr<I32Attr, "0">:$field_b);
  let assemblyFormat = [{
    $accumulator `+` `` `=` (`transpose` $transpose_a^)? $a (`field` `(` $field_a^ `)`)?
    `*` (`transpose` $transpose_b^)? $b (`field` `(` $field_b^ `)`)?
    attr-dict `:` type($accumulator) `,` type($a) `,` type($b)
  }];
}

def AsyncPipeline_WorkLoadOp : AsyncPipeline_Op<"work.load",
    [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile into a register value";
  let description = [{
    From an accumulator, a buffer, a slot, columns of tensor memory, or from global
    memory at the indices. Elements outside the memref or window are `fill`, or 0 without it. The tensor may
    have more dimensions than the vector, as for `work.copy`. An accumulator is
    rounded to f32 here.

    Verified: indices stand on a memref in global memory or a window, one per
    dimension, and on nothing else; `fill` too, and it has the element type; the
    field exists; shape (for global memory: rank) and element type agree; the
    innermost stride of a memref is 1; accumulator and buffer come from
    `tile.accumulator` and `tile.alloc`, a slot from `channel.wait`; of tensor memory a
    vector of 128 rows of f32, in as many columns.

    Ends as register moves, `tcgen05.ld`, `ld.shared` or predicated `ld.global`.

    ```mlir
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    %x = async_pipeline.work.load %X[%i, %j] fill(%low : f32) : memref<?x?xf32> to vector<16x1024xf32>
    ```
  }];
  let arguments = (ins AnyType:$source, Variadic<Index>:$indices, Optional<AnyType>:$fill,
                       DefaultValuedAttr<I32Attr, "0">:$field);
  let results = (outs AnyVectorOfNonZeroRank:$value);
  let assemblyFormat = [{
    $source (`[` $indices^ `]`)? (`field` `(` $field^ `)`)?
    (`fill` `(` $fill^ `:` type($fill) `)`)? attr-dict `:` type($source) `to` type($value)
  }];
}

def AsyncPipeline_WorkStoreOp : AsyncPipeline_Op<"work.store"> {
  let summary = "writes a register value into a tile";
  let description = [{
    Into an accumulator, a buffer, a slot, or into global memory at the indices.
    Elements outside the memref or window are not written. With `reduce add` each
    element is added to what is there, atomically: in which order blocks add is not
    defined. The tensor may have more dimensions than the vector, as for `work.copy`.

    Verified: indices stand on a memref in global memory or a window, one per
    dimension, and on nothing else; `reduce add` too, for elements of f16, bf16,
    f32, i32 and i64; the rest as for `work.load`, a slot from `channel.acquire`.

    Ends as register moves, `tcgen05.st`, `st.shared`, predicated `st.global`, a tensor
    copy through shared memory, or `red.global.add`.

    ```mlir
    async_pipeline.work.store %h to %C[%i, %j] : vector<128x256xf16> to memref<?x?xf16>
    async_pipeline.work.store %f to %X[%i, %j] reduce add : vector<128x256xf32> to memref<?x?xf32>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value, AnyType:$target,
                       Variadic<Index>:$indices, UnitAttr:$add,
                       DefaultValuedAttr<I32Attr, "0">:$field);
  let assemblyFormat = [{
    $value `to` $target (`[` $indices^ `]`)? (`field` `(` $field^ `)`)?
    (`reduce` `add` $add^)? attr-dict `:` type($value) `to` type($target)
  }];
}

#endif
