//! What is checked when a copy is issued, before anything moves.

use super::transfer::{Delivery, Issue};
use crate::{
    detect::Place,
    machine::{Machine, cta::Cta, ids::CtaRef},
    report::{Fault, Kind, Severity},
    tensor_map::Plan,
};

/// The global memory of a plan: allocation, offset and bytes of each range.
pub(in crate::isa) fn global_ranges(
    machine: &Machine,
    plan: &Plan,
) -> Result<Vec<(u32, u64, u64)>, Fault> {
    let ranges = plan.global_ranges().into_iter();
    ranges
        .map(|range| {
            let len = range.end - range.start;
            let (index, offset) = machine.memory.locate(range.start, len)?;
            Ok((index as u32, offset as u64, len))
        })
        .collect()
}

/// The CTA, unless all its threads have ended.
pub(super) fn check_alive(machine: &Machine, cta: CtaRef) -> Result<&Cta, Fault> {
    machine
        .cta(cta)
        .filter(|state| !state.ended())
        .ok_or_else(|| {
            Fault::new(
                Kind::ExitWithWork,
                format!(
                    "CTA {} of the cluster is written to, and all its threads have ended",
                    cta.rank
                ),
            )
        })
}

/// Refuses plans that reach beyond a CTA's shared memory, and CTAs that are over.
pub(super) fn check_shared(machine: &Machine, cta: CtaRef, plan: &Plan) -> Result<(), Fault> {
    let size = check_alive(machine, cta)?.shared.len() as u64;
    let reserved = crate::memory::RESERVED_SHARED;
    let outside = plan.runs.iter().find(|run| {
        let start = u64::from(run.shared);
        start < reserved || start + u64::from(run.bytes) > size
    });
    match outside {
        None => Ok(()),
        Some(run) => Err(Fault::new(
            Kind::OutOfBounds,
            format!(
                "{} bytes of shared memory at {:#x} are outside the CTA's {reserved:#x} to \
                 {size:#x}",
                run.bytes, run.shared
            ),
        )),
    }
}

/// The barrier has to exist when the copy is issued, and its initialisation to be in order before.
pub(super) fn check_barrier(
    machine: &mut Machine,
    issue: &Issue,
    delivery: &Delivery,
) -> Result<(), Fault> {
    let (cta, offset) = delivery.barrier;
    machine.mbarrier(cta, offset)?;
    machine.check_barrier_init(issue.thread, issue.pc, cta, offset, true);
    Ok(())
}

/// Reports sources that nobody has written.
pub(super) fn check_written(machine: &mut Machine, issue: &Issue, offset: u32, len: u32) {
    let place = Place::Shared(issue.thread.cta);
    if !machine.detector.enabled()
        || machine
            .detector
            .is_written(place, u64::from(offset), u64::from(len))
    {
        return;
    }
    let message = format!(
        "{len} bytes from {} are copied before all of them have been written",
        machine.describe(place, u64::from(offset))
    );
    machine.report(
        Kind::UninitialisedRead,
        Severity::Error,
        message,
        issue.pc,
        issue.thread,
        u32::MAX,
        Vec::new(),
    );
}

/// Reports copies over a live barrier.
pub(super) fn spare_barriers(
    machine: &mut Machine,
    issue: &Issue,
    cta: CtaRef,
    start: u32,
    end: u32,
) {
    let Some(state) = machine.cta(cta) else {
        return;
    };
    let hit = state
        .mbarriers
        .range(start.saturating_sub(7)..end)
        .find(|(_, cell)| cell.barrier.is_valid());
    let Some((at, cell)) = hit else {
        return;
    };
    let message = format!(
        "a copy overwrites the live mbarrier at shared memory {at:#x} ({})",
        cell.barrier
    );
    machine.report(
        Kind::MbarrierContract,
        Severity::Error,
        message,
        issue.pc,
        issue.thread,
        u32::MAX,
        Vec::new(),
    );
}
