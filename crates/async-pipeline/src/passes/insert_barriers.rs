//! Channel level → barrier level.
//!
//! Needs: `async-pipeline-verify-channels` has passed. Leaves: no op of the channel
//! level but `roles`, `role` and what asks for a role's threads.
//!
//! ```mlir
//! %s = async_pipeline.channel.acquire %in : …
//! async_pipeline.work.copy %A[%i] to %s : …
//! async_pipeline.channel.commit %s : …
//! ```
//! becomes, on sm_90a,
//! ```mlir
//! async_pipeline.mbarrier.wait %in.empty[%stage], %parity : …
//! async_pipeline.mbarrier.arrive.expect_tx %in.full[%stage], %bytes : …
//! async_pipeline.tma.load %map[%i] to %in.0[%stage], %in.full[%stage] : …
//! ```
//! with `%stage` and `%parity` carried through every loop and branch around it.
//!
//! `analyse` reads the IR into a [`plan::Plan`] of plain values, `apply` carries it out.

pub(super) mod analyse;
mod apply;
pub(super) mod copies;
mod counters;
mod groups;
pub(super) mod plan;
mod slots;
mod tensor;

use super::{
    Failed, Options, Pass,
    options::{CP_ASYNC_ARRIVE, CpAsyncArrive, STAGES, TARGET},
};
use crate::diagnostics;
use async_pipeline_sys::ir::Op;
use ptx_model::target::Target;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-insert-barriers",
    description: "Insert mbarriers, byte counts, waits and fences for channels",
    options: &[TARGET, STAGES, CP_ASYNC_ARRIVE],
    run,
};

/// What the user asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Where the kernel will run.
    pub(super) target: Target,
    /// Slots of channels that do not say `exactly`.
    pub(super) stages: Option<i64>,
    /// Form of the arrive behind cp.async copies.
    pub(super) arrive: CpAsyncArrive,
}

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let request = Request {
        target: diagnostics::option(module, options.target())?,
        stages: diagnostics::option(module, options.stages())?,
        arrive: diagnostics::option(module, options.cp_async_arrive())?,
    };
    diagnostics::all(module.find("gpu.func"), |kernel| {
        let kernel = analyse::kernel(kernel, &request)?;
        apply::kernel(&kernel, &request)
    })
}
