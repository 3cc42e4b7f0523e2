//! mbarriers: the objects, what they hand on, and who has seen which phase.

use super::{
    clock::{Clock, Knowledge, Mark},
    machine::Machine,
    report::{BarrierFacts, Fault},
    step::Flow,
    value::Value,
};
use crate::program::{At, BarrierId, Operation, PlaceId, Register};
use ptx_model::{
    mbarrier::{Arrival, Mbarrier, MbarrierError},
    target::Target,
};

/// The last phase a thread has seen; -1 is the one before phase 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastWait {
    pub(super) phase: i64,
    pub(super) epoch: u32,
    pub(super) place: PlaceId,
}

#[derive(Clone, Copy, Debug)]
struct Init {
    thread: usize,
    epoch: u32,
    /// Stamp of the first `fence.mbarrier_init` behind it.
    fence: Option<u32>,
    place: PlaceId,
}

/// One mbarrier.
#[derive(Debug)]
pub(super) struct BarrierState {
    pub(super) object: Mbarrier,
    array: BarrierId,
    stage: u64,
    init: Option<Init>,
    /// What the arrivals so far have released.
    pub(super) open: Knowledge,
    /// What whoever sees the last phase complete acquires.
    pub(super) done: Knowledge,
    /// Stamp and place of each thread's last use.
    uses: Vec<(u32, PlaceId)>,
    pub(super) waits: Vec<Option<LastWait>>,
    pub(super) waiters: Vec<u32>,
    /// The latest phase that some thread has seen complete.
    pub(super) observed: i64,
}

impl BarrierState {
    pub(super) fn new(array: BarrierId, stage: u64, threads: usize, components: usize) -> Self {
        Self {
            object: Mbarrier::uninit().with_observation_rule(),
            array,
            stage,
            init: None,
            open: Knowledge::new(components),
            done: Knowledge::new(components),
            uses: vec![(0, PlaceId(0)); threads],
            waits: vec![None; threads],
            waiters: Vec::new(),
            observed: -1,
        }
    }

    /// The last phase that a thread has waited for, if it is a real one.
    pub(super) fn waited_for(&self, t: usize) -> Option<u64> {
        u64::try_from((*self.waits.get(t)?)?.phase).ok()
    }

    /// Whether some thread has seen this phase complete.
    pub(super) fn was_observed(&self, phase: u64) -> bool {
        u64::try_from(self.observed).is_ok_and(|observed| observed >= phase)
    }

    /// The phase that a thread means which waits for a parity: the next one of that parity
    /// behind the one it has seen. A first wait means phase 0, or with parity 1 the phase
    /// before it, unless that is long over.
    pub(super) fn wanted(&self, t: usize, parity: u32, running: i64) -> i64 {
        let parity = i64::from(parity);
        match self.waits.get(t).copied().flatten() {
            Some(last) if (last.phase + 1).rem_euclid(2) == parity => last.phase + 1,
            Some(last) => last.phase + 2,
            None if parity == 1 && running == 0 => -1,
            None => parity,
        }
    }
}

impl<'p> Machine<'p> {
    pub(super) fn facts(&self, barrier: usize) -> BarrierFacts {
        let state = &self.barriers[barrier];
        let array = self.program.barriers.get(state.array.0 as usize);
        BarrierFacts {
            name: array.map(|array| array.name.clone()).unwrap_or_default(),
            stage: state.stage,
            state: state.object.clone(),
        }
    }

    /// The component that counts a barrier's phases.
    fn component(&self, barrier: usize) -> u32 {
        (self.threads.len() + barrier) as u32
    }

    /// The mark of those who have seen a phase of a barrier complete.
    pub(super) fn phase_mark(&self, barrier: usize, phase: u64) -> Mark {
        let value = u32::try_from(phase + 1).unwrap_or(u32::MAX);
        Mark {
            component: self.component(barrier),
            value,
        }
    }

    pub(super) fn misuse(
        &mut self,
        barrier: usize,
        error: MbarrierError,
        t: Option<usize>,
        place: PlaceId,
    ) {
        let fault = Fault::Misuse {
            barrier: self.facts(barrier),
            error,
        };
        let init = self.barriers[barrier].init;
        let note = init.map(|init| (init.place, "the barrier is initialised here"));
        self.report(fault, place, t, note);
    }

    /// The barrier that a statement names; a stage that does not exist is reported.
    pub(super) fn barrier(&mut self, t: usize, at: At, place: PlaceId) -> Option<usize> {
        let stage = self.number(t, at.stage, 32, place);
        let array = self.program.barriers.get(at.barrier.0 as usize)?;
        match u64::try_from(stage)
            .ok()
            .filter(|stage| *stage < array.stages)
        {
            Some(stage) => Some(self.first_barriers[at.barrier.0 as usize] + stage as usize),
            None => {
                let (name, stages) = (array.name.clone(), array.stages);
                self.report(
                    Fault::NoSuchStage {
                        name,
                        stage,
                        stages,
                    },
                    place,
                    Some(t),
                    None,
                );
                None
            }
        }
    }

