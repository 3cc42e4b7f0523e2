//! Reads a kernel's channels and roles into the plan.

use super::{
    Request, groups,
    plan::{Access, ChannelPlan, Party, Storage, load_access, store_access},
};
use crate::{
    diagnostics::{error, error_with_note},
    passes::Failed,
};
use async_pipeline_sys::ir::{Op, Type, TypeKind, Value};

/// Slots when neither the channel nor the options say.
const DEFAULT_STAGES: i64 = 4;

/// A kernel with its plan; handles stay valid until `apply` rewrites them.
pub(super) struct Kernel {
    pub(super) function: Op,
    pub(super) roles: Vec<Role>,
    pub(super) channels: Vec<Channel>,
}

pub(super) struct Role {
    pub(super) op: Op,
    pub(super) warps: i64,
    /// One thread issues everything the role does.
    pub(super) elected: bool,
}

pub(super) struct Channel {
    pub(super) op: Op,
    pub(super) plan: ChannelPlan,
}

pub(super) fn kernel(function: Op, request: &Request) -> Result<Kernel, Failed> {
    let creates = function.find("async_pipeline.channel.create");
    let mut roles = roles(function);
    let drafts = creates
        .iter()
        .map(|create| draft(*create, &roles, request))
        .collect::<Result<Vec<_>, Failed>>()?;
    elect(&mut roles, &creates, &drafts);
    // Counts follow the final number of warps: an elected role needs one.
    let channels = creates
        .into_iter()
        .zip(drafts)
        .map(|(op, mut plan)| {
            for party in plan.consumers.iter_mut().chain([&mut plan.producer]) {
                party.warps = roles[party.role].warps;
            }
            Channel { op, plan }
        })
        .collect();
    Ok(Kernel {
        function,
        roles,
        channels,
    })
}

fn roles(function: Op) -> Vec<Role> {
    function
        .find("async_pipeline.role")
        .into_iter()
        .map(|op| Role {
            op,
            warps: op.attr("warps").and_then(|warps| warps.int()).unwrap_or(1),
            elected: op.attr("elected").is_some(),
        })
        .collect()
}

/// Slots of a channel: its own number, unless an option overrides it.
pub(in crate::passes) fn stages(create: Op, asked: Option<i64>) -> i64 {
    let own = create.attr("stages").and_then(|stages| stages.int());
    match (own, create.attr("exactly").is_some(), asked) {
        (Some(own), true, _) | (Some(own), false, None) => own,
        (_, _, Some(asked)) => asked,
        (None, _, None) => DEFAULT_STAGES,
    }
}

fn draft(create: Op, roles: &[Role], request: &Request) -> Result<ChannelPlan, Failed> {
    let name = create
        .attr("name")
        .and_then(|name| name.string())
        .unwrap_or_default();
    let stages = stages(create, request.stages);
    let forced = create.attr("cp_async").is_some();
    let users: Vec<Op> = create
        .result(0)
        .uses()
        .into_iter()
        .map(|(user, _)| user)
        .collect();

    let mut producers = Vec::new();
    let mut consumers = Vec::new();
    for (index, role) in roles.iter().enumerate() {
        let takers: Vec<Op> = users
            .iter()
            .copied()
            .filter(|user| user.is_within(role.op))
            .collect();
        let fills: Vec<Op> = takers
            .iter()
            .copied()
            .filter(|op| op.is("async_pipeline.channel.acquire"))
            .collect();
        let drains: Vec<Op> = takers
            .iter()
            .copied()
            .filter(|op| op.is("async_pipeline.channel.wait"))
            .collect();
        for (ops, parties, copies) in [
            (fills, &mut producers, load_access(request.target, forced)),
            (drains, &mut consumers, store_access(request.target, forced)),
        ] {
            if let Some(access) = access(&ops, copies, request)? {
                parties.push((
                    ops[0],
                    Party {
                        role: index,
                        warps: role.warps,
                        access,
                    },
                ));
            }
        }
    }
    let producer = match producers.as_slice() {
        [(_, only)] => only.clone(),
        [] => {
            return Err(error(
                create,
                format!("channel \"{name}\": expected a role that acquires its slots, got none"),
            ));
        }
        [_, (second, _), ..] => {
            return Err(error_with_note(
                create,
                format!(
                    "channel \"{name}\": expected one role that acquires its slots, got {}",
                    producers.len()
                ),
                *second,
                "acquired here by a second role",
            ));
        }
    };
    if consumers.is_empty() {
        return Err(error(
            create,
            format!("channel \"{name}\": expected a role that waits for its slots, got none"),
        ));
    }
    let consumers = consumers.into_iter().map(|(_, party)| party).collect();
    let storage = storage(create, stages, &users, request)?;
    let groups = create.attr("groups").is_some();
    let plan = ChannelPlan {
        name,
        stages,
        producer,
        consumers,
        storage,
        groups,
    };
    if groups {
        groups::check(create, &plan)?;
    }
    Ok(plan)
}

