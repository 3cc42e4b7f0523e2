//! Copies on their way: what is told to the detector at issue, and what is moved at the end.

use std::sync::Arc;

use super::check::{
    check_alive, check_barrier, check_shared, check_written, global_ranges, spare_barriers,
};
use crate::{
    detect::{Access, Epoch, Mode, Place, Proxy, Stream},
    machine::{
        Machine,
        events::{Unit, Work},
        ids::{CtaRef, ThreadRef},
        step::Step,
    },
    report::{Fault, Site},
    tensor_map::{Plan, ReduceOp, ReduceType},
};

/// A destination in shared memory, and the barrier that hears of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::isa) struct Delivery {
    /// Whose shared memory.
    pub(in crate::isa) cta: CtaRef,
    /// The barrier's CTA and offset.
    pub(in crate::isa) barrier: (CtaRef, u32),
}

/// How a copy combines what it brings with what is there.
#[derive(Debug, Clone, Copy)]
pub(in crate::isa) struct Reduction {
    /// The operation.
    pub(in crate::isa) op: ReduceOp,
    /// The type of the elements.
    pub(in crate::isa) kind: ReduceType,
}

/// What the work has to remember of the instruction.
#[derive(Debug, Clone)]
pub(super) struct Issue {
    pub(super) thread: ThreadRef,
    pub(super) pc: u32,
    site: Site,
}

impl Issue {
    fn new(step: &Step<'_>, lane: usize) -> Self {
        Self {
            thread: step.thread(lane),
            pc: step.pc,
            site: step.site(lane),
        }
    }

    fn access(&self, epoch: Epoch, mode: Mode) -> Access {
        Access {
            thread: self.thread,
            epoch,
            mode,
            proxy: Proxy::Async,
            pc: self.pc,
        }
    }

    fn post(&self, machine: &mut Machine, work: Box<dyn Work>) {
        let cluster = self.thread.cta.cluster;
        machine.post(Unit::Copy, 0, self.site.clone(), cluster, work);
    }

    /// How barriers remember the copy.
    fn what(&self) -> String {
        format!("line {}: {}", self.site.span.line, self.site.instruction)
    }
}

/// Issues a copy from global memory to the shared memory of one or more CTAs.
pub(in crate::isa) fn load(
    step: &mut Step<'_>,
    lane: usize,
    plan: Plan,
    deliveries: &[Delivery],
) -> Result<(), Fault> {
    let issue = Issue::new(step, lane);
    let machine = &mut *step.machine;
    let sources = global_ranges(machine, &plan)?;
    let destinations = plan.shared_ranges();
    let plan = Arc::new(plan);
    for (index, delivery) in deliveries.iter().enumerate() {
        check_shared(machine, delivery.cta, &plan)?;
        check_barrier(machine, &issue, delivery)?;
        let operation = machine.detector.begin_operation(issue.thread);
        if index == 0 {
            let access = issue.access(operation, Mode::Read);
            for &(allocation, offset, len) in &sources {
                machine.watch(Place::Global(allocation), offset, len, &access);
            }
        }
        let access = issue.access(operation, Mode::Write);
        for range in &destinations {
            let len = u64::from(range.end - range.start);
            spare_barriers(machine, &issue, delivery.cta, range.start, range.end);
            machine.watch(
                Place::Shared(delivery.cta),
                u64::from(range.start),
                len,
                &access,
            );
        }
        let work = Load {
            plan: plan.clone(),
            delivery: *delivery,
            operation,
            what: issue.what(),
        };
        issue.post(machine, Box::new(work));
    }
    Ok(())
}

#[derive(Debug)]
struct Load {
    plan: Arc<Plan>,
    delivery: Delivery,
    operation: Epoch,
    what: String,
}

