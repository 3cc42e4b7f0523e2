//! Verifiers of the channel level.

use super::{
    MAX_STAGES, Verified, directly_in_kernel, in_range, inside_role, int_attr, named, tile_view,
};
use async_pipeline_sys::{
    hooks::Located,
    ir::{Op, Type, Value},
};

/// Most warps that a CTA has.
const MAX_WARPS: i64 = 32;

pub(super) fn roles(op: Op) -> Verified {
    directly_in_kernel(op)?;
    let block = op.block().into_iter().flat_map(|block| block.ops());
    if let Some(first) = block
        .filter(|other| other.is(op.name()))
        .find(|other| *other != op)
        && first.is_before(op)
    {
        return Err(Located {
            message: "expected one roles op per kernel, this is a second".into(),
            note: Some((first, "the first is here".into())),
        });
    }
    let members = op.body(0).map(|body| body.ops()).unwrap_or_default();
    if members.is_empty() {
        return Err("expected at least one role".into());
    }
    let mut warps = 0;
    for member in members {
        if !member.is("async_pipeline.role") {
            return Err(Located {
                message: format!(
                    "expected only role ops in its region, got {}",
                    member.name()
                ),
                note: Some((member, "this op".into())),
            });
        }
        warps += int_attr(member, "warps").clamp(0, MAX_WARPS + 1);
    }
    if warps > MAX_WARPS {
        return Err(format!("expected at most {MAX_WARPS} warps in all roles, got {warps}").into());
    }
    Ok(())
}

pub(super) fn role(op: Op) -> Verified {
    let warps = int_attr(op, "warps");
    in_range("warps", warps, 1..=MAX_WARPS)?;
    if op.attr("elected").is_some() && warps != 1 {
        return Err(format!("expected an elected role to have 1 warp, got {warps}").into());
    }
    Ok(())
}

pub(super) fn create(op: Op) -> Verified {
    directly_in_kernel(op)?;
    named(op)?;
    if op.attr("tensor_memory").is_some() {
        tensor_memory(op.result(0).ty())?;
    }
    match op.attr("stages").and_then(|stages| stages.int()) {
        Some(stages) => in_range("stages", stages, 1..=MAX_STAGES),
        None if op.attr("exactly").is_some() => {
            Err("expected stages(n) in front of `exactly`".into())
        }
        None => Ok(()),
    }
}

/// One accumulator: its rows are the lanes of tensor memory.
fn tensor_memory(channel: Type) -> Verified {
    let fields = channel.fields();
    let fits = |tile: &Type| {
        let shape = tile.static_shape();
        shape.len() == 2
            && shape[0] == 128
            && (32..=512).contains(&shape[1])
            && shape[1].count_ones() == 1
            && tile.element().to_string() == "f32"
    };
    match fields.as_slice() {
        [only] if fits(only) => Ok(()),
        _ => Err(format!(
            "expected one field of 128 rows and 32, 64, 128, 256 or 512 columns of f32 in tensor memory, got {channel}"
        )
        .into()),
    }
}

/// The slot is one of a channel in tensor memory.
pub(super) fn in_tensor_memory(slot: Value) -> Verified {
    let create = taker(slot).and_then(|taker| taker.operand(0).defining_op());
    match create {
        Some(create) if create.attr("tensor_memory").is_some() => Ok(()),
        Some(create) => Err(Located {
            message: "expected a slot of a channel with tensor_memory".into(),
            note: Some((create, "the channel is made here".into())),
        }),
        None => Err("expected a slot of a channel with tensor_memory".into()),
    }
}

/// `acquire` and `wait`: the slot lives and dies in one block.
pub(super) fn take(op: Op, end: &str) -> Verified {
    inside_role(op)?;
    made_here(op.operand(0))?;
    let slot = op.result(0);
    let ends: Vec<Op> = slot
        .uses()
        .into_iter()
        .map(|(user, _)| user)
        .filter(|user| ends_slot(*user))
        .collect();
    let short = end.trim_start_matches("async_pipeline.");
    for (user, _) in slot.uses() {
        if !uses_slot(user) {
            return Err(Located {
                message: format!(
                    "expected its slot to be used by channel and work ops only, got {}",
                    user.name()
                ),
                note: Some((user, "used here".into())),
            });
        }
        // Work that fills a slot, or ends it, happens once; reading may be repeated.
        // In a ring of groups it is the group that counts, with or without copies.
        let groups = op.operand(0).defining_op().is_some_and(|create| {
            create.attr("groups").is_some() && user.is("async_pipeline.work.copy")
        });
        let anywhere = groups
            || ["channel.view", "work.mma", "work.load"]
                .iter()
                .any(|name| user.name().strip_prefix("async_pipeline.") == Some(name));
        if user.block() != op.block() && !(anywhere && user.ancestor_in(op.block()).is_some()) {
            return Err(Located {
                message: "expected its slot to be used within one block".into(),
                note: Some((user, "used here, in another block".into())),
            });
        }
    }
    match ends.as_slice() {
        [] => Err(format!("expected its slot to be used up by one {short}, got none").into()),
        [only] if only.is(end) => Ok(()),
        [only] => Err(Located {
            message: format!(
                "expected its slot to be used up by {short}, got {}",
                only.name()
            ),
            note: Some((*only, "used up here".into())),
        }),
        [_, .., second] => Err(Located {
            message: format!(
                "expected its slot to be used up by one {short}, got {}",
                ends.len()
            ),
            note: Some((*second, "one of them is here".into())),
        }),
    }
}

