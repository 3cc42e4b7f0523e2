//! Waits and polls: which phase a thread means, and what it acquires.

use super::{
    barriers::LastWait, clock::Mark, machine::Machine, report::Fault, step::Flow, thread::Status,
    value::Value,
};
use crate::program::{At, PlaceId, Register};
use ptx_model::mbarrier::{Arrival, State};

impl Machine<'_> {
    /// A wait or (with `done`) a poll by parity.
    pub(super) fn wait(
        &mut self,
        t: usize,
        at: At,
        parity: Register,
        done: Option<Register>,
        place: PlaceId,
    ) -> Flow {
        let parity = self.number(t, parity, 32, place) as u32;
        let answer = |machine: &mut Self, yes: bool| {
            if let Some(done) = done {
                machine.threads[t].set(done, Value::Bits(u64::from(yes)));
            }
            Flow::Visible
        };
        let Some(barrier) = self.barrier(t, at, place) else {
            return answer(self, true);
        };
        self.use_barrier(t, barrier, false, place);
        let object = &self.barriers[barrier].object;
        let (passes, running) = match (object.test_wait_parity(parity), object.phase()) {
            (Ok(passes), Ok(running)) => (passes, running as i64),
            (Err(error), _) | (_, Err(error)) => {
                self.misuse(barrier, error, Some(t), place);
                return answer(self, true);
            }
        };
        let wants = self.barriers[barrier].wanted(t, parity, running);
        if passes {
            self.judge_wait(t, barrier, parity, (wants, running), place);
            self.acquire(t, barrier, wants.max(running - 1), place);
            return answer(self, true);
        }
        if running > wants + 1 {
            self.report_late(t, barrier, parity, wants, place);
        }
        if std::mem::take(&mut self.threads[t].told_no) {
            return answer(self, false);
        }
        self.barriers[barrier].waiters.push(t as u32);
        let (parity, polls) = (Some(parity), done.is_some());
        self.threads[t].status = Status::Barrier {
            barrier,
            parity,
            phase: wants,
            polls,
            place,
        };
        Flow::Retry
    }

    /// Whether a wait that passes means the phase just finished.
    fn judge_wait(
        &mut self,
        t: usize,
        barrier: usize,
        parity: u32,
        (wants, running): (i64, i64),
        place: PlaceId,
    ) {
        let finished = running - 1;
        if finished > wants {
            return self.report_late(t, barrier, parity, wants, place);
        }
        if finished == wants {
            return;
        }
        let before = self.barriers[barrier].waits[t].map(|wait| wait.place);
        let fault = Fault::StaleWait {
            barrier: self.facts(barrier),
            parity,
            finished: u64::try_from(finished).ok(),
            wants: u64::try_from(wants).unwrap_or(0),
        };
        self.report(
            fault,
            place,
            Some(t),
            before.map(|p| (p, "the thread waited last here")),
        );
    }

    fn report_late(&mut self, t: usize, barrier: usize, parity: u32, wants: i64, place: PlaceId) {
        let wants = u64::try_from(wants).ok();
        let fault = Fault::LateWait {
            barrier: self.facts(barrier),
            parity,
            wants,
        };
        self.report(fault, place, Some(t), None);
    }

    /// The thread has seen a phase complete.
    fn acquire(&mut self, t: usize, barrier: usize, phase: i64, place: PlaceId) {
        let thread = &mut self.threads[t];
        let state = &mut self.barriers[barrier];
        thread.told_no = false;
        thread.knowledge.join(&state.done);
        let epoch = thread.knowledge.now(t).value;
        state.waits[t] = Some(LastWait {
            phase,
            epoch,
            place,
        });
        let running = state.object.phase().unwrap_or(0);
        state.observed = state.observed.max(running as i64 - 1);
        // Only fails on a barrier that is not valid, which the wait has found out already.
        let _ = state.object.observe();
        self.statistics.waits += 1;
        self.progress += 1;
    }

    /// Whether a thread that has seen `phase` could also have come too late for it: then the
    /// phase behind it is over without having waited for that thread.
    pub(super) fn check_skew(&mut self, barrier: usize, phase: i64, place: PlaceId) {
        let state = &self.barriers[barrier];
        let missed = state.waits.iter().enumerate().find_map(|(thread, wait)| {
            let wait = (*wait).filter(|wait| wait.phase == phase)?;
            let mark = Mark {
                component: thread as u32,
                value: wait.epoch,
            };
            (!state.open.caused.knows(mark)).then_some((thread, wait))
        });
        if let Some((thread, wait)) = missed {
            let unseen = u64::try_from(phase).ok();
            let fault = Fault::Skew {
                barrier: self.facts(barrier),
                unseen,
            };
            let note = Some((place, "this completes the next phase"));
            self.report(fault, wait.place, Some(thread), note);
        }
    }

    pub(super) fn hand_out_state(
        &mut self,
        t: usize,
        register: Register,
        arrival: Option<(usize, Arrival)>,
    ) {
        // 0 is no state: that of an arrive that failed.
        let number = match arrival {
            Some((barrier, arrival)) => {
                self.states.push((arrival.state, barrier));
                self.states.len() as u64
            }
            None => 0,
        };
        self.threads[t].set(register, Value::Bits(number));
    }

    pub(super) fn state(&self, t: usize, register: Register) -> Option<(State, usize)> {
        let number = self.threads[t].get(register).bits()?;
        self.states
            .get(usize::try_from(number).ok()?.checked_sub(1)?)
            .copied()
    }

    pub(super) fn poll_state(
        &mut self,
        t: usize,
        at: At,
        state: Register,
        done: Register,
        place: PlaceId,
    ) -> Flow {
        let Some(barrier) = self.barrier(t, at, place) else {
            return Flow::Visible;
        };
        self.use_barrier(t, barrier, false, place);
        let known = self.state(t, state).filter(|(_, of)| *of == barrier);
        let passes = match known {
            Some((state, _)) => self.barriers[barrier].object.test_wait(&state),
            None => {
                self.report(Fault::ForeignState, place, Some(t), None);
                Ok(true)
            }
        };
        let passes = passes.unwrap_or_else(|error| {
            self.misuse(barrier, error, Some(t), place);
            true
        });
        let running = self.barriers[barrier].object.phase().unwrap_or(0) as i64;
        if passes {
            self.acquire(t, barrier, running - 1, place);
        } else if !std::mem::take(&mut self.threads[t].told_no) {
            self.barriers[barrier].waiters.push(t as u32);
            self.threads[t].status = Status::Barrier {
                barrier,
                parity: None,
                phase: running,
                polls: true,
                place,
            };
            return Flow::Retry;
        }
        self.threads[t].set(done, Value::Bits(u64::from(passes)));
        Flow::Visible
    }
}
