//! Rules of the channel level that need more than one op.
//!
//! Nothing of the tile level is left; a kernel has roles to run; channels stand in front of them; what a role calls a
//! role's thread count stays inside it.

use super::{Failed, Options, Pass, verify_tiles::is_tile_level};
use crate::diagnostics::{self, error, error_with_note};
use async_pipeline_sys::ir::Op;
use std::collections::BTreeMap;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-verify-channels",
    description: "Check the rules of channels and roles that need more than one op",
    options: &[],
    run,
};

fn run(module: Op, _: &Options<'_>) -> Result<(), Failed> {
    // Of every op what its description promises: nobody asks after each pass.
    if !module.verify() {
        return Err(Failed);
    }
    diagnostics::all(module.find("gpu.func"), kernel)
}

fn kernel(function: Op) -> Result<(), Failed> {
    // Work on accumulators and register values is the same at both levels.
    let tile_level = |op: &Op| {
        let stays = ["tile.accumulator", "work.mma", "work.load", "work.store"];
        let stays = stays
            .iter()
            .any(|name| op.name().strip_prefix("async_pipeline.") == Some(name));
        is_tile_level(*op) && !(stays && op.ancestor("async_pipeline.role").is_some())
    };
    if let Some(op) = function.walk().into_iter().find(tile_level) {
        return Err(error(
            op,
            format!(
                "'{}' op of the tile level is left at the channel level",
                op.name()
            ),
        ));
    }
    let creates = function.find("async_pipeline.channel.create");
    let roles = function.find("async_pipeline.roles");
    if let (Some(create), None) = (creates.first(), roles.first()) {
        return Err(error(
            *create,
            "a channel without roles: expected an async_pipeline.roles op in the kernel",
        ));
    }
    if !roles.is_empty() && function.attr("gpu.kernel").is_none() {
        return Err(error(
            function,
            "expected a gpu.func with roles to be a `kernel`",
        ));
    }
    let mut named: BTreeMap<String, Op> = BTreeMap::new();
    let storage = [
        "async_pipeline.buffer.alloc",
        "async_pipeline.mbarrier.alloc",
    ];
    let named_ops = function.walk().into_iter().filter(|op| {
        op.is("async_pipeline.channel.create") || storage.iter().any(|name| op.is(name))
    });
    diagnostics::all(named_ops, |op| {
        let name = op
            .attr("name")
            .and_then(|name| name.string())
            .unwrap_or_default();
        match named.insert(name.clone(), op) {
            Some(first) => Err(error_with_note(
                op,
                format!("expected names to be unique in the kernel, got \"{name}\" twice"),
                first,
                "the first is here",
            )),
            None => Ok(()),
        }
    })?;
    diagnostics::all(creates, |create| {
        let late = roles.first().filter(|roles| roles.is_before(create));
        match late {
            Some(roles) => Err(error_with_note(
                create,
                "expected channels in front of the roles that use them",
                *roles,
                "the roles are here",
            )),
            None => Ok(()),
        }
    })
}
