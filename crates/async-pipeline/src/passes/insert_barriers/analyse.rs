//! Reads a kernel's channels and roles into the plan.

use super::{
    Request,
    plan::{Access, ChannelPlan, Party, load_access, store_access},
};
use crate::{
    diagnostics::{error, error_with_note},
    passes::Failed,
};
use async_pipeline_sys::ir::{Op, TypeKind, Value};

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
            if let Some(access) = access(&ops, copies)? {
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
    Ok(ChannelPlan {
        name,
        stages,
        producer,
        consumers,
    })
}

/// How one party touches the slots it takes; the same everywhere.
fn access(takers: &[Op], copies: Access) -> Result<Option<Access>, Failed> {
    let mut found: Option<(Op, Access)> = None;
    for taker in takers {
        let users: Vec<Op> = taker
            .result(0)
            .uses()
            .into_iter()
            .map(|(user, _)| user)
            .collect();
        let copy = users.iter().find(|op| op.is("async_pipeline.work.copy"));
        let view = users.iter().find(|op| op.is("async_pipeline.channel.view"));
        let access = match (copy, view) {
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
                    .all(|party| party.access == Access::Tma)
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