/// Where the slots are, and in which order their bytes.
fn storage(create: Op, stages: i64, takers: &[Op], request: &Request) -> Result<Storage, Failed> {
    let fields = create.result(0).ty().fields();
    if create.attr("tensor_memory").is_some() {
        if !request.target.has_tcgen05() {
            return Err(error(
                create,
                format!("there is no tensor memory on {}", request.target),
            ));
        }
        let columns = fields[0].static_shape()[1];
        let all = i64::from(request.target.limits().tmem_columns);
        if stages * columns > all {
            return Err(error(
                create,
                format!(
                    "{stages} slots of {columns} columns exceed the {all} columns of tensor memory; the largest number of stages that fits is {}",
                    all / columns
                ),
            ));
        }
        return Ok(Storage::Tensor { columns });
    }
    let mut swizzles = vec![0; fields.len()];
    for (operand, slot, field) in takers.iter().flat_map(|taker| operands(*taker)) {
        let swizzle = swizzle(fields[field]).map_err(|message| error(operand, message))?;
        let users = slot.uses().into_iter().map(|(user, _)| user);
        let mut others = users.filter(|user| field_of(*user) == Some(field));
        if let Some(other) = others.find(|user| {
            user.is("async_pipeline.channel.view") || user.is("async_pipeline.work.load")
        }) {
            return Err(error_with_note(
                other,
                format!(
                    "'{}' op is not supported on a tile that a product reads, whose bytes are swizzled",
                    other.name()
                ),
                operand,
                "the product is here",
            ));
        }
        swizzles[field] = swizzle;
    }
    Ok(Storage::Shared { swizzles })
}

/// The products that read a slot, with the field each reads.
fn operands(taker: Op) -> Vec<(Op, Value, usize)> {
    let slot = taker.result(0);
    let number = |op: Op, name: &str| {
        let number = op.attr(name).and_then(|attr| attr.int());
        number.unwrap_or_default() as usize
    };
    let uses = slot.uses().into_iter();
    uses.filter(|(user, _)| user.is("async_pipeline.work.mma"))
        .filter_map(|(user, index)| match index {
            1 => Some((user, slot, number(user, "field_a"))),
            2 => Some((user, slot, number(user, "field_b"))),
            _ => None,
        })
        .collect()
}

fn field_of(user: Op) -> Option<usize> {
    Some(user.attr("field")?.int()? as usize)
}

/// The widest swizzle that a row fills; longer rows are cut into boxes.
fn swizzle(tile: Type) -> Result<i64, String> {
    let shape = tile.static_shape();
    let row = shape.last().copied().unwrap_or(0) * tile.element().byte_width().unwrap_or(1);
    match row {
        32 | 64 => Ok(row),
        _ if row % 128 == 0 => Ok(128),
        _ => Err(format!(
            "expected rows of an operand of a product to be 32, 64 or a multiple of 128 bytes as stored, got {row}"
        )),
    }
}

