//! `fence` and `membar`.

use super::{Execute, decode::{DecodeError, Decoder}};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
};

type Result<T> = std::result::Result<T, DecodeError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// Order in the generic proxy.
    Memory,
    /// `fence.proxy.async`: generic accesses before, asynchronous ones after.
    Async,
    /// `fence.mbarrier_init`.
    MbarrierInit,
    /// `fence.proxy.alias` and others that order what the emulator does in order anyway.
    Nothing,
}

impl Execute for Fence {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        for lane in step.lanes() {
            let thread = step.thread(lane);
            match self {
                Self::Memory => step.machine.detector.fence(thread),
                Self::Async => {
                    step.machine.detector.proxy_fence(thread);
                    super::mbarrier::fence_inits(step.machine, thread);
                }
                Self::MbarrierInit => super::mbarrier::fence_inits(step.machine, thread),
                Self::Nothing => {}
            }
        }
        Ok(Flow::Next)
    }
}

pub(super) fn decode_fence(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.expect_operands(0..=d.operand_count())?;
    let fence = if d.opcode() == "membar" {
        if d.flag("proxy") {
            return Err(d.error("membar.proxy is not supported"));
        }
        d.need_one_of(&["cta", "gl", "sys"])?;
        Fence::Memory
    } else if d.flag("mbarrier_init") {
        d.need("release")?;
        d.need("cluster")?;
        Fence::MbarrierInit
    } else if d.flag("proxy") {
        if d.modifiers().iter().any(|m| m.starts_with("tensormap")) {
            return super::tensormap::decode_fence(d);
        }
        if d.flag("async") {
            d.one_of(&["global", "shared::cta", "shared::cluster"]);
            Fence::Async
        } else if d.flag("alias") {
            Fence::Nothing
        } else if d.flag("async::generic") {
            // Half fences of a hand-over inside a cluster; the whole fence's order includes
            // theirs, and both halves stand on the path.
            d.need_one_of(&["acquire", "release"])?;
            d.one_of(&["sync_restrict::shared::cta", "sync_restrict::shared::cluster"]);
            d.one_of(&["cta", "cluster"]);
            Fence::Async
        } else {
            return Err(d.error("this proxy is not supported"));
        }
    } else {
        d.one_of(&["sc", "acq_rel", "acquire", "release"]);
        d.one_of(&["sync_restrict::shared::cta", "sync_restrict::shared::cluster"]);
        d.need_one_of(&["cta", "cluster", "gpu", "sys"])?;
        Fence::Memory
    };
    d.expect_operands(0..=0)?;
    Ok(Box::new(fence))
}
