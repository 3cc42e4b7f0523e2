//! Verifiers of the tile level, and of the work ops, which stand at the channel level too.

use super::{
    Verified, channel, global_side, innermost_contiguous, inside_role, int_attr, is_function, named,
};
use async_pipeline_sys::{
    hooks::Located,
    ir::{Op, Type, TypeKind, Value},
};

/// Where a work op reads or writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Reads,
    Writes,
}

pub(super) fn alloc(op: Op) -> Verified {
    inside_function(op)?;
    if let Some(role) = op.ancestor("async_pipeline.role") {
        return Err(Located {
            message: "expected to stand outside roles, at the tile level".into(),
            note: Some((role, "the role is here".into())),
        });
    }
    if op.attr("name").is_some() {
        named(op)?;
    }
    let ty = op.result(0).ty();
    if ty.stages() != 0 {
        return Err(format!("expected a buffer without stages, got {ty}").into());
    }
    Ok(())
}

pub(super) fn accumulator(op: Op) -> Verified {
    inside_function(op)?;
    for (user, _) in op.result(0).uses() {
        let works = ["work.mma", "work.load", "work.store", "mma.sync"];
        if !works
            .iter()
            .any(|work| user.name().strip_prefix("async_pipeline.") == Some(work))
        {
            return Err(Located {
                message: format!(
                    "expected its accumulator to be used by work.mma, work.load and work.store only, got {}",
                    user.name()
                ),
                note: Some((user, "used here".into())),
            });
        }
    }
    Ok(())
}

pub(super) fn window(op: Op) -> Verified {
    let (base, indices) = (op.operand_segment(0)[0].ty(), op.operand_segment(1));
    let sizes = op.operand_segment(2).len();
    let window = op.result(0).ty().fields()[0];
    let extents = extents_of_global(base)?;
    let rank = extents.shape().len();
    if indices.len() != rank {
        return Err(format!("expected {rank} indices for {base}, got {}", indices.len()).into());
    }
    if sizes != rank {
        return Err(format!("expected {rank} sizes for {base}, got {sizes}").into());
    }
    if window.shape().len() != rank || window.element() != extents.element() {
        return Err(format!(
            "expected a window of rank {rank} and element type {}, got {}",
            extents.element(),
            op.result(0).ty()
        )
        .into());
    }
    Ok(())
}

pub(super) fn copy(op: Op) -> Verified {
    let (source, target) = (op.operand_segment(0)[0], op.operand_segment(2)[0]);
    let (source_indices, target_indices) = (op.operand_segment(1), op.operand_segment(3));
    let sides = [source, target].map(|side| side.ty().kind());
    if !sides.contains(&TypeKind::Buffer) {
        inside_role(op)?;
    }
    let is_tile = |value: Value| matches!(value.ty().kind(), TypeKind::Slot | TypeKind::Buffer);
    let is_global = |value: Value| matches!(value.ty().kind(), TypeKind::Other | TypeKind::Window);
    let (tile, tile_indices, global, indices, access) = if is_global(source) && is_tile(target) {
        (
            target,
            target_indices,
            source,
            source_indices,
            Access::Writes,
        )
    } else if is_tile(source) && is_global(target) {
        (
            source,
            source_indices,
            target,
            target_indices,
            Access::Reads,
        )
    } else {
        return Err(format!(
            "expected a memref on one side and a slot or buffer on the other, got {} and {}",
            source.ty(),
            target.ty()
        )
        .into());
    };
    let kind = tile.ty().kind();
    if !tile_indices.is_empty() {
        let what = if kind == TypeKind::Slot {
            "slot"
        } else {
            "buffer"
        };
        return Err(format!("expected no index on the {what}").into());
    }
    let ty = global.ty();
    if kind == TypeKind::Buffer {
        no_field(op, "field", "a buffer")?;
        return global_tile(ty, &indices, made_buffer(tile)?);
    }
    if !ty.is_global_memref() {
        return Err(format!("expected a memref in global memory, got {ty}").into());
    }
    channel::taken_for(op, tile, access == Access::Writes)?;
    global_side(ty, &indices, channel::field(op, tile)?)
}

