//! The buffers and accumulators of a kernel, and what they become.

use super::Request;
use crate::{
    diagnostics::{error, error_with_note},
    passes::{Failed, allocate::MBARRIER_BYTES, argument_may_alias},
};
use async_pipeline_sys::ir::{Op, TypeKind, Value, emit_remark};

/// Slots when neither the loop nor the options say.
const DEFAULT_STAGES: i64 = 4;
/// Alignment of a swizzled slot, bytes.
const SLOT_ALIGN: i64 = 1024;
/// Values of accumulators that one thread holds beside everything else.
const VALUES_PER_THREAD: i64 = 128;
/// Warps that a role of computing threads has at least and at most.
const WARPS: (i64, i64) = (4, 8);

/// What a kernel of the tile level keeps between its ops.
pub(super) struct Storage {
    pub(super) rings: Vec<Ring>,
    pub(super) accumulators: Vec<Accumulator>,
    /// Warps that hold accumulators in registers, or compute on values from elsewhere.
    pub(super) warps: i64,
}

/// Buffers that are filled and used together, as one channel.
pub(super) struct Ring {
    pub(super) name: String,
    pub(super) buffers: Vec<Buffer>,
    pub(super) stages: i64,
}

pub(super) struct Buffer {
    pub(super) alloc: Op,
    /// The copy that fills it.
    pub(super) fill: Op,
    /// The products that read it, and as which operand.
    pub(super) uses: Vec<(Op, usize)>,
}

pub(super) struct Accumulator {
    pub(super) made: Op,
    pub(super) products: Vec<Op>,
    pub(super) loads: Vec<Op>,
}

pub(super) fn read(function: Op, request: &Request) -> Result<Storage, Failed> {
    if let Some(window) = function.find("async_pipeline.tile.window").first() {
        return Err(error(
            *window,
            "'async_pipeline.tile.window' op is not supported by the lowering of the tile level",
        ));
    }
    scalar_loads(function)?;
    let buffers = function
        .find("async_pipeline.tile.alloc")
        .into_iter()
        .filter(|alloc| !alloc.result(0).uses().is_empty())
        .map(buffer)
        .collect::<Result<Vec<_>, _>>()?;
    let accumulators = function
        .find("async_pipeline.tile.accumulator")
        .into_iter()
        .filter(|made| !made.result(0).uses().is_empty())
        .map(accumulator)
        .collect::<Result<Vec<_>, _>>()?;
    let values: i64 = accumulators
        .iter()
        .map(|accumulator| {
            let tile = accumulator.made.result(0).ty().fields()[0];
            tile.static_shape().iter().product::<i64>()
        })
        .sum();
    let warps = (values / (32 * VALUES_PER_THREAD)).clamp(WARPS.0, WARPS.1);
    Ok(Storage {
        rings: rings(function, buffers, request)?,
        accumulators,
        warps: warps.cast_unsigned().next_power_of_two() as i64,
    })
}

/// A scalar is loaded by every thread of every role, in no order with stores of other threads.
fn scalar_loads(function: Op) -> Result<(), Failed> {
    let loads = function.find("memref.load").into_iter();
    loads
        .into_iter()
        .try_for_each(|load| stored_to(load, load.operand(0)))
}

/// Refuses to read, ahead or by other threads, what the kernel stores to.
fn stored_to(reads: Op, from: Value) -> Result<(), Failed> {
    let mut kernel = reads.parent();
    while let Some(op) = kernel.filter(|op| !op.is("gpu.func")) {
        kernel = op.parent();
    }
    let stores = kernel.map(|kernel| kernel.find("async_pipeline.work.store"));
    let changed = stores.unwrap_or_default().into_iter().find(|store| {
        let to = store.operand(1);
        to == from || (argument_may_alias(to) && argument_may_alias(from))
    });
    match changed {
        Some(store) => Err(error_with_note(
            reads,
            format!(
                "'{}' op from a tensor that the kernel stores to is not supported by the lowering of the tile level",
                reads.name()
            ),
            store,
            "the store is here",
        )),
        None => Ok(()),
    }
}

fn buffer(alloc: Op) -> Result<Buffer, Failed> {
    let (mut fills, mut uses) = (Vec::new(), Vec::new());
    for (user, index) in alloc.result(0).uses().into_iter().rev() {
        match user.name() {
            "async_pipeline.work.mma" => uses.push((user, index)),
            "async_pipeline.work.copy" if user.operand_segment(2)[0] == alloc.result(0) => {
                fills.push(user);
            }
            name => {
                let what = if name == "async_pipeline.work.copy" {
                    "a copy out of a buffer".to_owned()
                } else {
                    format!("'{name}' op on a buffer")
                };
                return Err(error_with_note(
                    user,
                    format!(
                        "{what} is not supported by the lowering of the tile level, which fills buffers by copies and reads them in products; load from and store to global memory instead"
                    ),
                    alloc,
                    "the buffer is made here",
                ));
            }
        }
    }
    let [fill] = fills[..] else {
        return Err(match fills.get(1) {
            Some(second) => error_with_note(
                alloc,
                "expected a buffer that one copy fills",
                *second,
                "a second one is here",
            ),
            None => error(alloc, "expected a buffer that a copy fills, got none"),
        });
    };
    stored_to(fill, fill.operand_segment(0)[0])?;
    let (memref, tile) = (fill.operand_segment(0)[0].ty(), alloc.result(0).ty());
    let rank = tile.fields()[0].static_shape().len();
    if memref.shape().len() != rank {
        return Err(error(
            fill,
            format!(
                "a copy from a tensor of more dimensions than the tile is not supported by the lowering of the tile level, got {memref}"
            ),
        ));
    }
    Ok(Buffer { alloc, fill, uses })
}

