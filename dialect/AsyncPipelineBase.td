// The dialect, its types and its attributes.

#ifndef ASYNC_PIPELINE_BASE
#define ASYNC_PIPELINE_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AsyncPipeline_Dialect : Dialect {
  let name = "async_pipeline";
  let summary = "Asynchronous copy and compute pipelines on NVIDIA GPUs";
  let description = [{
    A kernel may be written at the *tile level*, as one thread that owns whole
    tiles would run it: storage is `tile.*`, memory and tensor-core work is
    `work.*`, and everything on registers is `arith`, `math` and `vector` on
    values of type `vector`. What each op computes there is written in
    [tile-semantics.md](tile-semantics.md).

    At the *channel level* parties hand each other
    the slots of a ring and nothing is said about barriers. The pass
    `async-pipeline-insert-barriers` rewrites it to the *barrier level*, where
    every mbarrier, byte count, parity, wait and fence is explicit. Barrier-level
    IR may equally be written by hand. Below it stand the `nvvm` and `llvm`
    dialects.

    Attributes on a `gpu.func` kernel and its arguments:

    | attribute | on | meaning |
    |---|---|---|
    | `async_pipeline.grid` | kernel | grid size, `#async_pipeline.grid` |
    | `async_pipeline.name` | argument | its name in the launch manifest |
    | `async_pipeline.align` | argument | bytes that base and row pitch are multiples of: 4, 8 or 16 (default) |
    | `async_pipeline.may_alias` | argument | it may overlap another argument |

    Attributes on an `scf.for` of the tile level:

    | attribute | meaning |
    |---|---|
    | `async_pipeline.stages` | slots of the buffers that its copies fill, 1 to 64: an upper bound |
    | `async_pipeline.exactly` | `async_pipeline.stages` is no bound but the number |
  }];
  let cppNamespace = "::async_pipeline";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class AsyncPipeline_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<AsyncPipeline_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def AsyncPipeline_ChannelType : AsyncPipeline_Type<"Channel", "channel"> {
  let summary = "a ring of slots that parties hand each other";
  let description = [{
    Each slot holds one tile per field, side by side:
    `!async_pipeline.channel<64x64xf16, 64x64xf16>`. The number of slots is not
    part of the type; `channel.create` or the compiler's `stages` option sets it.
    Field shapes are static and of rank 1 to 5.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_SlotType : AsyncPipeline_Type<"Slot", "slot"> {
  let summary = "one slot of a channel, held by one party";
  let description = [{
    Made by `channel.acquire` or `channel.wait` and used up by exactly one
    `channel.commit` or `channel.release` in the same block. It is never a block
    argument, a yielded value or an operand of `arith.select`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_MBarrierType : AsyncPipeline_Type<"MBarrier", "mbarrier"> {
  let summary = "an array of mbarrier objects in shared memory";
  let description = [{
    `!async_pipeline.mbarrier<4>` is four 8-byte mbarrier objects, 8-byte
    aligned, in the shared memory of the CTA.
  }];
  let parameters = (ins "int64_t":$stages);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_BufferType : AsyncPipeline_Type<"Buffer", "buffer"> {
  let summary = "a ring of equal tiles in shared memory";
  let description = [{
    `!async_pipeline.buffer<4, 64x64xf16>` is four slots of one 64x64 tile each.
    A slot starts at a multiple of 128 bytes.

    `!async_pipeline.buffer<64x64xf16>` is the same at the tile level, where the
    program sees one tile and nothing is said about slots.

    `!async_pipeline.buffer<4, 128x64xf16, swizzle 128>` holds tiles as the tensor
    core reads them: rows are of 128 bytes, and within each 1024 bytes the
    16-byte units of row `r` stand exchanged by the exclusive or with `r % 8`. A tile
    with rows of several times 128 bytes is cut into boxes with rows of 128 bytes, one
    box behind the other. Swizzle 64 and 32 are the same with rows of 64 and 32 bytes,
    `r / 2 % 4` and `r / 4 % 2`. A slot starts at a multiple of 1024 bytes. Tensor copies
    through a map with the same swizzle fill it; to a memref it is a run of elements in
    the order in which they lie.
  }];
  let parameters = (ins "int64_t":$stages, "::mlir::Type":$tile, "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_TensorMapType : AsyncPipeline_Type<"TensorMap", "tensor_map"> {
  let summary = "a tensor map that moves boxes of this shape";
  let description = [{
    `!async_pipeline.tensor_map<64x64xf16>` describes a global tensor to the
    tensor-copy engine. The shape is the box, outermost dimension first; each
    extent is 1 to 256, and the innermost takes a multiple of 16 bytes.

    With a swizzle, as in `!async_pipeline.tensor_map<128x64xf16, swizzle 128>`,
    the box stands in shared memory as in a buffer with the same swizzle; its rows
    are of as many bytes: 128, 64 or 32.
  }];
  let parameters = (ins "::mlir::Type":$box, "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_TmemType : AsyncPipeline_Type<"Tmem", "tmem"> {
  let summary = "columns of tensor memory";
  let description = [{
    `!async_pipeline.tmem<128>` is an allocated range of 128 columns, each of 128
    lanes of 32 bits. The number is a power of two from 32 to 512. Made by
    `tcgen05.address`; it is never a block argument, a yielded value or an operand
    of `arith.select`.
  }];
  let parameters = (ins "int64_t":$columns);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_AccumulatorType : AsyncPipeline_Type<"Accumulator", "accumulator"> {
  let summary = "a tile that matrix products are added to";
  let description = [{
    `!async_pipeline.accumulator<128x256xf32>`. Of rank 2, its elements are f32.
  }];
  let parameters = (ins "::mlir::Type":$tile);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_WindowType : AsyncPipeline_Type<"Window", "window"> {
  let summary = "a part of a global tensor with its own bounds";
  let description = [{
    `!async_pipeline.window<?x?xf16>` has rank 2; its extents are known when the
    kernel runs. Rank 1 to 5.
  }];
  let parameters = (ins "::mlir::Type":$tensor);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def AsyncPipeline_GridAttr : AttrDef<AsyncPipeline_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "the grid of a kernel, as expressions over its arguments";
  let description = [{
    One to three expressions (x, y, z) over `dim(argument, dimension)`,
    `scalar(argument)`, `sm_count`, integers, `+ - *`, `ceildiv(a, b)`,
    `floordiv(a, b)`, `min(a, b)` and `max(a, b)`:
    `#async_pipeline.grid<"min(ceildiv(dim(0, 0), 1024), 2 * sm_count)">`.
    The launch manifest carries them; a launcher evaluates them.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class AsyncPipeline_Op<string opMnemonic, list<Trait> traits = []>
    : Op<AsyncPipeline_Dialect, opMnemonic, traits> {
  let hasVerifier = 1;
}

#endif
