//! Verifiers of the barrier level.

use super::{
    Verified, directly_in_kernel, global_side, in_range, innermost_contiguous, int_attr, named,
    tile_view,
};
use crate::passes::slot_align;
use async_pipeline_sys::{
    hooks::Located,
    ir::{Op, Type, Value},
};
use ptx_model::mbarrier::{MAX_COUNT, MAX_TX};

pub(super) fn verify(op: Op, name: &str) -> Verified {
    match name {
        "buffer.alloc" => alloc(op, slot_align(op.result(0).ty())),
        "mbarrier.alloc" => alloc(op, 8),
        "buffer.slot" => {
            stage(op, op.operand(0), op.operand(1))?;
            let buffer = op.operand(0).ty();
            let tile = buffer.fields()[0];
            if buffer.swizzle() == 0 {
                return tile_view(tile, op.result(0).ty());
            }
            let all = [tile.static_shape().iter().product()];
            let expected = op.context().workgroup_memref_of(&all, tile.element());
            if op.result(0).ty() != expected {
                return Err(format!(
                    "expected a view of type {expected}, which a swizzle leaves of a slot, got {}",
                    op.result(0).ty()
                )
                .into());
            }
            Ok(())
        }
        "mbarrier.init" => in_range("count", int_attr(op, "count"), 1..=i64::from(MAX_COUNT)),
        "mbarrier.arrive" | "mbarrier.arrive_drop" => {
            in_range("count", int_attr(op, "count"), 1..=i64::from(MAX_COUNT))?;
            stage(op, op.operand(0), op.operand(1))
        }
        "mbarrier.arrive.expect_tx" | "mbarrier.expect_tx" | "mbarrier.complete_tx" => {
            if let Some(bytes) = op.operand(2).constant_int() {
                in_range("bytes", bytes, 0..=i64::from(MAX_TX))?;
            }
            stage(op, op.operand(0), op.operand(1))
        }
        "mbarrier.wait" | "mbarrier.test_wait.parity" | "mbarrier.try_wait.parity" => {
            if let Some(parity) = op.operand(2).constant_int()
                && !(0..=1).contains(&parity)
            {
                return Err(format!("expected parity 0 or 1, got {parity}").into());
            }
            stage(op, op.operand(0), op.operand(1))
        }
        "mbarrier.test_wait" | "mbarrier.try_wait" | "cp_async.mbarrier.arrive" => {
            stage(op, op.operand(0), op.operand(1))
        }
        "mbarrier.pending_count" => pending_count(op),
        "cp_async.copy" => cp_async(op),
        "cp_async.wait_group" | "bulk.wait_group" => {
            in_range("pending", int_attr(op, "pending"), 0..=i64::from(i32::MAX))
        }
        "bulk.load" => {
            stage(op, op.operand_segment(5)[0], op.operand_segment(6)[0])?;
            bulk(op, op.operand_segment(4)[0], false)
        }
        "bulk.store" => bulk(op, op.operand_segment(4)[0], true),
        "tma.descriptor" => descriptor(op),
        "tma.load" => {
            let operands = op.operands();
            let [map, .., buffer, slot, barrier, at_stage] = operands.as_slice() else {
                return Err("expected a tensor map, a buffer and a barrier".into());
            };
            stage(op, *barrier, *at_stage)?;
            tensor_copy(op, *map, operands.len() - 5, *buffer, *slot)
        }
        "tma.store" => {
            let operands = op.operands();
            let [buffer, slot, map, ..] = operands.as_slice() else {
                return Err("expected a buffer and a tensor map".into());
            };
            tensor_copy(op, *map, operands.len() - 3, *buffer, *slot)
        }
        "cta.barrier" => match op.ancestor("async_pipeline.role") {
            Some(role) => Err(Located {
                message: "expected to stand outside async_pipeline.role, where not every thread of the CTA comes".into(),
                note: Some((role, "the role is here".into())),
            }),
            None => Ok(()),
        },
        "named_barrier.sync" | "named_barrier.arrive" => {
            in_range("id", int_attr(op, "id"), 1..=15)?;
            let threads = int_attr(op, "threads");
            if threads % 32 != 0 || !(32..=1024).contains(&threads) {
                return Err(format!(
                    "expected threads to be a multiple of 32 from 32 to 1024, got {threads}"
                )
                .into());
            }
            Ok(())
        }
        "warp.sync" | "elect" => match op.ancestor("async_pipeline.role") {
            Some(role) if role.attr("elected").is_some() => Err(Located {
                message: "expected to stand outside an elected role, which one lane runs".into(),
                note: Some((role, "the role is here".into())),
            }),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn alloc(op: Op, align: i64) -> Verified {
    directly_in_kernel(op)?;
    named(op)?;
    let ty = op.result(0).ty();
    if ty.stages() == 0 {
        return Err(format!("expected a type with stages, got {ty}").into());
    }
    match op.attr("offset").and_then(|offset| offset.int()) {
        Some(offset) if offset < 0 || offset % align != 0 => {
            Err(format!("expected an offset that is a multiple of {align}, got {offset}").into())
        }
        _ => Ok(()),
    }
}

/// A constant stage is in range of its barrier array or buffer.
pub(super) fn stage(_op: Op, array: Value, stage: Value) -> Verified {
    let stages = array.ty().stages();
    if stages == 0 {
        return Err(format!("expected a type with stages, got {}", array.ty()).into());
    }
    match stage.constant_int() {
        Some(stage) if !(0..stages).contains(&stage) => {
            let message = format!("expected a stage from 0 to {}, got {stage}", stages - 1);
            let note = array
                .defining_op()
                .map(|made| (made, "created here".to_owned()));
            Err(Located { message, note })
        }
        _ => Ok(()),
    }
}

fn pending_count(op: Op) -> Verified {
    let made = op.operand(0).defining_op();
    match made {
        Some(arrive)
            if (arrive.is("async_pipeline.mbarrier.arrive")
                || arrive.is("async_pipeline.mbarrier.arrive_drop"))
                && arrive.attr("no_complete").is_some() =>
        {
            Ok(())
        }
        Some(other) => Err(Located {
            message: "expected the state of an arrive with no_complete".into(),
            note: Some((other, "the state is made here".into())),
        }),
        None => Err("expected the state of an arrive with no_complete".into()),
    }
}

fn sides(op: Op, store: bool) -> Result<(Type, Type), Located> {
    let (source, target) = (op.operand_segment(0)[0].ty(), op.operand_segment(2)[0].ty());
    let (global, shared) = if store {
        (target, source)
    } else {
        (source, target)
    };
    if !global.is_global_memref() {
        return Err(format!("expected a memref in global memory, got {global}").into());
    }
    if !shared.is_workgroup_memref() {
        return Err(format!("expected a memref in workgroup memory, got {shared}").into());
    }
    if global.element() != shared.element() {
        return Err(format!(
            "expected equal element types, got {} and {}",
            source.element(),
            target.element()
        )
        .into());
    }
    for (memref, indices) in [
        (source, op.operand_segment(1)),
        (target, op.operand_segment(3)),
    ] {
        let rank = memref.shape().len();
        if indices.len() != rank {
            return Err(format!(
                "expected {rank} indices for {memref}, got {}",
                indices.len()
            )
            .into());
        }
        if memref.strides_and_offset().is_none() {
            return Err(format!("expected a strided memref, got {memref}").into());
        }
    }
    Ok((global, shared))
}

fn cp_async(op: Op) -> Verified {
    let bytes = int_attr(op, "bytes");
    if !matches!(bytes, 4 | 8 | 16) {
        return Err(format!("expected 4, 8 or 16 bytes, got {bytes}").into());
    }
    let (global, _) = sides(op, false)?;
    match global.element().byte_width() {
        Some(width) if bytes % width == 0 => Ok(()),
        _ => Err(format!(
            "expected whole elements of {}, got {bytes} bytes",
            global.element()
        )
        .into()),
    }
}

fn bulk(op: Op, bytes: Value, store: bool) -> Verified {
    sides(op, store)?;
    match bytes.constant_int() {
        Some(bytes) if bytes <= 0 || bytes % 16 != 0 => {
            Err(format!("expected bytes to be a positive multiple of 16, got {bytes}").into())
        }
        _ => Ok(()),
    }
}

fn descriptor(op: Op) -> Verified {
    let memref = op.operand(0).ty();
    let tile = op.result(0).ty().fields()[0];
    if !memref.is_global_memref() {
        return Err(format!("expected a memref in global memory, got {memref}").into());
    }
    innermost_contiguous(memref)?;
    // One index per dimension is what a copy would give; only shape and type matter here.
    let rank = memref.shape().len();
    if rank != tile.static_shape().len() || memref.element() != tile.element() {
        let indices = vec![op.operand(0); rank];
        return global_side(memref, &indices, tile);
    }
    Ok(())
}

fn tensor_copy(op: Op, map: Value, coordinates: usize, buffer: Value, slot: Value) -> Verified {
    stage(op, buffer, slot)?;
    let (tile, copied) = (buffer.ty().fields()[0], map.ty().fields()[0]);
    let rank = copied.static_shape().len();
    if coordinates != rank {
        return Err(format!("expected {rank} coordinates, got {coordinates}").into());
    }
    if tile.element() != copied.element() {
        return Err(format!(
            "expected equal element types, got {} and {}",
            tile.element(),
            copied.element()
        )
        .into());
    }
    let width = tile.element().byte_width().unwrap_or(1);
    let at = int_attr(op, "at");
    let room = tile.tile_bytes() / width;
    let elements = copied.tile_bytes() / width;
    if at < 0 || elements > room || at > room - elements {
        return Err(format!(
            "expected the box of {elements} elements to fit behind element {at} of a tile of {room}"
        )
        .into());
    }
    if map.ty().swizzle() != buffer.ty().swizzle() {
        return Err(format!(
            "expected the swizzle of the slot and of the box to be equal, got {} and {}",
            buffer.ty(),
            map.ty()
        )
        .into());
    }
    let align = slot_align(buffer.ty());
    if at * width % align != 0 {
        return Err(format!(
            "expected the box to start at a multiple of {align} bytes, got {}",
            at * width
        )
        .into());
    }
    Ok(())
}
