//! Rings of one role that groups of `cp.async` keep.
//!
//! Each fill is a group. When iteration `i` waits, `stages - 1 + i` groups are closed, and the
//! slot that it drains is filled by group `i`: all but the youngest `stages - 2` have to be done.
//! The barrier behind that wait makes every thread's copies visible to all, and holds the fill of
//! the slot drained last back until all are done with it.

use super::{
    analyse::Role,
    plan::{Access, ChannelPlan, WARP},
};
use crate::{build::Build, diagnostics::error, passes::Failed};
use async_pipeline_sys::ir::{Builder, Op};

/// Number of the role's barrier; 0 is that of the CTA.
const BARRIER: i64 = 1;

/// The form that `async-pipeline-multistage` makes, on which counting groups relies.
pub(super) fn check(create: Op, plan: &ChannelPlan) -> Result<(), Failed> {
    let refuse = |why: &str| {
        Err(error(
            create,
            format!("channel \"{}\" with `groups`: {why}", plan.name),
        ))
    };
    let one_role = matches!(&plan.consumers[..], [only] if only.role == plan.producer.role);
    if !one_role || plan.producer.access != Access::CpAsync || plan.stages < 2 {
        return refuse(
            "expected one role that fills by cp.async and drains, and at least 2 stages",
        );
    }
    let takers: Vec<Op> = create
        .result(0)
        .uses()
        .into_iter()
        .map(|(op, _)| op)
        .collect();
    let named =
        |name: &str| -> Vec<Op> { takers.iter().copied().filter(|op| op.is(name)).collect() };
    let (fills, waits) = (
        named("async_pipeline.channel.acquire"),
        named("async_pipeline.channel.wait"),
    );
    let looped = waits.first().and_then(|wait| wait.parent());
    let ahead = fills.iter().find_map(|fill| {
        let around = fill.parent()?;
        let bound = |operand| around.operand(operand).constant_int();
        let counts = around.is("scf.for")
            && (bound(0), bound(1), bound(2)) == (Some(0), Some(plan.stages - 1), Some(1))
            && Some(around) != looped;
        counts.then_some(around)
    });
    let right = match (&waits[..], looped, ahead) {
        ([wait], Some(looped), Some(ahead)) => {
            looped.is("scf.for")
                && ahead.is_before(looped)
                && fills.len() == 2
                && fills
                    .iter()
                    .any(|fill| fill.parent() == Some(looped) && wait.is_before(*fill))
        }
        _ => false,
    };
    if right {
        Ok(())
    } else {
        refuse("expected the loops that async-pipeline-multistage makes")
    }
}

/// Whether a side of the ring starts with its first slot at a loop: fills at the loop that runs
/// ahead, drains at the loop itself. More is filled than drained, so one cannot go on where the
/// other stopped.
pub(super) fn restarts(looped: Op, create: Op, produces: bool) -> bool {
    let body = looped.body(0);
    let takes = |name: &str| {
        let users = create.result(0).uses().into_iter();
        users
            .map(|(user, _)| user)
            .any(|user| user.is(name) && user.block() == body)
    };
    match produces {
        true => takes("async_pipeline.channel.acquire") && !takes("async_pipeline.channel.wait"),
        false => takes("async_pipeline.channel.wait"),
    }
}

fn wait_group(build: Build, pending: i64) {
    build
        .0
        .op("async_pipeline.cp_async.wait_group")
        .attr("pending", build.0.context().i32_attr(pending))
        .build();
}

fn barrier(build: Build, role: &Role) {
    let context = build.0.context();
    build
        .0
        .op("async_pipeline.named_barrier.sync")
        .attr("id", context.i32_attr(BARRIER))
        .attr("threads", context.i32_attr(role.warps * WARP))
        .build();
}

/// In front of a drain.
pub(super) fn wait(build: Build, plan: &ChannelPlan, role: &Role) {
    wait_group(build, plan.stages - 2);
    barrier(build, role);
}

/// Behind the copies of a fill.
pub(super) fn commit(build: Build) {
    build.0.op("async_pipeline.cp_async.commit_group").build();
}

/// Behind the loop: no copy is under way, and no thread still reads.
pub(super) fn finish(looped: Op, role: &Role) {
    let behind = looped.block().and_then(|block| {
        block
            .ops()
            .into_iter()
            .skip_while(|op| *op != looped)
            .nth(1)
    });
    let build = match (behind, looped.block()) {
        (Some(next), _) => Builder::before(next),
        (None, Some(block)) => Builder::at_end(block, looped.location(), looped.context()),
        (None, None) => return,
    };
    let build = Build(build.with_location(looped.location()));
    wait_group(build, 0);
    barrier(build, role);
}