impl Work for Load {
    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        let Delivery { cta, barrier } = self.delivery;
        let memory = &machine.memory;
        let state = machine
            .clusters
            .iter_mut()
            .find(|cluster| cluster.id == cta.cluster)
            .and_then(|cluster| cluster.ctas.get_mut(cta.rank as usize));
        if let Some(state) = state {
            for run in &self.plan.runs {
                let to = run.shared as usize..(run.shared + run.bytes) as usize;
                let to = &mut state.shared[to];
                match run.global {
                    Some(address) => {
                        memory.read(address, to)?;
                        self.plan.convert_loaded(to);
                    }
                    None => self.plan.fill(to),
                }
            }
        }
        let bytes = self.plan.complete_bytes;
        machine.complete_tx(
            barrier.0,
            barrier.1,
            bytes,
            Some(self.operation),
            &self.what,
        )
    }
}

/// Announces a write of the async proxy that is no copy: bytes of shared memory that a unit will
/// write and report to a barrier. The epoch to complete it under.
pub(in crate::isa) fn expect(
    step: &mut Step<'_>,
    lane: usize,
    delivery: &Delivery,
    offset: u32,
    bytes: u32,
) -> Result<Epoch, Fault> {
    let issue = Issue::new(step, lane);
    let machine = &mut *step.machine;
    check_alive(machine, delivery.cta)?;
    check_barrier(machine, &issue, delivery)?;
    let operation = machine.detector.begin_operation(issue.thread);
    spare_barriers(
        machine,
        &issue,
        delivery.cta,
        offset,
        offset.saturating_add(bytes),
    );
    let access = issue.access(operation, Mode::Write);
    let place = Place::Shared(delivery.cta);
    machine.watch(place, u64::from(offset), u64::from(bytes), &access);
    Ok(operation)
}

/// Issues a copy, or a reduction, from the own CTA's shared memory to another's: from, to and how
/// many bytes.
pub(in crate::isa) fn pass(
    step: &mut Step<'_>,
    lane: usize,
    (from, to, bytes): (u32, u32, u32),
    delivery: Delivery,
    reduction: Option<Reduction>,
) -> Result<(), Fault> {
    let issue = Issue::new(step, lane);
    let machine = &mut *step.machine;
    check_barrier(machine, &issue, &delivery)?;
    let operation = machine.detector.begin_operation(issue.thread);
    let own = issue.thread.cta;
    if bytes > 0 {
        check_written(machine, &issue, from, bytes);
        let access = issue.access(operation, Mode::Read);
        machine.watch(
            Place::Shared(own),
            u64::from(from),
            u64::from(bytes),
            &access,
        );
        spare_barriers(machine, &issue, delivery.cta, to, to + bytes);
        let access = issue.access(operation, write_mode(reduction));
        machine.watch(
            Place::Shared(delivery.cta),
            u64::from(to),
            u64::from(bytes),
            &access,
        );
    }
    let work = Pass {
        own,
        from: from as usize..(from + bytes) as usize,
        to: to as usize..(to + bytes) as usize,
        delivery,
        reduction,
        operation,
        what: issue.what(),
    };
    issue.post(machine, Box::new(work));
    Ok(())
}

#[derive(Debug)]
struct Pass {
    own: CtaRef,
    from: std::ops::Range<usize>,
    to: std::ops::Range<usize>,
    delivery: Delivery,
    reduction: Option<Reduction>,
    operation: Epoch,
    what: String,
}

impl Work for Pass {
    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        let Delivery { cta, barrier } = self.delivery;
        let bytes = machine
            .cta(self.own)
            .map(|own| own.shared[self.from.clone()].to_vec());
        if let (Some(bytes), Some(target)) = (bytes, machine.cta_mut(cta)) {
            combine(self.reduction, &mut target.shared[self.to.clone()], &bytes);
        }
        let bytes = self.from.len() as u32;
        machine.complete_tx(
            barrier.0,
            barrier.1,
            bytes,
            Some(self.operation),
            &self.what,
        )
    }
}