pub(super) fn mma(op: Op) -> Verified {
    let (accumulator, a, b) = (op.operand(0), op.operand(1), op.operand(2));
    let flag = |name: &str| op.attr(name).is_some();
    inside_function(op)?;
    let tile = match accumulator.ty().kind() {
        TypeKind::Accumulator => {
            made_by(accumulator, "async_pipeline.tile.accumulator")?;
            accumulator.ty().fields()[0]
        }
        TypeKind::Slot => {
            channel::taken_for(op, accumulator, true)?;
            channel::in_tensor_memory(accumulator)?;
            accumulator.ty().fields()[0]
        }
        _ => {
            return Err(format!(
                "expected an accumulator or a slot in tensor memory, got {}",
                accumulator.ty()
            )
            .into());
        }
    };
    let (a_type, b_type) = (
        mma_operand(op, a, "field_a")?,
        mma_operand(op, b, "field_b")?,
    );
    if b_type.is_vector() {
        return Err(format!("expected B to be a buffer or slot, got {b_type}").into());
    }
    if a_type.is_vector() && flag("transpose_a") {
        return Err("expected no transpose on an A that is a vector".into());
    }
    let [m, k] = rows_and_columns("A", a_type, flag("transpose_a"))?;
    let [b_k, n] = rows_and_columns("B", b_type, flag("transpose_b"))?;
    let tile = tile.static_shape();
    if tile != [m, n] || k != b_k {
        return Err(format!(
            "expected shapes MxN += MxK * KxN, got {}x{} += {m}x{k} * {b_k}x{n}",
            tile[0], tile[1]
        )
        .into());
    }
    let names = [a_type.element().to_string(), b_type.element().to_string()];
    let bytes = |name: &String| matches!(name.as_str(), "f8E4M3FN" | "f8E5M2");
    let known = |name: &String| bytes(name) || matches!(name.as_str(), "f16" | "bf16" | "f32");
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(
            format!("expected elements of f16, bf16, f32, f8E4M3FN or f8E5M2, got {name}").into(),
        );
    }
    if names[0] != names[1] && !names.iter().all(bytes) {
        return Err(format!(
            "expected equal element types, or two of 8 bits, got {} and {}",
            names[0], names[1]
        )
        .into());
    }
    Ok(())
}

pub(super) fn load(op: Op) -> Verified {
    let (source, indices) = (op.operand_segment(0)[0], op.operand_segment(1));
    let vector = op.result(0).ty();
    let global = tile_access(op, source, &indices, vector, Access::Reads)?;
    match op.operand_segment(2).first() {
        Some(_) if !global => {
            Err("expected `fill` on a load from global memory only, where there are bounds".into())
        }
        Some(fill) if fill.ty() != vector.element() => Err(format!(
            "expected a fill value of type {}, got {}",
            vector.element(),
            fill.ty()
        )
        .into()),
        _ => Ok(()),
    }
}

pub(super) fn store(op: Op) -> Verified {
    let operands = op.operands();
    let (vector, target, indices) = (operands[0].ty(), operands[1], &operands[2..]);
    let global = tile_access(op, target, indices, vector, Access::Writes)?;
    if op.attr("add").is_none() {
        return Ok(());
    }
    if !global {
        return Err("expected `reduce add` on a store to global memory only".into());
    }
    match vector.element().to_string().as_str() {
        "f16" | "bf16" | "f32" | "i32" | "i64" => Ok(()),
        other => {
            Err(format!("expected `reduce add` of f16, bf16, f32, i32 or i64, got {other}").into())
        }
    }
}

/// Checks the memory side of `load` and `store`; says whether it is global memory.
fn tile_access(
    op: Op,
    memory: Value,
    indices: &[Value],
    vector: Type,
    access: Access,
) -> Result<bool, Located> {
    inside_function(op)?;
    if vector.is_scalable() {
        return Err(format!("expected a vector of fixed length, got {vector}").into());
    }
    let (tile, what) = match memory.ty().kind() {
        TypeKind::Accumulator => {
            made_by(memory, "async_pipeline.tile.accumulator")?;
            (memory.ty().fields()[0], "an accumulator")
        }
        TypeKind::Buffer => (made_buffer(memory)?, "a buffer"),
        TypeKind::Tmem if access == Access::Reads => {
            no_field(op, "field", "tensor memory")?;
            return in_tensor_memory(memory.ty(), indices, vector);
        }
        TypeKind::Slot => {
            channel::taken_for(op, memory, access == Access::Writes)?;
            (channel::field(op, memory)?, "a slot")
        }
        _ => {
            no_field(op, "field", "global memory")?;
            global_tile(memory.ty(), indices, vector)?;
            return Ok(true);
        }
    };
    if memory.ty().kind() != TypeKind::Slot {
        no_field(op, "field", what)?;
    }
    if !indices.is_empty() {
        return Err(format!("expected no index on {what}").into());
    }
    if tile.static_shape() != vector.static_shape() || tile.element() != vector.element() {
        return Err(format!(
            "expected a vector of {} elements of {}, got {vector}",
            times(&tile.static_shape()),
            tile.element()
        )
        .into());
    }
    Ok(false)
}

