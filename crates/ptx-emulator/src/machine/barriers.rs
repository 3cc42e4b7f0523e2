//! Barriers of all kinds, and the knowledge that they carry.

use std::collections::{BTreeMap, VecDeque};

use ptx_model::mbarrier::{Mbarrier, MbarrierError};

use super::{
    Machine,
    ids::{CtaRef, ThreadRef},
};
use crate::{
    detect::{Agent, Epoch, Knowledge, Stream},
    report::{Fault, Kind},
};

/// A named barrier of a CTA.
#[derive(Debug, Clone, Default)]
pub struct NamedBarrier {
    /// Threads that have arrived; a whole warp counts 32.
    pub arrived: u32,
    /// Threads that it waits for, as the first to arrive said; none for all of the CTA.
    pub expected: Option<u32>,
    /// How often it has completed.
    pub generation: u64,
    /// Threads that ended since it began to gather, which count as arrived if all are expected.
    pub knowledge: Knowledge,
    /// What the last completion hands out.
    pub completed: Knowledge,
    /// For `red`: population count, and, or.
    pub reduction: (u32, bool, bool),
    /// The last completion's reduction.
    pub reduced: (u32, bool, bool),
}

/// `barrier.cluster`.
#[derive(Debug, Clone, Default)]
pub struct ClusterBarrier {
    /// Threads that have arrived.
    pub arrived: u32,
    /// How often it has completed.
    pub generation: u64,
    /// What those who arrived knew.
    pub knowledge: Knowledge,
    /// What the last completion hands out.
    pub completed: Knowledge,
    /// For each thread that has arrived and not waited yet, the generation it arrived in.
    pub pending: BTreeMap<(u32, u32), u64>,
    /// mbarriers, by CTA rank and offset, whose initialisation those who arrived have fenced: the
    /// completion makes them known even if the arrivals are relaxed.
    pub inits: Vec<(u32, u32)>,
}

/// An mbarrier object and what it carries.
#[derive(Debug, Clone)]
pub struct MbarrierCell {
    /// The counts.
    pub barrier: Mbarrier,
    /// How many objects there were at this address before.
    pub incarnation: u32,
    /// The agent whose times are phases, from 1.
    pub agent: Agent,
    /// What those who arrived in this phase knew.
    pub gathering: Knowledge,
    /// What the last completed phase hands out.
    pub completed: Knowledge,
    /// When it was initialised.
    pub init: Epoch,
    /// The instruction that did.
    pub init_pc: u32,
    /// When the thread that initialised it made a fence for that.
    pub init_fence: Option<Epoch>,
    /// The thread that initialised it.
    pub init_thread: ThreadRef,
    /// Whether the whole cluster has learnt of the initialisation.
    pub init_known: bool,
    /// What happened to it last, for reports.
    pub history: VecDeque<String>,
}

const HISTORY: usize = 4;

impl MbarrierCell {
    /// Remembers something for reports.
    pub fn remember(&mut self, what: String) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(what);
    }
}

impl From<MbarrierError> for Fault {
    fn from(error: MbarrierError) -> Self {
        Self::new(Kind::MbarrierContract, error.to_string())
    }
}

impl Machine {
    /// The barrier at an address.
    ///
    /// # Errors
    /// There is none, or there never was.
    pub fn mbarrier(&mut self, cta: CtaRef, offset: u32) -> Result<&mut MbarrierCell, Fault> {
        let cell = self
            .cta_mut(cta)
            .and_then(|cta| cta.mbarriers.get_mut(&offset));
        cell.ok_or_else(|| {
            Fault::new(
                Kind::MbarrierContract,
                format!("there is no initialised mbarrier at shared memory {offset:#x}"),
            )
        })
    }

    /// Says which barrier a contract was broken at.
    pub(crate) fn at_barrier(&self, cta: CtaRef, offset: u32, error: &MbarrierError) -> Fault {
        let state = self
            .cta(cta)
            .and_then(|cta| cta.mbarriers.get(&offset))
            .map(|cell| format!(" ({}; {})", cell.barrier, recent(&cell.history)))
            .unwrap_or_default();
        Fault::new(
            Kind::MbarrierContract,
            format!("mbarrier at shared memory {offset:#x}: {error}{state}"),
        )
    }

    /// Lets `step` change a barrier, and completes the phase if that ends it. `step` returns
    /// whether it did. Arrivals add their knowledge to `gathering` before they call this.
    pub fn change_mbarrier<T>(
        &mut self,
        cta: CtaRef,
        offset: u32,
        step: impl FnOnce(&mut Mbarrier) -> Result<T, MbarrierError>,
    ) -> Result<T, Fault> {
        let cell = self.mbarrier(cta, offset)?;
        let before = cell.barrier.phase().ok();
        let outcome = step(&mut cell.barrier);
        let value = match outcome {
            Ok(value) => value,
            Err(error) => return Err(self.at_barrier(cta, offset, &error)),
        };
        let cell = self.mbarrier(cta, offset)?;
        if let (Some(before), Ok(after)) = (before, cell.barrier.phase())
            && after != before
        {
            let mut completed = std::mem::take(&mut cell.gathering);
            let time = u32::try_from(after).unwrap_or(u32::MAX);
            completed.generic.advance(cell.agent, time);
            completed.proxied.advance(cell.agent, time);
            completed.tensor.advance(cell.agent, time);
            cell.completed = completed;
            let now = self.now;
            if let Some(trace) = &mut self.trace {
                trace.phase(now, cta, offset, after);
            }
        }
        self.changed();
        Ok(value)
    }

