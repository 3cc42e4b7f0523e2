//! Brings tensor maps to the kernel's entry, one per argument and box.
//!
//! Needs: barrier level. Leaves: every `tma.descriptor` at the start of its kernel,
//! unique, of a kernel argument; `async-pipeline-lower-kernel-abi` makes parameters
//! of them.

use super::{Failed, Options, Pass, insert_barriers::copies::alignment};
use crate::diagnostics::{self, error};
use async_pipeline_sys::ir::{Op, Type, Value};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-materialize-tensor-maps",
    description: "Bring tensor maps to the kernel's entry, one per argument and box",
    options: &[],
    run,
};

fn run(module: Op, _: &Options<'_>) -> Result<(), Failed> {
    diagnostics::all(module.find("gpu.func"), kernel)
}

fn kernel(function: Op) -> Result<(), Failed> {
    let Some(entry) = function.body(0) else {
        return Ok(());
    };
    let mut kept: Vec<((Value, Type), Op)> = Vec::new();
    let maps = function.find("async_pipeline.tma.descriptor");
    diagnostics::all(maps.iter().copied(), |map| {
        let memref = map.operand(0);
        match memref.as_block_argument() {
            Some((block, _)) if block == entry => aligned(map),
            _ => Err(error(
                map,
                "expected a tensor map of a kernel argument, got one of another memref",
            )),
        }
    })?;
    for map in maps {
        let key = (map.operand(0), map.result(0).ty());
        match kept.iter().find(|(known, _)| *known == key) {
            Some((_, first)) => map.replace(&[first.result(0)]),
            None => kept.push((key, map)),
        }
    }
    // Order by argument, then by first use: parameters do not depend on how passes walked.
    kept.sort_by_key(|((memref, _), _)| memref.as_block_argument().map(|(_, index)| index));
    for (_, map) in kept.into_iter().rev() {
        if let Some(first) = entry.ops().first().copied().filter(|first| *first != map) {
            map.move_before(first);
        }
    }
    Ok(())
}

/// A tensor map's base and row pitch are multiples of 16 bytes (CUDA driver API,
/// cuTensorMapEncodeTiled), so the argument has to promise that.
fn aligned(map: Op) -> Result<(), Failed> {
    match alignment(map.operand(0)) {
        promised if promised < 16 => Err(error(
            map,
            format!(
                "the argument promises an alignment of {promised} bytes, and tensor maps need 16"
            ),
        )),
        _ => Ok(()),
    }
}