/// Which ring a slot belongs to is known while compiling: nothing passes channels on.
fn made_here(channel: Value) -> Verified {
    match channel.defining_op() {
        Some(made) if made.is("async_pipeline.channel.create") => Ok(()),
        Some(made) => Err(Located {
            message: format!(
                "expected a channel made by channel.create, got one made by {}",
                made.name()
            ),
            note: Some((made, "made here".into())),
        }),
        None => Err("expected a channel made by channel.create, got an argument".into()),
    }
}

fn ends_slot(op: Op) -> bool {
    op.is("async_pipeline.channel.commit") || op.is("async_pipeline.channel.release")
}

fn uses_slot(op: Op) -> bool {
    ends_slot(op)
        || op.is("async_pipeline.channel.view")
        || op.name().starts_with("async_pipeline.work.")
}

pub(super) fn taker(slot: Value) -> Option<Op> {
    slot.defining_op().filter(|op| {
        op.is("async_pipeline.channel.acquire") || op.is("async_pipeline.channel.wait")
    })
}

/// `commit` and `release`: nothing uses the slot afterwards.
pub(super) fn end(op: Op, start: &str) -> Verified {
    let slot = op.operand(0);
    let short = start.trim_start_matches("async_pipeline.");
    let Some(taker) = taker(slot) else {
        return Err(format!("expected a slot made by {short}, got a value that is not").into());
    };
    if !taker.is(start) {
        return Err(Located {
            message: format!(
                "expected a slot made by {short}, got one made by {}",
                taker.name()
            ),
            note: Some((taker, "made here".into())),
        });
    }
    for (user, _) in slot.uses() {
        let late = user
            .ancestor_in(op.block())
            .is_some_and(|user| user != op && op.is_before(user));
        if late && !ends_slot(user) {
            return Err(Located {
                message: "expected the slot not to be used afterwards".into(),
                note: Some((user, "used here".into())),
            });
        }
    }
    Ok(())
}

pub(super) fn view(op: Op) -> Verified {
    let slot = op.operand(0);
    let tile = field(op, slot)?;
    if taker(slot).is_none() {
        return Err("expected a slot made by channel.acquire or channel.wait".into());
    }
    tile_view(tile, op.result(0).ty())
}

pub(super) fn field(op: Op, slot: Value) -> Result<Type, Located> {
    numbered_field(slot, int_attr(op, "field"))
}

/// The tile of a slot's field.
pub(super) fn numbered_field(slot: Value, index: i64) -> Result<Type, Located> {
    let fields = slot.ty().fields();
    usize::try_from(index)
        .ok()
        .and_then(|index| fields.get(index))
        .copied()
        .ok_or_else(|| {
            format!(
                "expected a field from 0 to {}, got {index}",
                fields.len() - 1
            )
            .into()
        })
}

/// A slot that is filled comes from `acquire`, one that is read from `wait`.
pub(super) fn taken_for(op: Op, slot: Value, fills: bool) -> Verified {
    inside_role(op)?;
    let Some(taker) = taker(slot) else {
        return Err("expected a slot made by channel.acquire or channel.wait".into());
    };
    if fills == taker.is("async_pipeline.channel.acquire") {
        return Ok(());
    }
    let purpose = match (fills, op.is("async_pipeline.work.copy")) {
        (true, true) => "channel.acquire to copy into",
        (false, true) => "channel.wait to copy out of",
        (true, false) => "channel.acquire to write",
        (false, false) => "channel.wait to read",
    };
    Err(Located {
        message: format!(
            "expected a slot made by {purpose}, got one made by {}",
            taker.name()
        ),
        note: Some((taker, "made here".into())),
    })
}
