//! `roles` → a branch on the warp id.
//!
//! A role that one thread runs begins with one `elect.sync`, not with a test of the
//! thread id: ptxas then knows that a single thread is active and issues copies
//! without a loop over candidates. The lanes meet again behind it.

use super::{
    ids::{register, role_span},
    ptx,
    sync::elect,
};
use crate::build::{Build, Compare};
use async_pipeline_sys::ir::{Builder, Op, Value};
use ptx_model::target::Target;

pub(super) fn lower(roles: Op, target: Target) {
    let members: Vec<Op> = roles.body(0).map(|body| body.ops()).unwrap_or_default();
    let spans: Vec<(i64, i64)> = members.iter().map(|role| role_span(*role)).collect();
    let builder = Builder::before(roles);
    let build = Build(builder);
    let warp = warp_id(builder);
    // Each role in a branch of its own: the tests are uniform per warp and cost nothing.
    for (role, (first, warps)) in members.iter().zip(spans) {
        let mine = in_span(build, warp, first, warps);
        build.when(mine, |build| {
            let elected = role.attr("elected").is_some();
            if !elected {
                move_body(*role, build);
                return;
            }
            let leader = elect(build.0, target);
            build.when(leader, |build| move_body(*role, build));
            // Lanes that were not elected come back before anything that all lanes run.
            ptx(build.0, "bar.warp.sync 0xffffffff;", "", &[]);
        });
    }
    roles.erase();
}

/// The warp id, the same register in every lane so that ptxas sees a uniform value.
fn warp_id(builder: Builder) -> Value {
    let context = builder.context();
    let build = Build(builder);
    let thread = register(builder, "nvvm.read.ptx.sreg.tid.x");
    let warp = builder
        .op("arith.shrui")
        .operands(&[thread, build.i32(5)])
        .results(&[context.i32()])
        .value();
    let kind = crate::passes::lower_kernel_abi::parse(context, "#nvvm<shfl_kind idx>");
    builder
        .op("nvvm.shfl.sync")
        .operands(&[build.i32(-1), warp, build.i32(0), build.i32(31)])
        .attr("kind", kind)
        .results(&[context.i32()])
        .value()
}

fn in_span(build: Build, warp: Value, first: i64, warps: i64) -> Value {
    if warps == 1 {
        return build.compare(Compare::Eq, warp, build.i32(first));
    }
    let from_first = if first == 0 {
        warp
    } else {
        build.sub(warp, build.i32(first))
    };
    build.compare(Compare::UnsignedLess, from_first, build.i32(warps))
}

fn move_body(role: Op, build: Build) {
    for op in role.body(0).map(|body| body.ops()).unwrap_or_default() {
        op.detach();
        build.0.insert(op);
    }
}