/// Columns of tensor memory as a tile: its rows are the lanes.
fn in_tensor_memory(range: Type, indices: &[Value], vector: Type) -> Result<bool, Located> {
    if !indices.is_empty() {
        return Err("expected no index on tensor memory".into());
    }
    let fits = vector.static_shape() == [128, range.columns()];
    if !fits || vector.element().to_string() != "f32" {
        return Err(format!(
            "expected a vector of 128x{} elements of f32, got {vector}",
            range.columns()
        )
        .into());
    }
    Ok(false)
}

fn inside_function(op: Op) -> Verified {
    let mut parent = op.parent();
    while let Some(around) = parent {
        if is_function(around.name()) {
            return Ok(());
        }
        parent = around.parent();
    }
    Err("expected to stand inside a gpu.func".into())
}

/// Storage is known while compiling: nothing passes it on.
fn made_by(value: Value, maker: &str) -> Verified {
    let short = maker.trim_start_matches("async_pipeline.");
    match value.defining_op() {
        Some(made) if made.is(maker) => Ok(()),
        Some(made) => Err(Located {
            message: format!(
                "expected {} to come from {short}, got one from {}",
                value.ty(),
                made.name()
            ),
            note: Some((made, "made here".into())),
        }),
        None => Err(format!(
            "expected {} to come from {short}, got an argument",
            value.ty()
        )
        .into()),
    }
}

fn made_buffer(buffer: Value) -> Result<Type, Located> {
    made_by(buffer, "async_pipeline.tile.alloc")?;
    Ok(buffer.ty().fields()[0])
}

fn no_field(op: Op, name: &str, what: &str) -> Verified {
    match int_attr(op, name) {
        0 => Ok(()),
        index => Err(format!("expected no field on {what}, got {index}").into()),
    }
}

/// A memref in global memory or a window, as shape and element type.
fn extents_of_global(ty: Type) -> Result<Type, Located> {
    if ty.kind() == TypeKind::Window {
        return Ok(ty.fields()[0]);
    }
    if !ty.is_global_memref() {
        return Err(format!("expected a memref in global memory or a window, got {ty}").into());
    }
    innermost_contiguous(ty)?;
    Ok(ty)
}

/// A tile along the last dimensions of a global tensor.
fn global_tile(ty: Type, indices: &[Value], tile: Type) -> Verified {
    let extents = extents_of_global(ty)?;
    let (rank, tile_rank) = (extents.shape().len(), tile.static_shape().len());
    if indices.len() != rank {
        return Err(format!("expected {rank} indices for {ty}, got {}", indices.len()).into());
    }
    if rank < tile_rank {
        return Err(format!(
            "expected a tensor of rank {tile_rank} or more for a tile of rank {tile_rank}, got {ty}"
        )
        .into());
    }
    if extents.element() != tile.element() {
        return Err(format!(
            "expected element type {}, got {} in {ty}",
            tile.element(),
            extents.element()
        )
        .into());
    }
    Ok(())
}

/// The tile of an operand of `mma`: of a buffer, a slot's field, or a vector.
fn mma_operand(op: Op, operand: Value, field: &str) -> Result<Type, Located> {
    let ty = operand.ty();
    match ty.kind() {
        TypeKind::Slot => {
            channel::taken_for(op, operand, false)?;
            channel::numbered_field(operand, int_attr(op, field))
        }
        TypeKind::Buffer => {
            no_field(op, field, "a buffer")?;
            made_buffer(operand)
        }
        TypeKind::Other if ty.is_vector() && !ty.is_scalable() => {
            no_field(op, field, "a vector")?;
            Ok(ty)
        }
        _ => Err(format!("expected a buffer, a slot or, for A, a vector; got {ty}").into()),
    }
}

fn rows_and_columns(name: &str, tile: Type, transpose: bool) -> Result<[i64; 2], Located> {
    match tile.static_shape()[..] {
        [rows, columns] if transpose => Ok([columns, rows]),
        [rows, columns] => Ok([rows, columns]),
        ref shape => Err(format!("expected {name} of rank 2, got rank {}", shape.len()).into()),
    }
}

fn times(shape: &[i64]) -> String {
    shape
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("x")
}
