//! Tiles on register values → the values of one thread.
//!
//! Needs: barrier level, with `work.load`, `work.store`, `mma.sync`, accumulators and vectors of
//! whole tiles in roles. Leaves: none of these; loads, stores and arithmetic of each thread.
//!
//! Which thread holds what follows from where values come from: sums of `mma.sync` lie as the
//! instruction leaves them, sums in tensor memory as `tcgen05.ld` reads them, anything else in
//! rows of 16 bytes. Nothing is moved between threads. Each store pulls what it needs, piece by
//! piece: a piece is a run of columns in one row, and every op on a tile becomes the same op on
//! the pieces.
//!
//! ```mlir
//! %f = async_pipeline.work.load %sums : !async_pipeline.tmem<256> to vector<128x256xf32>
//! %h = arith.truncf %f : vector<128x256xf32> to vector<128x256xf16>
//! async_pipeline.work.store %h to %C[%m, %n] : vector<128x256xf16> to memref<?x?xf16>
//! ```
//! becomes, for a tile within C,
//! ```mlir
//! scf.for %at = %c0 to %c256 step %c32 {
//!   %f = async_pipeline.tcgen05.ld %sums[%at] : !async_pipeline.tmem<256> -> vector<32xf32>
//!   async_pipeline.tcgen05.wait_ld
//!   %h = arith.truncf %f : vector<32xf32> to vector<32xf16>
//!   vector.store %h, %C[%row, %column] : memref<?x?xf16>, vector<32xf16>
//! }
//! ```

mod access;
mod addresses;
mod held;
mod pieces;
mod products;
mod stores;

use super::{Failed, Options, Pass, options::TARGET};
use crate::{
    build::Build,
    diagnostics::{self, error},
};
use async_pipeline_sys::ir::{Builder, Op, Value};
use products::Registers;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-distribute",
    description: "Give every thread its part of tiles in registers",
    options: &[TARGET],
    run,
};

/// Lanes of a warp.
const WARP: i64 = 32;

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    diagnostics::option(module, options.target())?;
    diagnostics::all(module.find("gpu.func"), |function| {
        let on_tiles = |op: &Op| {
            ["work.load", "work.store", "mma.sync", "tile.accumulator"]
                .iter()
                .any(|name| op.name().strip_prefix("async_pipeline.") == Some(name))
        };
        let outside = |op: &Op| op.ancestor("async_pipeline.role").is_none();
        let ops: Vec<Op> = function.walk().into_iter().filter(on_tiles).collect();
        if let Some(op) = ops.iter().copied().find(outside) {
            return Err(error(
                op,
                format!(
                    "'{}' op is not supported outside roles; run async-pipeline-partition first",
                    op.name()
                ),
            ));
        }
        let mut roles = function.find("async_pipeline.role");
        // All of them first: ops of a role are gone once it is done.
        roles.retain(|role| ops.iter().any(|op| op.is_within(*role)));
        diagnostics::all(roles, role)
    })
}

/// The threads of a role, and what is worked out once for all of them.
struct Threads {
    warps: i64,
    /// Where such values are computed: the start of the role.
    start: Build,
    /// Lane and warp of this thread in the role, index.
    lane: Value,
    warp: Value,
}

impl Threads {
    fn new(role: Op) -> Option<Self> {
        let body = role.body(0)?;
        let first = body.ops().first().copied()?;
        let start = Build(Builder::before(first).with_location(role.location()));
        let thread = start
            .0
            .op("async_pipeline.role.thread_id")
            .results(&[start.0.context().index()])
            .value();
        let warps = role
            .attr("warps")
            .and_then(|warps| warps.int())
            .unwrap_or(1);
        Some(Self {
            warps,
            start,
            lane: start.rem(thread, start.index(WARP)),
            warp: start.div(thread, start.index(WARP)),
        })
    }
}

fn role(role: Op) -> Result<(), Failed> {
    let (Some(body), Some(threads)) = (role.body(0), Threads::new(role)) else {
        return Ok(());
    };
    let mut registers = Registers::new(&threads);
    registers.thread(body)?;
    let loaded = registers.finish();
    let all = role.find("async_pipeline.work.store");
    diagnostics::all(all.iter().copied(), |store| {
        stores::store(store, &threads, &loaded)
    })?;
    for store in all {
        store.erase();
    }
    // Behind what they served: users stand behind what they use.
    for op in role.walk().into_iter().rev() {
        let tile = op.results().iter().any(|result| result.ty().is_vector());
        let unused = op.results().iter().all(|result| result.uses().is_empty());
        let served = op.is("async_pipeline.tile.accumulator")
            || (tile
                && (op.is("async_pipeline.work.load")
                    || op.is("scf.if")
                    || pieces::is_on_values(op)));
        if served && unused {
            op.erase();
        }
    }
    Ok(())
}
