//! Bulk groups: which of a thread's copies to global memory are finished.

use std::collections::BTreeMap;

use crate::{
    detect::Stream,
    isa::Execute,
    machine::{
        Machine,
        ids::ThreadRef,
        step::{Flow, Step},
        wait::Why,
        warp::Warp,
    },
    report::{Fault, Kind, Severity},
};

/// Bulk groups of a CTA's threads.
#[derive(Debug, Default)]
pub struct BulkState {
    threads: BTreeMap<u32, Groups>,
}

/// The groups of a thread; they are counted from 1.
#[derive(Debug, Default)]
struct Groups {
    /// How many have been committed. The next one gathers what is issued.
    committed: u32,
    /// Copies of each group that are not finished.
    open: BTreeMap<u32, Open>,
    /// The last group that any copy was issued for.
    used: u32,
    /// Groups up to this one are known to have read their sources.
    waited: u32,
}

#[derive(Debug, Default)]
struct Open {
    /// Copies that have not read their sources.
    reads: u32,
    /// Copies that have not written their destinations.
    writes: u32,
}

impl BulkState {
    /// A thread issues a copy; its group.
    pub(super) fn issue(&mut self, thread: u32) -> u32 {
        let groups = self.threads.entry(thread).or_default();
        let group = groups.committed.saturating_add(1);
        let open = groups.open.entry(group).or_default();
        open.reads += 1;
        open.writes += 1;
        groups.used = group;
        group
    }

    /// A copy of a group has read its source.
    pub(super) fn read(&mut self, thread: u32, group: u32) {
        if let Some(open) = self.open(thread, group) {
            open.reads = open.reads.saturating_sub(1);
        }
    }

    /// A copy of a group has written its destination.
    pub(super) fn written(&mut self, thread: u32, group: u32) {
        let Some(open) = self.open(thread, group) else {
            return;
        };
        open.writes = open.writes.saturating_sub(1);
        if open.writes == 0
            && let Some(groups) = self.threads.get_mut(&thread)
        {
            groups.open.remove(&group);
        }
    }

    fn open(&mut self, thread: u32, group: u32) -> Option<&mut Open> {
        self.threads.get_mut(&thread)?.open.get_mut(&group)
    }

    fn commit(&mut self, thread: u32) {
        let groups = self.threads.entry(thread).or_default();
        groups.committed = groups.committed.saturating_add(1);
    }

    /// The last group that a wait with `allowed` groups left covers, and whether it and all before
    /// are done: have read, or have written too.
    fn covered(&self, thread: u32, allowed: u32, read: bool) -> (u32, bool) {
        let Some(groups) = self.threads.get(&thread) else {
            return (0, true);
        };
        let last = groups.committed.saturating_sub(allowed);
        let mut open = groups.open.range(..=last);
        let done = open.all(|(_, open)| {
            if read {
                open.reads == 0
            } else {
                open.writes == 0
            }
        });
        (last, done)
    }

    fn wait_over(&mut self, thread: u32, last: u32) {
        if let Some(groups) = self.threads.get_mut(&thread) {
            groups.waited = groups.waited.max(last);
        }
    }
}

/// `cp.async.bulk.commit_group`.
#[derive(Debug)]
pub(super) struct Commit;

impl Execute for Commit {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let cta = step.cta();
        for lane in step.lanes() {
            let thread = step.thread(lane).thread;
            if let Some(cta) = step.machine.cta_mut(cta) {
                cta.bulk.commit(thread);
            }
        }
        Ok(Flow::Next)
    }
}

/// `cp.async.bulk.wait_group`: until at most `allowed` of the thread's youngest groups are left.
#[derive(Debug)]
pub(super) struct Wait {
    /// Whether it is enough that the sources have been read.
    pub(super) read: bool,
    /// Groups that may be left.
    pub(super) allowed: u32,
}

impl Execute for Wait {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let covered: Vec<(ThreadRef, u32, bool)> = step
            .lanes()
            .map(|lane| {
                let thread = step.thread(lane);
                let (last, done) = match step.machine.cta(thread.cta) {
                    Some(cta) => cta.bulk.covered(thread.thread, self.allowed, self.read),
                    None => (0, true),
                };
                (thread, last, done)
            })
            .collect();
        if covered.iter().any(|(_, _, done)| !done) {
            return Ok(Flow::wait(Why::Async("its bulk groups")));
        }
        for (thread, last, _) in covered {
            if last == 0 {
                continue;
            }
            let detector = &mut step.machine.detector;
            let read = detector.stream_epoch(thread, Stream::BulkRead(thread), last);
            detector.learn(thread, read);
            if !self.read {
                let written = detector.stream_epoch(thread, Stream::BulkWrite(thread), last);
                detector.learn(thread, written);
            }
            if let Some(cta) = step.machine.cta_mut(thread.cta) {
                cta.bulk.wait_over(thread.thread, last);
            }
        }
        Ok(Flow::Next)
    }
}

/// Reports threads that end while their copies to global memory may still read shared memory,
/// whether or not they did in this run. The PTX ISA does not say that this is wrong; NVIDIA's
/// libraries always wait.
pub(crate) fn check_exit(machine: &mut Machine, warp: &Warp, mask: u32, pc: u32) {
    let Some(cta) = machine.cta(warp.cta) else {
        return;
    };
    let unwaited = (0..32).filter(|lane| mask >> lane & 1 == 1).find(|&lane| {
        let groups = cta.bulk.threads.get(&warp.thread(lane).thread);
        groups.is_some_and(|groups| groups.used > groups.waited)
    });
    if let Some(lane) = unwaited {
        machine.report(
            Kind::ExitWithWork,
            Severity::Warning,
            "a thread ends without having waited for its bulk copies to read shared memory"
                .to_owned(),
            pc,
            warp.thread(lane),
            u32::MAX,
            Vec::new(),
        );
    }
}