    /// Notes a use and checks that the initialisation was made known to the user.
    pub(super) fn use_barrier(
        &mut self,
        t: usize,
        barrier: usize,
        by_engine: bool,
        place: PlaceId,
    ) {
        let now = self.threads[t].knowledge.now(t).value;
        self.barriers[barrier].uses[t] = (now, place);
        let Some(init) = self.barriers[barrier].init else {
            return;
        };
        let seen = &self.threads[t].knowledge.seen;
        let from = |value| Mark {
            component: init.thread as u32,
            value,
        };
        let note = Some((init.place, "the barrier is initialised here"));
        let fenced = init.fence.is_some_and(|fence| seen.knows(from(fence)));
        if !seen.knows(from(init.epoch)) {
            let fault = Fault::UnorderedInit {
                barrier: self.facts(barrier),
            };
            self.report(fault, place, Some(t), note);
        } else if by_engine && self.input.target != Target::Sm80 && !fenced {
            let fault = Fault::MissingInitFence {
                barrier: self.facts(barrier),
            };
            self.report(fault, place, Some(t), note);
        }
    }

    /// `fence.mbarrier_init`
    pub(super) fn fence_init(&mut self, t: usize) {
        let now = self.threads[t].knowledge.now(t).value;
        for barrier in &mut self.barriers {
            if let Some(init) = &mut barrier.init
                && init.thread == t
            {
                init.fence.get_or_insert(now);
            }
        }
        self.threads[t].knowledge.tick(t);
    }

    pub(super) fn barrier_op(
        &mut self,
        t: usize,
        operation: &'p Operation,
        place: PlaceId,
    ) -> Flow {
        match operation {
            Operation::Init { barrier, count } => {
                for index in self.array(*barrier) {
                    self.init(t, index, *count, place);
                }
            }
            Operation::Inval { barrier } => {
                for index in self.array(*barrier) {
                    self.inval(t, index, place);
                }
            }
            Operation::Arrive {
                at,
                count,
                no_complete,
                drop,
                state,
            } => {
                let (count, arrival) = (*count, (*no_complete, *drop));
                let arrival = self.arrive(t, *at, place, |object| match arrival {
                    (false, false) => object.arrive(count),
                    (true, false) => object.arrive_no_complete(count),
                    (false, true) => object.arrive_drop(count),
                    (true, true) => object.arrive_drop_no_complete(count),
                });
                if let Some(register) = state {
                    self.hand_out_state(t, *register, arrival);
                }
            }
            Operation::ArriveExpectTx { at, bytes } => {
                let bytes = self.byte_count(t, *bytes, place);
                self.arrive(t, *at, place, |object| object.arrive_expect_tx(bytes));
            }
            Operation::ExpectTx { at, bytes } => {
                let bytes = self.byte_count(t, *bytes, place);
                let Some(barrier) = self.barrier(t, *at, place) else {
                    return Flow::Visible;
                };
                self.use_barrier(t, barrier, false, place);
                if let Err(error) = self.barriers[barrier].object.expect_tx(bytes) {
                    self.misuse(barrier, error, Some(t), place);
                }
            }
            Operation::CompleteTx { at, bytes } => {
                let bytes = self.byte_count(t, *bytes, place);
                let Some(barrier) = self.barrier(t, *at, place) else {
                    return Flow::Visible;
                };
                self.use_barrier(t, barrier, false, place);
                self.complete_bytes(barrier, bytes, Some(t), place);
            }
            Operation::Wait { at, parity } => return self.wait(t, *at, *parity, None, place),
            Operation::PollParity {
                at, parity, done, ..
            } => {
                return self.wait(t, *at, *parity, Some(*done), place);
            }
            Operation::PollState {
                at, state, done, ..
            } => {
                return self.poll_state(t, *at, *state, *done, place);
            }
            Operation::PendingCount { state, result } => {
                let known = self
                    .state(t, *state)
                    .map(|(state, _)| Mbarrier::pending_count(&state));
                let count = match known {
                    Some(Ok(count)) => count,
                    _ => {
                        self.report(Fault::ForeignState, place, Some(t), None);
                        0
                    }
                };
                self.threads[t].set(*result, Value::Bits(u64::from(count)));
                return Flow::On;
            }
            _ => {}
        }
        self.progress += 1;
        Flow::Visible
    }

    fn array(&self, barrier: BarrierId) -> std::ops::Range<usize> {
        let index = barrier.0 as usize;
        let first = self.first_barriers.get(index).copied().unwrap_or(0);
        let stages = self
            .program
            .barriers
            .get(index)
            .map_or(0, |array| array.stages);
        first..first + stages as usize
    }

    fn byte_count(&mut self, t: usize, register: Register, place: PlaceId) -> u32 {
        // The operand is unsigned; what is too large for a barrier its definition refuses.
        self.number(t, register, 32, place) as u32
    }

