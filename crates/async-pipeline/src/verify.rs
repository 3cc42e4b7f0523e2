//! Op verifiers: what each op's ODS description promises, checked.
//!
//! Called from the generated C++ classes. Rules that need to know the target live in
//! the verify passes.

mod attributes;
mod barrier;
mod channel;
mod mma;
pub(crate) mod tensor;
mod tile;

pub(crate) use attributes::verify_attribute;

use async_pipeline_sys::{
    hooks::Located,
    ir::{Op, Type, Value},
};

/// More slots than any shared memory holds of anything useful; keeps unrolled code small.
const MAX_STAGES: i64 = 64;

pub(crate) type Verified = Result<(), Located>;

/// Verifies one op of the dialect.
pub(crate) fn verify_op(op: Op) -> Verified {
    let name = op
        .name()
        .strip_prefix("async_pipeline.")
        .unwrap_or_default();
    match name {
        "roles" => channel::roles(op),
        "role" => channel::role(op),
        "role.thread_id" | "role.thread_count" => inside_role(op),
        "channel.create" => channel::create(op),
        "channel.acquire" => channel::take(op, "async_pipeline.channel.commit"),
        "channel.wait" => channel::take(op, "async_pipeline.channel.release"),
        "channel.commit" => channel::end(op, "async_pipeline.channel.acquire"),
        "channel.release" => channel::end(op, "async_pipeline.channel.wait"),
        "channel.view" => channel::view(op),
        "tile.alloc" => tile::alloc(op),
        "tile.accumulator" => tile::accumulator(op),
        "tile.window" => tile::window(op),
        "work.copy" => tile::copy(op),
        "work.mma" => tile::mma(op),
        "work.load" => tile::load(op),
        "work.store" => tile::store(op),
        "mma.sync" => mma::product(op),
        "ldmatrix" => mma::load(op),
        _ if name.starts_with("tcgen05.") => tensor::verify(op, name),
        _ => barrier::verify(op, name),
    }
}

fn inside_role(op: Op) -> Verified {
    match op.ancestor("async_pipeline.role") {
        Some(_) => Ok(()),
        None => Err("expected to stand inside an async_pipeline.role".into()),
    }
}

/// Kernel-level ops stand directly in the kernel, where every thread passes once.
fn directly_in_kernel(op: Op) -> Verified {
    let parent = op.parent();
    let name = parent.map(Op::name).unwrap_or("nothing");
    if !is_function(name) {
        return Err(format!(
            "expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got {name}"
        )
        .into());
    }
    if op.block() != parent.and_then(|function| function.body(0)) {
        return Err("expected to stand in the first block of its kernel, got another block".into());
    }
    Ok(())
}

/// Names of channels, buffers and barriers go into reports and the manifest.
fn named(op: Op) -> Verified {
    let name = op
        .attr("name")
        .and_then(|name| name.string())
        .unwrap_or_default();
    if name.is_empty() {
        return Err("expected a name that is not empty".into());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.chars().all(plain) {
        return Err("expected a name of letters, digits, `_`, `-` and `.`".into());
    }
    Ok(())
}

/// `gpu.func`, or what `async-pipeline-lower-kernel-abi` makes of it.
fn is_function(name: &str) -> bool {
    matches!(name, "gpu.func" | "llvm.func")
}

fn int_attr(op: Op, name: &str) -> i64 {
    op.attr(name)
        .and_then(|attr| attr.int())
        .unwrap_or_default()
}

fn in_range(what: &str, value: i64, range: std::ops::RangeInclusive<i64>) -> Verified {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!(
        "expected {what} from {} to {}, got {value}",
        range.start(),
        range.end()
    )
    .into())
}

/// Shape, element type, identity layout and memory space of a slot's memref.
fn tile_view(tile: Type, view: Type) -> Verified {
    let expected = tile_memref(tile, view);
    if view != expected {
        return Err(format!("expected a view of type {expected}, got {view}").into());
    }
    Ok(())
}

fn tile_memref(tile: Type, view: Type) -> Type {
    view.context().workgroup_memref(tile)
}

/// Rank, index count, element type and innermost stride of the global side of a copy.
fn global_side(memref: Type, indices: &[Value], tile: Type) -> Verified {
    let rank = memref.shape().len();
    if indices.len() != rank {
        return Err(format!(
            "expected {rank} indices for {memref}, got {}",
            indices.len()
        )
        .into());
    }
    let tile_rank = tile.static_shape().len();
    if rank != tile_rank {
        return Err(format!(
            "expected a memref of rank {tile_rank} for a tile of rank {tile_rank}, got {memref}"
        )
        .into());
    }
    if memref.element() != tile.element() {
        return Err(format!(
            "expected element type {}, got {} in {memref}",
            tile.element(),
            memref.element()
        )
        .into());
    }
    innermost_contiguous(memref)
}

fn innermost_contiguous(memref: Type) -> Verified {
    match memref.strides_and_offset() {
        Some((strides, Some(0))) if strides.last() == Some(&Some(1)) => Ok(()),
        Some((strides, _)) if strides.last() != Some(&Some(1)) => {
            Err(format!("expected an innermost stride of 1, got {memref}").into())
        }
        Some(_) => Err(format!("expected an offset of 0, got {memref}").into()),
        None => Err(format!("expected a strided memref, got {memref}").into()),
    }
}
