//! Thread and block numbers.

use crate::{
    build::Build,
    diagnostics::error,
    passes::{Failed, insert_barriers::plan::WARP},
};
use async_pipeline_sys::ir::{Builder, Op, Value};

/// A special register as i32.
pub(super) fn register(builder: Builder, name: &'static str) -> Value {
    builder.op(name).results(&[builder.context().i32()]).value()
}

fn as_index(builder: Builder, value: Value) -> Value {
    builder
        .op("arith.index_castui")
        .operands(&[value])
        .results(&[builder.context().index()])
        .value()
}

/// First warp of the role that an op is in, and its warps.
pub(super) fn role_span(role: Op) -> (i64, i64) {
    let warps = |op: Op| op.attr("warps").and_then(|warps| warps.int()).unwrap_or(1);
    let before: i64 = role
        .block()
        .into_iter()
        .flat_map(|block| block.ops())
        .take_while(|other| *other != role)
        .map(warps)
        .sum();
    (before, warps(role))
}

pub(super) fn role(op: Op, name: &str) -> Result<(), Failed> {
    let Some(role) = op.ancestor("async_pipeline.role") else {
        return Err(error(op, "expected to stand inside an async_pipeline.role"));
    };
    let (first, warps) = role_span(role);
    let builder = Builder::before(op);
    let build = Build(builder);
    let value = if name == "role.thread_count" {
        build.index(warps * WARP)
    } else {
        let thread = register(builder, "nvvm.read.ptx.sreg.tid.x");
        as_index(
            builder,
            if first == 0 {
                thread
            } else {
                build.sub(thread, build.i32(first * WARP))
            },
        )
    };
    op.replace(&[value]);
    Ok(())
}

pub(super) fn gpu(op: Op, name: &str) -> Result<(), Failed> {
    if name == "module" || name == "return" {
        return Ok(());
    }
    let dimension = op.attr("dimension").map(|dimension| dimension.to_string());
    let dimension = dimension.as_deref().unwrap_or_default();
    let axis = [
        ("x", "#gpu<dim x>"),
        ("y", "#gpu<dim y>"),
        ("z", "#gpu<dim z>"),
    ]
    .into_iter()
    .find(|(_, text)| *text == dimension)
    .map(|(axis, _)| axis);
    let register_name = match (name, axis) {
        ("thread_id", Some("x")) => "nvvm.read.ptx.sreg.tid.x",
        ("thread_id", Some("y")) => "nvvm.read.ptx.sreg.tid.y",
        ("thread_id", Some("z")) => "nvvm.read.ptx.sreg.tid.z",
        ("block_id", Some("x")) => "nvvm.read.ptx.sreg.ctaid.x",
        ("block_id", Some("y")) => "nvvm.read.ptx.sreg.ctaid.y",
        ("block_id", Some("z")) => "nvvm.read.ptx.sreg.ctaid.z",
        ("grid_dim", Some("x")) => "nvvm.read.ptx.sreg.nctaid.x",
        ("grid_dim", Some("y")) => "nvvm.read.ptx.sreg.nctaid.y",
        ("grid_dim", Some("z")) => "nvvm.read.ptx.sreg.nctaid.z",
        ("block_dim", Some("x")) => "nvvm.read.ptx.sreg.ntid.x",
        ("block_dim", Some("y")) => "nvvm.read.ptx.sreg.ntid.y",
        ("block_dim", Some("z")) => "nvvm.read.ptx.sreg.ntid.z",
        ("lane_id", _) => "nvvm.read.ptx.sreg.laneid",
        ("barrier", _) => {
            return Err(error(
                op,
                "'gpu.barrier' op is not supported; use async_pipeline.cta.barrier, or async_pipeline.named_barrier.sync inside a role",
            ));
        }
        _ => {
            return Err(error(
                op,
                format!("'{}' op is not supported in a kernel", op.name()),
            ));
        }
    };
    let builder = Builder::before(op);
    let value = as_index(builder, register(builder, register_name));
    op.replace(&[value]);
    Ok(())
}