    /// `bytes` have landed for a barrier: the completion of a copy that named it. `operation`
    /// is the epoch under which the copy's writes went down; whoever sees the phase complete
    /// knows of them.
    pub fn complete_tx(
        &mut self,
        cta: CtaRef,
        offset: u32,
        bytes: u32,
        operation: Option<Epoch>,
        what: &str,
    ) -> Result<(), Fault> {
        let cell = self.mbarrier(cta, offset)?;
        let phase = cell.barrier.phase().unwrap_or(0);
        let completion = Epoch {
            cluster: cta.cluster,
            agent: cell.agent,
            time: u32::try_from(phase + 1).unwrap_or(u32::MAX),
        };
        cell.remember(format!("{what} completed {bytes} bytes"));
        if let Some(operation) = operation {
            self.detector.resolve(operation, completion);
        }
        self.change_mbarrier(cta, offset, |barrier| barrier.complete_tx(bytes))?;
        Ok(())
    }

    /// One arrival by the system for work that is done: `tcgen05.commit`, `cp.async` arrives.
    /// `done` are the streams' epochs that the phase's completion makes known.
    pub fn system_arrive(
        &mut self,
        cta: CtaRef,
        offset: u32,
        done: &[Epoch],
        what: &str,
        step: impl FnOnce(&mut Mbarrier) -> Result<bool, MbarrierError>,
    ) -> Result<(), Fault> {
        let cell = self.mbarrier(cta, offset)?;
        for epoch in done {
            cell.gathering.generic.advance(epoch.agent, epoch.time);
            cell.gathering.proxied.advance(epoch.agent, epoch.time);
            cell.gathering.tensor.advance(epoch.agent, epoch.time);
        }
        cell.remember(what.to_owned());
        self.change_mbarrier(cta, offset, step)?;
        Ok(())
    }

    /// Initialises a barrier.
    pub(crate) fn init_mbarrier(
        &mut self,
        thread: ThreadRef,
        pc: u32,
        offset: u32,
        count: u32,
    ) -> Result<(), Fault> {
        let init = self.detector.now(thread);
        let incarnation = match self
            .cta_mut(thread.cta)
            .and_then(|c| c.mbarriers.get(&offset))
        {
            Some(old) if old.barrier.is_valid() => {
                return Err(self.at_barrier(thread.cta, offset, &MbarrierError::InitWhileLive));
            }
            Some(old) => old.incarnation + 1,
            None => 0,
        };
        let mut barrier = Mbarrier::uninit();
        if let Err(error) = barrier.init(count) {
            return Err(self.at_barrier(thread.cta, offset, &error));
        }
        let stream = Stream::Mbarrier(thread.cta, offset, incarnation);
        let agent = self.detector.agent(thread.cta.cluster, stream);
        let cell = MbarrierCell {
            barrier,
            incarnation,
            agent,
            gathering: Knowledge::default(),
            completed: Knowledge::default(),
            init,
            init_pc: pc,
            init_fence: None,
            init_thread: thread,
            init_known: false,
            history: VecDeque::new(),
        };
        if let Some(cta) = self.cta_mut(thread.cta) {
            cta.mbarriers.insert(offset, cell);
        }
        self.changed();
        Ok(())
    }

    /// Checks that a use of a barrier comes after its initialisation: for threads by any order,
    /// for copies and other CTAs behind `fence.mbarrier_init` too.
    pub fn check_barrier_init(
        &mut self,
        thread: ThreadRef,
        pc: u32,
        cta: CtaRef,
        offset: u32,
        by_system: bool,
    ) {
        if !self.detector.enabled() {
            return;
        }
        let Ok(cell) = self.mbarrier(cta, offset) else {
            return;
        };
        if cell.init_known {
            return;
        }
        let (init, init_pc, fence, owner) =
            (cell.init, cell.init_pc, cell.init_fence, cell.init_thread);
        let remote = by_system || thread.cta != cta;
        let note = vec![format!("initialised by {}", self.program.describe(init_pc))];
        if owner != thread && !self.detector.knows(thread, init) {
            self.report(
                Kind::Race,
                crate::report::Severity::Error,
                format!(
                    "the mbarrier at shared memory {offset:#x} is used without an order after its initialisation"
                ),
                pc,
                thread,
                init_pc,
                note,
            );
        } else if remote
            && !fence.is_some_and(|fence| owner == thread || self.detector.knows(thread, fence))
        {
            let severity = self.severity(Kind::MissingInitFence);
            self.report(
                Kind::MissingInitFence,
                severity,
                format!(
                    "the mbarrier at shared memory {offset:#x} is used by a copy or another CTA, and no fence.mbarrier_init follows its initialisation"
                ),
                pc,
                thread,
                init_pc,
                note,
            );
        }
    }
}

/// A barrier's history in words.
pub(crate) fn recent(history: &VecDeque<String>) -> String {
    if history.is_empty() {
        return "nobody has arrived yet".to_owned();
    }
    let list: Vec<&str> = history.iter().map(String::as_str).collect();
    format!("last: {}", list.join("; "))
}
