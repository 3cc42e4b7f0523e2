//! Prints what the compiler makes of a kernel: roles, channels, barriers, memory, registers.
//!
//! Takes kernels of any level and changes nothing: the passes down to `async-pipeline-allocate`
//! run on a copy, and what is printed is read from what they leave. It goes to the standard error
//! stream, as upstream's printing passes do, so that the module can be piped on.
//!
//! ```text
//! kernel gemm for sm_100a: 6 warps, 192 threads
//!   channels
//!     load    ── a_b ──────────► product   4 slots of 128x64xf16, 256x64xf16 by tma
//!     product ── accumulator0 ─► epilogue  1 slot of 128x256xf32 by tcgen05
//! ```

mod facts;
mod render;

use super::{
    Failed, Options, Pass, allocate, insert_barriers, materialize_tensor_maps, multistage,
    options::{STAGES, SYNC, TARGET},
    partition, verify_channels, verify_tiles,
};
use crate::diagnostics;
use async_pipeline_sys::ir::Op;
use facts::{HandOvers, Plan};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-print-plan",
    description: "Print roles, channels, barriers, memory and registers of every kernel to the standard error stream",
    options: &[TARGET, STAGES, SYNC],
    run,
};

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let target = diagnostics::option(module, options.target())?;
    let values = [TARGET, STAGES, SYNC].map(|option| options.text(option.name));
    let step = |pass: &Pass, copy: Op| {
        let own: Vec<&str> = pass
            .options
            .iter()
            .map(|spec| {
                let known = [TARGET, STAGES, SYNC]
                    .iter()
                    .position(|option| option.name == spec.name);
                known.map_or(spec.default, |index| values[index])
            })
            .collect();
        (pass.run)(copy, &Options::new(pass.options, &own))
    };
    let copy = module.clone_detached();
    let plans = (|| {
        step(&verify_tiles::PASS, copy)?;
        step(&partition::PASS, copy)?;
        step(&verify_channels::PASS, copy)?;
        step(&multistage::PASS, copy)?;
        // Who hands what to whom is gone once barriers stand for it.
        let hand_overs: Vec<HandOvers> = copy
            .find("gpu.func")
            .into_iter()
            .map(facts::hand_overs)
            .collect();
        for pass in [
            &insert_barriers::PASS,
            &materialize_tensor_maps::PASS,
            &allocate::PASS,
        ] {
            step(pass, copy)?;
        }
        let kernels = copy.find("gpu.func").into_iter().zip(hand_overs);
        Ok(kernels
            .map(|(kernel, hand_overs)| Plan::of(kernel, target, hand_overs))
            .collect::<Vec<_>>())
    })();
    copy.erase();
    for plan in plans? {
        eprint!("{}", render::page(&plan));
    }
    Ok(())
}
