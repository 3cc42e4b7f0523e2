//! Nothing of the channel level is left, and every op exists on the target.
//!
//! Legality is decided here because the back end aborts the process on what it
//! cannot select. The facts are those of `ptx_model::legality`.

use super::{
    Failed, Options, Pass,
    options::{PTX_VERSION, TARGET},
};
use crate::{
    diagnostics::{self, error},
    forms::forms,
};
use async_pipeline_sys::ir::Op;
use ptx_model::{
    legality::{self, Form},
    target::{PtxVersion, Target},
};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-verify-barriers",
    description: "Check that no channel is left and that every op exists on the target",
    options: &[TARGET, PTX_VERSION],
    run,
};

/// PTX versions that LLVM 22's NVPTX back end knows for all three targets end here.
const NEWEST_PTX: PtxVersion = PtxVersion::new(9, 0);

/// Upstream ops that lower to calls of the host's library and break the module doing so.
const HOST_ONLY: &[&str] = &["cf.assert", "vector.print"];

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    // Of every op what its description promises: nobody asks after each pass.
    if !module.verify() {
        return Err(Failed);
    }
    let target = diagnostics::option(module, options.target())?;
    let version = diagnostics::option(module, options.ptx_version(target))?;
    if version > NEWEST_PTX || version < target.first_ptx_version() {
        return Err(error(
            module,
            format!(
                "expected a PTX version from {} to {NEWEST_PTX} for {target}, got {version}",
                target.first_ptx_version()
            ),
        ));
    }
    diagnostics::all(module.walk(), |op| check(op, target, version))
}

fn check(op: Op, target: Target, version: PtxVersion) -> Result<(), Failed> {
    if HOST_ONLY.contains(&op.name()) {
        return Err(error(
            op,
            format!("'{}' op is not supported in a kernel", op.name()),
        ));
    }
    let strided = |op: Op| {
        let mut sides = op.operands().into_iter();
        sides.any(|side| !side.ty().is_memref() || !side.ty().has_identity_layout())
    };
    if op.is("memref.copy") && strided(op) {
        return Err(error(
            op,
            "'memref.copy' op of memrefs with a layout is not supported in a kernel",
        ));
    }
    let Some(name) = op.name().strip_prefix("async_pipeline.") else {
        return Ok(());
    };
    if name.starts_with("channel.") || name.starts_with("work.") {
        return Err(error(
            op,
            format!(
                "'{}' op is left at the barrier level; run async-pipeline-insert-barriers first",
                op.name()
            ),
        ));
    }
    diagnostics::all(forms(op, target), |form| {
        legality::check(form, target, version).map_err(|why| {
            error(
                op,
                format!("'{}' op is illegal on {target}: {why}", op.name()),
            )
        })
    })?;
    // Barriers are addressed as `.shared::cta`, whatever the instruction.
    let needs = legality::lookup(Form::MbarrierInitSharedCta).lowest_on(target);
    match needs {
        Some(needs) if addresses_barriers(name) && version < needs => Err(error(
            op,
            format!(
                "'{}' op is illegal on {target}: `.shared::cta` needs PTX {needs}; {version} was asked for",
                op.name()
            ),
        )),
        _ => Ok(()),
    }
}

fn addresses_barriers(name: &str) -> bool {
    let other = matches!(name, "mbarrier.alloc" | "mbarrier.pending_count");
    name.contains("mbarrier.") && !other
}
