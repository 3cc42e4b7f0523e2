// Barrier level: matrix products whose sums are in registers.

#ifndef ASYNC_PIPELINE_MMA_OPS
#define ASYNC_PIPELINE_MMA_OPS

include "AsyncPipelineBase.td"

def AsyncPipeline_MmaSyncOp : AsyncPipeline_Op<"mma.sync"> {
  let summary = "the warps of a role multiply two tiles in shared memory into an accumulator";
  let description = [{
    A is M×K and B is K×N; with `transpose` in front, the operand is stored as K×M
    or N×K. All warps of the role come here together. The accumulator is in their
    registers: `async-pipeline-distribute` decides which thread has what.

    Verified: the accumulator comes from `tile.accumulator`; A and B are buffers of rank
    2 with a swizzle, of equal elements of f16, bf16 or f32; shapes agree; a constant
    stage is in range; not in an elected role.

    Ends as `ldmatrix` and `mma.sync.m16n8k16` (of f32, as tf32: `m16n8k8`).

    ```mlir
    async_pipeline.mma.sync %acc += %a[%stage] * transpose %b[%stage]
        : !async_pipeline.accumulator<128x128xf32>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    ```
  }];
  let arguments = (ins AsyncPipeline_AccumulatorType:$accumulator,
                       AsyncPipeline_BufferType:$a, I32:$a_stage,
                       AsyncPipeline_BufferType:$b, I32:$b_stage,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let assemblyFormat = [{
    $accumulator `+` `` `=` (`transpose` $transpose_a^)? $a `[` $a_stage `]`
    `*` (`transpose` $transpose_b^)? $b `[` $b_stage `]`
    attr-dict `:` type($accumulator) `,` type($a) `,` type($b)
  }];
}

def AsyncPipeline_LdmatrixOp : AsyncPipeline_Op<"ldmatrix"> {
  let summary = "one warp loads matrices of 8 rows of 16 bytes";
  let description = [{
    Lanes `8 j` to `8 j + 7` say where the rows of matrix `j` begin: at byte `offset` of
    the slot, plus the constant `plus`. Word `j` of lane `t` has the elements of 4 bytes
    at `4 (t % 4)` of row `t / 4`; with `transpose` the 16-bit elements `t / 4` of rows
    `2 (t % 4)` and `2 (t % 4) + 1`.

    Verified: 1, 2 or 4 words; `transpose` on elements of 16 bits only; a constant stage
    is in range; not in an elected role.

    Ends as `ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16`.

    ```mlir
    %w:4 = async_pipeline.ldmatrix %a[%stage], %offset plus(2048)
        : !async_pipeline.buffer<3, 128x64xf16, swizzle 128> -> i32, i32, i32, i32
    ```
  }];
  let arguments = (ins AsyncPipeline_BufferType:$buffer, I32:$stage, I32:$offset,
                       DefaultValuedAttr<I32Attr, "0">:$plus, UnitAttr:$transpose);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = [{
    $buffer `[` $stage `]` `,` $offset (`plus` `(` $plus^ `)`)? (`transpose` $transpose^)?
    attr-dict `:` type($buffer) `->` type($words)
  }];
}

#endif
