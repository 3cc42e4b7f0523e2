//! `tcgen05.fence`.

use crate::{
    isa::{
        Execute,
        decode::{DecodeError, Decoder},
    },
    machine::step::{Flow, Step},
    report::Fault,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// What the thread has done and knows of tensor memory may be handed on.
    Before,
    /// What it has been told of tensor memory counts from now on.
    After,
}

impl Execute for Fence {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        for lane in step.lanes() {
            let thread = step.thread(lane);
            match self {
                Self::Before => step.machine.detector.tensor_fence_before(thread),
                Self::After => step.machine.detector.tensor_fence_after(thread),
            }
        }
        Ok(Flow::Next)
    }
}

pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError> {
    let name = d.need_one_of(&["fence::before_thread_sync", "fence::after_thread_sync"])?;
    d.expect_operands(0..=0)?;
    Ok(Box::new(match name {
        "fence::before_thread_sync" => Fence::Before,
        _ => Fence::After,
    }))
}
