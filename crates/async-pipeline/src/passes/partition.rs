//! Tile level → channel level.
//!
//! Needs: `async-pipeline-verify-tiles` has passed. Leaves: kernels of the tile level with
//! channels and roles; buffers have become slots, and on targets with tensor memory
//! accumulators too. What stands on register values is as it was.
//!
//! ```mlir
//! scf.for %k = … {
//!   async_pipeline.work.copy %A[%m, %k] to %a : …
//!   async_pipeline.work.copy %B[%n, %k] to %b : …
//!   async_pipeline.work.mma %acc += %a * transpose %b : …
//! }
//! ```
//! becomes, on sm_80,
//! ```mlir
//! async_pipeline.role @compute warps(8) {
//!   scf.for %k = … {
//!     %s = async_pipeline.channel.acquire %a_b : …
//!     async_pipeline.work.copy %A[%m, %k] to %s : …
//!     async_pipeline.work.copy %B[%n, %k] to %s field(1) : …
//!     async_pipeline.channel.commit %s : …
//!     %t = async_pipeline.channel.wait %a_b : …
//!     async_pipeline.work.mma %acc += %t * transpose %t field(1) : …
//!     async_pipeline.channel.release %t : …
//!   }
//! }
//! ```
//! On sm_90a it is the same role, on sm_100a copies, products and the rest have each one; every role has
//! the loops and the scalars that its work needs.
//!
//! `storage` reads which buffers and accumulators there are and what they become, `channels`
//! puts the hand-overs in, `split` makes the roles.

mod channels;
mod split;
mod storage;

use super::{
    Failed, Options, Pass,
    options::{STAGES, TARGET},
    verify_tiles::is_tile_level,
};
use crate::diagnostics;
use async_pipeline_sys::ir::Op;
use ptx_model::target::Target;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-partition",
    description: "Split kernels of the tile level into roles that hand each other tiles",
    options: &[TARGET, STAGES],
    run,
};

/// What the user asked for.
#[derive(Clone, Copy, Debug)]
struct Request {
    target: Target,
    /// Most slots of buffers whose loop does not say `exactly`.
    stages: Option<i64>,
}

/// Who does an op of a kernel that is being split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Copies from global to shared memory.
    Load,
    /// Matrix products.
    Product,
    /// Everything on register values.
    Compute,
}

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let request = Request {
        target: diagnostics::option(module, options.target())?,
        stages: diagnostics::option(module, options.stages())?,
    };
    diagnostics::all(module.find("gpu.func"), |function| {
        let ops = function.walk();
        let roles = ops.iter().any(|op| op.is("async_pipeline.roles"));
        if roles || !ops.iter().any(|op| is_tile_level(*op)) {
            return Ok(());
        }
        let storage = storage::read(function, &request)?;
        let parts = channels::insert(function, &storage, &request)?;
        split::roles(function, &storage, &parts, &request)
    })
}