    fn init(&mut self, t: usize, barrier: usize, count: u32, place: PlaceId) {
        if let Err(error) = self.barriers[barrier].object.init(count) {
            return self.misuse(barrier, error, Some(t), place);
        }
        let epoch = self.threads[t].knowledge.now(t).value;
        let state = &mut self.barriers[barrier];
        state.init = Some(Init {
            thread: t,
            epoch,
            fence: None,
            place,
        });
        state.waits.fill(None);
        state.observed = -1;
    }

    fn inval(&mut self, t: usize, barrier: usize, place: PlaceId) {
        self.check_end(barrier, place, Some(t));
        let seen = &self.threads[t].knowledge.seen;
        let unordered =
            self.barriers[barrier]
                .uses
                .iter()
                .enumerate()
                .find(|(user, (epoch, _))| {
                    !seen.knows(Mark {
                        component: *user as u32,
                        value: *epoch,
                    })
                });
        if let Some((_, (_, used))) = unordered {
            let note = Some((*used, "another thread uses it here"));
            let fault = Fault::InvalInUse {
                barrier: self.facts(barrier),
            };
            self.report(fault, place, Some(t), note);
        }
        if let Err(error) = self.barriers[barrier].object.inval() {
            self.misuse(barrier, error, Some(t), place);
        }
    }

    /// What has to be true when a barrier's life ends.
    pub(super) fn check_end(&mut self, barrier: usize, place: PlaceId, t: Option<usize>) {
        let object = &self.barriers[barrier].object;
        let (Ok(pending), Ok(expected), Ok(tx)) =
            (object.pending(), object.expected(), object.tx())
        else {
            return;
        };
        let init = self.barriers[barrier].init;
        let note = init.map(|init| (init.place, "the barrier is initialised here"));
        if tx != 0 {
            let fault = Fault::BytesLeft {
                barrier: self.facts(barrier),
            };
            self.report(fault, place, t, note);
        } else if pending != expected {
            let fault = Fault::UnfinishedPhase {
                barrier: self.facts(barrier),
            };
            self.report(fault, place, t, note);
        }
    }

    fn arrive(
        &mut self,
        t: usize,
        at: At,
        place: PlaceId,
        step: impl Fn(&mut Mbarrier) -> Result<Arrival, MbarrierError>,
    ) -> Option<(usize, Arrival)> {
        let barrier = self.barrier(t, at, place)?;
        self.use_barrier(t, barrier, false, place);
        let arrival = self.attempt(barrier, Some(t), place, step)?;
        let thread = &mut self.threads[t];
        self.barriers[barrier].open.join(&thread.knowledge);
        thread.knowledge.tick(t);
        if arrival.completed_phase {
            self.phase_over(barrier, place);
        }
        Some((barrier, arrival))
    }

    /// Tries a step on a barrier. One in a phase before whose start nobody has looked is
    /// reported and made all the same: hardware would, and what follows from it is worth showing.
    fn attempt<T>(
        &mut self,
        barrier: usize,
        t: Option<usize>,
        place: PlaceId,
        step: impl Fn(&mut Mbarrier) -> Result<T, MbarrierError>,
    ) -> Option<T> {
        let mut result = step(&mut self.barriers[barrier].object);
        if let Err(error @ MbarrierError::PhaseNotObserved { .. }) = result {
            self.misuse(barrier, error, t, place);
            let object = &mut self.barriers[barrier].object;
            result = object.observe().and_then(|()| step(object));
        }
        result
            .map_err(|error| self.misuse(barrier, error, t, place))
            .ok()
    }

    /// Bytes have landed. Returns the phase in which they counted.
    pub(super) fn complete_bytes(
        &mut self,
        barrier: usize,
        bytes: u32,
        t: Option<usize>,
        place: PlaceId,
    ) -> Option<u64> {
        self.by_system(barrier, t, place, |object| object.complete_tx(bytes))
    }

    /// A step that the system makes on a barrier. Returns the phase in which it counted.
    pub(super) fn by_system(
        &mut self,
        barrier: usize,
        t: Option<usize>,
        place: PlaceId,
        step: impl Fn(&mut Mbarrier) -> Result<bool, MbarrierError>,
    ) -> Option<u64> {
        let phase = self.barriers[barrier].object.phase().unwrap_or(0);
        if self.attempt(barrier, t, place, step)? {
            self.phase_over(barrier, place);
        }
        Some(phase)
    }

    /// What an asynchronous arrive or copy was issued behind.
    pub(super) fn caused_by(&mut self, barrier: usize, caused: &Clock) {
        self.barriers[barrier].open.caused.join(caused);
    }

    /// A phase has just finished.
    fn phase_over(&mut self, barrier: usize, place: PlaceId) {
        let Ok(running) = self.barriers[barrier].object.phase() else {
            return;
        };
        let finished = running.saturating_sub(1);
        self.check_skew(barrier, finished as i64 - 1, place);
        let mark = self.phase_mark(barrier, finished);
        let state = &mut self.barriers[barrier];
        state.done = state.open.clone();
        state.done.acquire_phase(mark);
        for thread in std::mem::take(&mut state.waiters) {
            self.wake(thread as usize);
        }
        self.statistics.phases[barrier].phases += 1;
        self.progress += 1;
    }
}