fn accumulator(made: Op) -> Result<Accumulator, Failed> {
    let mut found = Accumulator {
        made,
        products: Vec::new(),
        loads: Vec::new(),
    };
    for (user, _) in made.result(0).uses().into_iter().rev() {
        match user.name() {
            "async_pipeline.work.mma" => {
                if user.operand(1).ty().kind() != TypeKind::Buffer {
                    return Err(error(
                        user,
                        "an A in registers is not supported by the lowering of the tile level",
                    ));
                }
                found.products.push(user);
            }
            "async_pipeline.work.load" => found.loads.push(user),
            name => {
                return Err(error(
                    user,
                    format!(
                        "'{name}' op on an accumulator is not supported by the lowering of the tile level"
                    ),
                ));
            }
        }
    }
    Ok(found)
}

/// Puts buffers together that are filled in one block for the same products.
fn rings(function: Op, buffers: Vec<Buffer>, request: &Request) -> Result<Vec<Ring>, Failed> {
    let mut groups: Vec<Vec<Buffer>> = Vec::new();
    for buffer in buffers {
        let products = |buffer: &Buffer| -> Vec<Op> {
            let mut products: Vec<Op> = buffer.uses.iter().map(|(user, _)| *user).collect();
            products.dedup();
            products
        };
        let same = |group: &&mut Vec<Buffer>| {
            group[0].fill.block() == buffer.fill.block() && products(&group[0]) == products(&buffer)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(buffer),
            None => groups.push(vec![buffer]),
        }
    }
    let bytes: Vec<i64> = groups.iter().map(|group| slot_bytes(group)).collect();
    let mut left = i64::from(request.target.limits().max_dynamic_shared_bytes) - SLOT_ALIGN;
    let mut rings = Vec::new();
    for (index, buffers) in groups.into_iter().enumerate() {
        // Those behind get one slot each at least.
        let others: i64 = bytes[index + 1..].iter().sum();
        let stages = stages(function, &buffers, (left - others) / bytes[index], request)?;
        left -= stages * bytes[index];
        let names: Vec<String> = buffers
            .iter()
            .filter_map(|buffer| buffer.alloc.attr("name")?.string())
            .collect();
        let own = match names.join("_") {
            name if name.is_empty() => "tile".to_owned(),
            name => name,
        };
        let taken = |name: &str| rings.iter().any(|ring: &Ring| ring.name == name);
        let name = free_name(own, taken);
        rings.push(Ring {
            name,
            buffers,
            stages,
        });
    }
    Ok(rings)
}

/// The name, or the name with the first number behind it that makes it new.
pub(super) fn free_name(name: String, taken: impl Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    let mut number = 1_u32;
    loop {
        let numbered = format!("{name}_{number}");
        if !taken(&numbered) {
            return numbered;
        }
        number += 1;
    }
}

fn slot_bytes(buffers: &[Buffer]) -> i64 {
    let tiles = buffers.iter().map(|buffer| {
        let bytes = buffer.alloc.result(0).ty().fields()[0].tile_bytes();
        (bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN
    });
    tiles.sum::<i64>() + 2 * MBARRIER_BYTES
}

/// As many slots as are asked for, fit, and are of use.
fn stages(function: Op, buffers: &[Buffer], fit: i64, request: &Request) -> Result<i64, Failed> {
    let fill = buffers[0].fill;
    let Some(looped) = fill.parent().filter(|parent| parent.is("scf.for")) else {
        return Ok(1);
    };
    let own = looped
        .attr("async_pipeline.stages")
        .and_then(|stages| stages.int());
    if let (Some(own), true) = (own, looped.attr("async_pipeline.exactly").is_some()) {
        return Ok(own);
    }
    let asked = request.stages.or(own).unwrap_or(DEFAULT_STAGES);
    if fit < 1 {
        return Err(error(
            function,
            format!(
                "shared memory: one slot of {} bytes exceeds what is left of the {} bytes that a CTA has on {}; use smaller tiles",
                slot_bytes(buffers),
                request.target.limits().max_dynamic_shared_bytes,
                request.target
            ),
        ));
    }
    if fit < asked {
        emit_remark(
            looped.location(),
            &format!(
                "{fit} of {asked} stages fit in the {} bytes of shared memory that a CTA has on {}",
                request.target.limits().max_dynamic_shared_bytes,
                request.target
            ),
        );
    }
    Ok(asked.min(fit))
}

/// Whether a value is the same in every pass through a loop.
pub(super) fn is_outside(value: Value, looped: Op) -> bool {
    !value.owner().is_some_and(|owner| owner.is_within(looped))
}