/// How one party touches the slots it takes; the same everywhere.
fn access(takers: &[Op], copies: Access, request: &Request) -> Result<Option<Access>, Failed> {
    let mut found: Option<(Op, Access)> = None;
    for taker in takers {
        let users: Vec<Op> = taker
            .result(0)
            .uses()
            .into_iter()
            .map(|(user, _)| user)
            .collect();
        let copy = users.iter().find(|op| op.is("async_pipeline.work.copy"));
        let by_threads =
            |op: &&Op| op.is("async_pipeline.channel.view") || op.is("async_pipeline.work.load");
        let view = users.iter().find(by_threads);
        let product = users.iter().find(|op| op.is("async_pipeline.work.mma"));
        if let (Some(product), Some(other)) = (product, copy.or(view)) {
            return Err(error_with_note(
                *other,
                "expected a slot that a product uses not to be touched otherwise by the same role",
                *product,
                "the product is here",
            ));
        }
        if let Some(write) = users.iter().find(|op| op.is("async_pipeline.work.store")) {
            return Err(error(
                *write,
                "'async_pipeline.work.store' op into a slot is not supported; write through channel.view",
            ));
        }
        let access = match (copy, view) {
            (None, None) if product.is_some() && request.target.has_tcgen05() => Access::Tcgen05,
            (Some(copy), Some(view)) => {
                return Err(error_with_note(
                    *copy,
                    "expected a slot to be touched by copies or through views, got both",
                    *view,
                    "viewed here",
                ));
            }
            (Some(_), None) => copies,
            (None, _) => Access::Threads,
        };
        match found {
            Some((first, other)) if other != access => {
                return Err(error_with_note(
                    *taker,
                    "expected a role to touch every slot of a channel in the same way",
                    first,
                    "touched differently here",
                ));
            }
            _ => found = Some((*taker, access)),
        }
    }
    Ok(found.map(|(_, access)| access))
}

/// A role whose every effect is asked of the copy engine is run by one thread.
fn elect(roles: &mut [Role], creates: &[Op], plans: &[ChannelPlan]) {
    for (index, role) in roles.iter_mut().enumerate() {
        let issues_only = |channel: Value| {
            let known = creates
                .iter()
                .position(|create| create.result(0) == channel);
            known.is_some_and(|known| {
                let plan = &plans[known];
                plan.consumers
                    .iter()
                    .chain([&plan.producer])
                    .filter(|party| party.role == index)
                    .all(|party| party.access.is_asked())
            })
        };
        let body = role.op.walk();
        let takes_slots = body.iter().any(|op| {
            op.is("async_pipeline.channel.acquire") || op.is("async_pipeline.channel.wait")
        });
        if takes_slots
            && body
                .iter()
                .all(|op| is_scalar(*op) || is_issue(*op, &issues_only))
        {
            role.elected = true;
        }
        if role.elected {
            role.warps = 1;
        }
    }
}

fn is_issue(op: Op, issues_only: &impl Fn(Value) -> bool) -> bool {
    match op.name() {
        "async_pipeline.channel.acquire" | "async_pipeline.channel.wait" => {
            issues_only(op.operand(0))
        }
        "async_pipeline.channel.commit"
        | "async_pipeline.channel.release"
        | "async_pipeline.work.mma"
        | "async_pipeline.work.copy" => op
            .operands()
            .into_iter()
            .filter(|value| value.ty().kind() == TypeKind::Slot)
            .all(|slot| {
                slot.defining_op()
                    .is_some_and(|taker| issues_only(taker.operand(0)))
            }),
        _ => false,
    }
}

/// Scalar code without effects, which one thread may run for all.
fn is_scalar(op: Op) -> bool {
    let name = op.name();
    name.starts_with("arith.")
        || name.starts_with("index.")
        || matches!(
            name,
            "scf.for"
                | "scf.if"
                | "scf.while"
                | "scf.yield"
                | "scf.condition"
                | "memref.dim"
                | "gpu.block_id"
                | "gpu.grid_dim"
                | "gpu.block_dim"
        )
}