/// Issues a copy, or a reduction, from the own CTA's shared memory to global memory, as part of the
/// thread's bulk group.
pub(in crate::isa) fn store(
    step: &mut Step<'_>,
    lane: usize,
    plan: Plan,
    reduction: Option<Reduction>,
) -> Result<(), Fault> {
    let issue = Issue::new(step, lane);
    let machine = &mut *step.machine;
    let thread = issue.thread;
    check_shared(machine, thread.cta, &plan)?;
    let destinations = global_ranges(machine, &plan)?;
    let group = match machine.cta_mut(thread.cta) {
        Some(cta) => cta.bulk.issue(thread.thread),
        None => return Ok(()),
    };
    let epoch = machine
        .detector
        .stream_epoch(thread, Stream::BulkRead(thread), group);
    let access = issue.access(epoch, Mode::Read);
    for range in plan.shared_ranges() {
        let len = range.end - range.start;
        check_written(machine, &issue, range.start, len);
        let place = Place::Shared(thread.cta);
        machine.watch(place, u64::from(range.start), u64::from(len), &access);
    }
    let epoch = machine
        .detector
        .stream_epoch(thread, Stream::BulkWrite(thread), group);
    let access = issue.access(epoch, write_mode(reduction));
    let number = machine.twin_stores.begin(epoch);
    for (allocation, offset, len) in destinations {
        let place = Place::Global(allocation);
        for conflict in machine.detector.access(place, offset, len, &access) {
            if !machine.twin_stores.defer(number, &conflict, &access) {
                machine.report_conflict(&conflict, &access);
            }
        }
    }
    let work = ReadOut {
        number,
        plan,
        reduction,
        group,
        issue: issue.clone(),
    };
    issue.post(machine, Box::new(work));
    Ok(())
}

/// The first half of a store: reads shared memory.
#[derive(Debug)]
struct ReadOut {
    /// Which store this is, of all.
    number: u64,
    plan: Plan,
    reduction: Option<Reduction>,
    group: u32,
    issue: Issue,
}

impl Work for ReadOut {
    fn may_outlive_its_cta(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        let Some(cta) = machine.cta_mut(self.issue.thread.cta) else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        for run in &self.plan.runs {
            let from = run.shared as usize..(run.shared + run.bytes) as usize;
            bytes.extend_from_slice(&cta.shared[from]);
        }
        cta.bulk.read(self.issue.thread.thread, self.group);
        let issue = self.issue.clone();
        let work = WriteOut { half: *self, bytes };
        issue.post(machine, Box::new(work));
        Ok(())
    }
}

/// The second half of a store: writes global memory.
#[derive(Debug)]
struct WriteOut {
    half: ReadOut,
    bytes: Vec<u8>,
}

impl Work for WriteOut {
    fn may_outlive_its_cta(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault> {
        let ReadOut {
            number,
            plan,
            reduction,
            group,
            issue,
        } = &self.half;
        let mut rest = self.bytes.as_slice();
        let mut old = Vec::new();
        let mut changed = reduction.is_some();
        for run in &plan.runs {
            let (bytes, later) = rest.split_at(run.bytes as usize);
            rest = later;
            let Some(address) = run.global else {
                continue;
            };
            old.resize(bytes.len(), 0);
            machine.memory.read(address, &mut old)?;
            changed |= old != bytes;
            if reduction.is_none() {
                machine.memory.write(address, bytes)?;
                continue;
            }
            combine(*reduction, &mut old, bytes);
            machine.memory.write(address, &old)?;
        }
        if let Some(cta) = machine.cta_mut(issue.thread.cta) {
            cta.bulk.written(issue.thread.thread, *group);
        }
        for (conflict, access) in machine.twin_stores.end(*number, changed) {
            machine.report_conflict(&conflict, &access);
        }
        Ok(())
    }
}

fn write_mode(reduction: Option<Reduction>) -> Mode {
    match reduction {
        Some(_) => Mode::Atomic,
        None => Mode::Write,
    }
}

fn combine(reduction: Option<Reduction>, old: &mut [u8], new: &[u8]) {
    match reduction {
        Some(Reduction { op, kind }) => kind.reduce(op, old, new),
        None => old.copy_from_slice(new),
    }
}
