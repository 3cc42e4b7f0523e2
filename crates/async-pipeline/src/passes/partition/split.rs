//! From one flow of control to roles.
//!
//! Scalars of the kernel's first block stay in front of the roles. Everything else is copied into
//! each role, and what a role has no part in is taken out again.

use super::{Part, Request, channels::Parts, storage::Storage};
use crate::{diagnostics::error_with_note, passes::Failed};
use async_pipeline_sys::ir::{Block, Builder, Op, Value};
use std::collections::{HashMap, HashSet};

/// A role to be.
struct Role {
    name: &'static str,
    warps: i64,
    parts: &'static [Part],
}

/// Who does what on a target. Roles that touch tensor memory start at a warp that is a multiple
/// of 4, since a warp reaches the lanes that its number modulo 4 says.
fn plan(storage: &Storage, request: &Request) -> Vec<Role> {
    let role = |name, warps, parts| Role { name, warps, parts };
    let compute = storage.warps;
    if storage.rings.is_empty() || !request.target.has_tcgen05() {
        // Also where a copy engine is asked: a warp more would leave fewer registers to those
        // that hold the sums.
        return vec![role(
            "compute",
            compute,
            &[Part::Load, Part::Product, Part::Compute],
        )];
    }
    vec![
        role("epilogue", 4, &[Part::Compute]),
        role("load", 1, &[Part::Load]),
        role("product", 1, &[Part::Product]),
    ]
}

pub(super) fn roles(
    function: Op,
    storage: &Storage,
    parts: &Parts,
    request: &Request,
) -> Result<(), Failed> {
    let (Some(entry), roles) = (function.body(0), plan(storage, request)) else {
        return Ok(());
    };
    let Some(end) = entry.terminator() else {
        return Ok(());
    };
    if roles.len() > 1 {
        refuse_shared_loops(function, &roles, parts)?;
    }
    let context = function.context();
    let inside = moved(entry, parts);
    let Some(first) = inside.first() else {
        return Ok(());
    };
    let location = first.location();
    let builder = Builder::before(end).with_location(location);
    let all = builder.op("async_pipeline.roles").regions(1).build();
    let (_, members) = all.regions()[0].new_block(&[], location, context);
    for (index, role) in roles.iter().enumerate() {
        let op = members
            .op("async_pipeline.role")
            .attr("sym_name", context.string_attr(role.name))
            .attr("warps", context.i32_attr(role.warps))
            .regions(1)
            .build();
        let (block, body) = op.regions()[0].new_block(&[], location, context);
        if index + 1 == roles.len() {
            for op in &inside {
                op.detach();
                body.insert(*op);
            }
            prune(block, &|op| {
                parts.get(&op).is_none_or(|part| role.parts.contains(part))
            });
        } else {
            let mut copies = Copies::default();
            for op in &inside {
                body.insert(copies.copy(*op));
            }
            prune(block, &|op| {
                let part = copies.origin.get(&op).and_then(|origin| parts.get(origin));
                part.is_none_or(|part| role.parts.contains(part))
            });
        }
    }
    Ok(())
}

/// The ops that go into the roles: all of the entry block but scalars of scalars outside.
fn moved(entry: Block, parts: &Parts) -> Vec<Op> {
    let mut inside: HashSet<Op> = HashSet::new();
    let mut out = Vec::new();
    for op in entry.ops() {
        let from_inside = op
            .operands()
            .iter()
            .any(|value| value.defining_op().is_some_and(|op| inside.contains(&op)));
        let stays = op.is("gpu.return")
            || op.is("async_pipeline.channel.create")
            || (is_scalar(op) && !from_inside && !parts.contains_key(&op));
        if !stays {
            inside.insert(op);
            out.push(op);
        }
    }
    out
}

fn is_scalar(op: Op) -> bool {
    let name = op.name();
    let pure = name.starts_with("arith.")
        || name.starts_with("index.")
        || name.starts_with("math.")
        || matches!(
            name,
            "gpu.block_id" | "gpu.grid_dim" | "memref.dim" | "memref.load"
        );
    pure && !op.results().iter().any(|result| result.ty().is_vector())
}

/// A loop that carries values is one flow: who computes them and who uses them must be one role.
fn refuse_shared_loops(function: Op, roles: &[Role], parts: &Parts) -> Result<(), Failed> {
    for looped in function.find("scf.for") {
        if looped.result_count() == 0 {
            continue;
        }
        let with_role = |role: &Role| {
            looped
                .walk()
                .into_iter()
                .find(|op| parts.get(op).is_some_and(|part| role.parts.contains(part)))
        };
        let found: Vec<Op> = roles.iter().filter_map(with_role).collect();
        if let [_, other, ..] = found[..] {
            return Err(error_with_note(
                looped,
                "a loop that carries values and holds work of several roles is not supported by the lowering of the tile level",
                other,
                "work of another role is here",
            ));
        }
    }
    Ok(())
}

/// Copies of ops, and what each is a copy of.
#[derive(Default)]
struct Copies {
    values: HashMap<Value, Value>,
    origin: HashMap<Op, Op>,
}

impl Copies {
    fn copy(&mut self, op: Op) -> Op {
        let copy = op.clone_detached();
        let originals = [op].into_iter().chain(op.walk());
        let copies = [copy].into_iter().chain(copy.walk());
        for (original, copy) in originals.zip(copies) {
            for index in 0..copy.operand_count() {
                if let Some(value) = self.values.get(&copy.operand(index)) {
                    copy.set_operand(index, *value);
                }
            }
            self.origin.insert(copy, original);
        }
        self.values
            .extend(op.results().into_iter().zip(copy.results()));
        copy
    }
}

/// Takes out what does not belong here, and then what nobody needs any more.
fn prune(block: Block, keep: &dyn Fn(Op) -> bool) {
    let mut all = Vec::new();
    for op in block.ops() {
        all.push(op);
        all.extend(op.walk());
    }
    // Users before what they use, and what is nested before what holds it.
    for op in all.into_iter().rev() {
        let unused = op.results().iter().all(|result| result.uses().is_empty());
        if unused && (!keep(op) || is_dead(op)) {
            op.erase();
        }
    }
}

/// Of ops whose results nobody uses.
fn is_dead(op: Op) -> bool {
    let name = op.name();
    match name {
        "scf.for" | "scf.if" => op
            .walk()
            .into_iter()
            .all(|inner| inner.is("scf.yield") || is_dead(inner)),
        "async_pipeline.work.load" | "async_pipeline.tile.accumulator" | "memref.load" => true,
        _ => is_scalar(op) || name.starts_with("vector.") || is_vector_arithmetic(op),
    }
}

fn is_vector_arithmetic(op: Op) -> bool {
    op.name().starts_with("arith.") || op.name().starts_with("math.")
}
