//! `wgmma`: asynchronous matrix products of a warpgroup on sm_90a (PTX ISA 9.1, "Asynchronous
//! warpgroup level matrix instructions"; operands, fragments and arithmetic measured on an H200).
//!
//! Each of the four warps does its own 16 of the 64 rows. A product is queued when it is issued: its
//! reads of shared memory are told to the race detector then, and stay open until a `wait_group`
//! covers them; operands are really read, and accumulators written, when the queue finishes it.

mod decode;
mod multiply;
mod operand;
mod state;

use super::{
    Convergence, Execute,
    decode::{DecodeError, Decoder},
    matrix::{need_whole_warp, sync_aligned},
};
use crate::{
    detect::Stream,
    machine::{
        Machine,
        step::{Flow, Step},
        wait::Why,
        warp::Warp,
    },
    report::{Fault, Kind, Severity},
};

pub use state::WgmmaState;

type Result<T> = std::result::Result<T, DecodeError>;

/// `wgmma.fence`: orders registers. What it allows, the queue does anyway.
#[derive(Debug)]
struct Fence;

impl Execute for Fence {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        step.warp.wgmma.fence();
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

#[derive(Debug)]
struct CommitGroup;

impl Execute for CommitGroup {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        step.warp.wgmma.commit();
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

/// `wgmma.wait_group n`: until at most the latest `n` groups are in flight.
#[derive(Debug)]
struct WaitGroup {
    most: u32,
}

impl Execute for WaitGroup {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let Some(done) = step.warp.wgmma.wait(self.most) else {
            return Ok(Flow::wait(Why::Async("wgmma groups")));
        };
        if done != 0 {
            let leader = step.thread(0);
            let detector = &mut step.machine.detector;
            let epoch = detector.stream_epoch(leader, Stream::Wgmma(leader), done);
            for lane in step.lanes() {
                let thread = step.thread(lane);
                step.machine.detector.learn(thread, epoch);
            }
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

pub(super) fn decode_wgmma(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let operation = d.need_one_of(&["mma_async", "fence", "commit_group", "wait_group"])?;
    sync_aligned(d)?;
    match operation {
        "mma_async" => decode::decode(d),
        "fence" => {
            d.expect_operands(0..=0)?;
            Ok(Box::new(Fence))
        }
        "commit_group" => {
            d.expect_operands(0..=0)?;
            Ok(Box::new(CommitGroup))
        }
        _ => {
            d.expect_operands(1..=1)?;
            let most = d.immediate(0)?;
            let most =
                u32::try_from(most).map_err(|_| d.error("the number of groups is negative"))?;
            Ok(Box::new(WaitGroup { most }))
        }
    }
}

/// Reports products that no `wait_group` has covered when their warp ends.
pub(crate) fn check_exit(machine: &mut Machine, warp: &Warp, mask: u32, pc: u32) {
    let Some(oldest) = warp.wgmma.oldest() else {
        return;
    };
    let note = format!("issued by {}", machine.program.describe(oldest));
    machine.report(
        Kind::ExitWithWork,
        Severity::Error,
        "a thread ends without a wgmma.wait_group for its wgmma".to_owned(),
        pc,
        warp.thread(mask.trailing_zeros() % 32),
        oldest,
        vec![note],
    );
}

/// Reports an instruction that touches registers of a product in flight: an accumulator at all, or
/// a register of A by writing it. `rows` are the registers that it names, with whether
/// it writes them. For instructions that are no `wgmma` themselves, before they execute.
pub(crate) fn check_registers(
    machine: &mut Machine,
    warp: &Warp,
    mask: u32,
    pc: u32,
    rows: &[(u32, bool)],
) {
    if !warp.wgmma.is_busy() {
        return;
    }
    for &(row, writes) in rows {
        let Some(touch) = warp.wgmma.touch(row, writes) else {
            continue;
        };
        let verb = if writes { "written" } else { "read" };
        let what = if touch.accumulator {
            "an accumulator"
        } else {
            "a register of A"
        };
        let message =
            format!("{what} of a wgmma is {verb} before a wgmma.wait_group has waited for it");
        let note = format!("in use by {}", machine.program.describe(touch.pc));
        let thread = warp.thread(mask.trailing_zeros() % 32);
        let severity = Severity::Error;
        machine.report(
            Kind::WgmmaRegister,
            severity,
            message,
            pc,
            thread,
            touch.pc,
            vec![note],
        );
    }
}

/// The warps that make a warpgroup, four from a multiple of four, all have to exist.
fn need_warpgroup(step: &Step<'_>) -> std::result::Result<(), Fault> {
    need_whole_warp(step)?;
    let threads = step.machine.launch.threads_per_cta();
    let last = step.warp.index | 3;
    if (last + 1) * 32 <= threads {
        return Ok(());
    }
    Err(Fault::new(
        Kind::InvalidOperand,
        format!(
            "warp {} is in no whole warpgroup of four warps, the block has {threads} threads",
            step.warp.index
        ),
    ))
}

#[cfg(test)]
mod tests;
