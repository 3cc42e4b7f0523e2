//! The mbarrier as an executable definition.
//!
//! An mbarrier counts, per phase, the arrivals that are still wanted and the bytes that are still
//! under way. A phase is over when both are zero; then the next one begins with the full count.
//! Everything the PTX ISA leaves undefined is an error here, and an error changes nothing: what a
//! GPU would do then is not known, so nothing may be concluded from it.
//!
//! Rules: PTX ISA 9.1, 9.7.13.15, and for `tcgen05.commit` 9.7.16.12.1.
//!
//! ```
//! use ptx_model::mbarrier::Mbarrier;
//!
//! # fn main() -> Result<(), ptx_model::mbarrier::MbarrierError> {
//! let mut full = Mbarrier::uninit();
//! full.init(1)?;
//! full.arrive_expect_tx(4096)?; // the producer announces a copy …
//! assert!(!full.test_wait_parity(0)?);
//! full.complete_tx(4096)?; // … and its bytes land
//! assert!(full.test_wait_parity(0)?);
//! assert_eq!(full.to_string(), "phase 1 (parity 1), pending 1 of 1, tx 0");
//! # Ok(())
//! # }
//! ```

use std::fmt;

mod counts;
mod error;
#[cfg(test)]
mod tests;

use counts::{Counts, check_count};
pub use error::MbarrierError;

/// The largest arrival count, 2^20 - 1 (PTX ISA 9.1, 9.7.13.15.2).
pub const MAX_COUNT: u32 = (1 << 20) - 1;

/// The largest magnitude of the tx-count, 2^20 - 1 bytes (same section).
pub const MAX_TX: u32 = (1 << 20) - 1;

type Result<T> = std::result::Result<T, MbarrierError>;

/// One mbarrier object.
///
/// Phases are natural numbers here; hardware shows only their parity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mbarrier {
    life: Life,
    observation: Observation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Life {
    Uninitialised,
    Valid(Counts),
    Invalidated,
}

/// Whether somebody has seen the last phase complete, if that is tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Observation {
    Untracked,
    Missing,
    Made,
}

/// The opaque value that an arrive hands out and the state form of a wait takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State(Token);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token {
    Local {
        phase: u64,
        pending: u32,
        no_complete: bool,
    },
    Remote,
}

impl State {
    /// What an arrive on another CTA's barrier leaves behind: the sink `_`, which no wait takes.
    pub const REMOTE: State = State(Token::Remote);

    /// The token as the 64 bits of a register. Their meaning is ours: PTX calls them opaque.
    pub fn to_bits(self) -> u64 {
        match self.0 {
            Token::Remote => 1 << 63,
            Token::Local {
                phase,
                pending,
                no_complete,
            } => phase << 22 & !(1 << 63) | u64::from(pending) << 1 | u64::from(no_complete),
        }
    }

    /// The token that [`to_bits`](Self::to_bits) made these bits of; none for bits that it never
    /// makes.
    pub fn from_bits(bits: u64) -> Option<Self> {
        if bits >> 63 == 1 {
            return (bits == 1 << 63).then_some(Self::REMOTE);
        }
        let pending = (bits >> 1 & u64::from(MAX_COUNT)) as u32;
        let token = Token::Local {
            phase: bits >> 22,
            pending,
            no_complete: bits & 1 == 1,
        };
        (bits >> 21 & 1 == 0).then_some(Self(token))
    }
}

/// What an arrive did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrival {
    /// The phase and the pending count before the arrive.
    pub state: State,
    /// Whether this arrive was the one that completed the phase.
    pub completed_phase: bool,
}

/// How a legal question about a phase is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitOutcome {
    /// The phase is still running: the wait goes on.
    Pending,
    /// The phase is the one just finished: the wait is over.
    Complete,
}

/// Life cycle.
impl Mbarrier {
    /// Eight bytes of shared memory that nobody has initialised.
    pub const fn uninit() -> Self {
        Self {
            life: Life::Uninitialised,
            observation: Observation::Untracked,
        }
    }

    /// Turns on the rule of use: before an arrive in any phase but the first, somebody must have
    /// seen the phase before it complete (PTX ISA 9.1, 9.7.13.15.4). Report such waits with
    /// [`Mbarrier::observe`]. Off by default.
    pub const fn with_observation_rule(mut self) -> Self {
        self.observation = Observation::Missing;
        self
    }

    /// `mbarrier.init`: phase 0, `count` arrivals wanted in each phase, no bytes.
    pub fn init(&mut self, count: u32) -> Result<()> {
        if let Life::Valid(_) = self.life {
            return Err(MbarrierError::InitWhileLive);
        }
        check_count(count)?;
        self.life = Life::Valid(Counts {
            phase: 0,
            expected: count,
            pending: count,
            tx: 0,
        });
        self.forget_observation();
        Ok(())
    }

    /// `mbarrier.inval`: the memory may serve another purpose, or be initialised again.
    pub fn inval(&mut self) -> Result<()> {
        self.counts()?;
        self.life = Life::Invalidated;
        self.forget_observation();
        Ok(())
    }
}

/// What threads do.
impl Mbarrier {
    /// `mbarrier.arrive` with a count (1 if the instruction has none).
    pub fn arrive(&mut self, count: u32) -> Result<Arrival> {
        self.arrive_with(|counts| counts.arrive(count))
    }

    /// `mbarrier.arrive.noComplete`: must not be the one that completes the phase.
    pub fn arrive_no_complete(&mut self, count: u32) -> Result<Arrival> {
        self.arrive_without_completing(|counts| counts.arrive(count))
    }

    /// `mbarrier.arrive.expect_tx`: `bytes` more to come, then one arrival, in one step.
    pub fn arrive_expect_tx(&mut self, bytes: u32) -> Result<Arrival> {
        self.arrive_with(|counts| {
            counts.add_tx(i64::from(bytes))?;
            counts.arrive(1)
        })
    }

    /// `mbarrier.arrive_drop`: arrives, and is not waited for in later phases.
    pub fn arrive_drop(&mut self, count: u32) -> Result<Arrival> {
        self.arrive_with(|counts| counts.drop_arrive(count))
    }

    /// `mbarrier.arrive_drop.noComplete`: must not be the one that completes the phase.
    pub fn arrive_drop_no_complete(&mut self, count: u32) -> Result<Arrival> {
        self.arrive_without_completing(|counts| counts.drop_arrive(count))
    }

    /// `mbarrier.arrive_drop.expect_tx`: `bytes` more to come, then one dropping arrival.
    pub fn arrive_drop_expect_tx(&mut self, bytes: u32) -> Result<Arrival> {
        self.arrive_with(|counts| {
            counts.add_tx(i64::from(bytes))?;
            counts.drop_arrive(1)
        })
    }

    /// `mbarrier.expect_tx`: `bytes` more to come in this phase. Never completes a phase.
    pub fn expect_tx(&mut self, bytes: u32) -> Result<()> {
        let mut counts = self.counts()?;
        counts.add_tx(i64::from(bytes))?;
        self.life = Life::Valid(counts);
        Ok(())
    }
}

/// What the system does. Each returns whether it completed the phase.
impl Mbarrier {
    /// `bytes` have landed: a bulk copy's completion, or `mbarrier.complete_tx`.
    ///
    /// They may land before they are announced (the tx-count is signed), as long as an arrival of
    /// the phase is outstanding.
    pub fn complete_tx(&mut self, bytes: u32) -> Result<bool> {
        let mut counts = self.counts()?;
        counts.add_tx(-i64::from(bytes))?;
        Ok(self.finish(counts))
    }

    /// `cp.async.mbarrier.arrive`, as it is executed: one more arrival is wanted in this phase.
    pub fn cp_async_arrive_begin(&mut self) -> Result<()> {
        let mut counts = self.counts()?;
        if counts.pending == MAX_COUNT {
            return Err(MbarrierError::PendingOutOfRange);
        }
        counts.pending += 1;
        self.life = Life::Valid(counts);
        Ok(())
    }

    /// `cp.async.mbarrier.arrive`, when the thread's earlier `cp.async` are done: the arrival that
    /// [`Mbarrier::cp_async_arrive_begin`] made room for. Net effect on the phase: none.
    pub fn cp_async_arrive_complete(&mut self) -> Result<bool> {
        self.system_arrive()
    }

    /// `cp.async.mbarrier.arrive.noinc`, when the thread's earlier `cp.async` are done. The count
    /// given to [`Mbarrier::init`] has to include it.
    pub fn cp_async_arrive_noinc_complete(&mut self) -> Result<bool> {
        self.system_arrive()
    }

    /// `tcgen05.commit … .mbarrier::arrive::one`, when the operations it follows are done.
    pub fn commit_arrive(&mut self) -> Result<bool> {
        self.system_arrive()
    }

    fn system_arrive(&mut self) -> Result<bool> {
        Ok(self.arrive(1)?.completed_phase)
    }
}

/// Waits and questions. None of them changes the barrier.
impl Mbarrier {
    /// `test_wait.parity`, or one attempt of `try_wait.parity`: whether the phase just finished has
    /// this parity. A fresh barrier says yes to parity 1.
    ///
    /// The answer is what the instruction returns. Whether the question was a legal one, only
    /// somebody who knows which phase is meant can say: [`Mbarrier::check_waiter`].
    pub fn test_wait_parity(&self, parity: u32) -> Result<bool> {
        let counts = self.counts()?;
        if parity > 1 {
            return Err(MbarrierError::BadParity { parity });
        }
        Ok(counts.phase % 2 != u64::from(parity))
    }

    /// `test_wait` with the state of an arrive in the current phase or the one before.
    pub fn test_wait(&self, state: &State) -> Result<bool> {
        match state.0 {
            Token::Remote => Err(MbarrierError::RemoteState),
            Token::Local { phase, .. } => Ok(self.check_waiter(phase)? == WaitOutcome::Complete),
        }
    }

    /// `mbarrier.pending_count`: the arrivals that were outstanding before the `noComplete` arrive
    /// which returned `state`. It reads the token, not the barrier.
    pub fn pending_count(state: &State) -> Result<u32> {
        match state.0 {
            Token::Remote => Err(MbarrierError::RemoteState),
            Token::Local {
                no_complete: false, ..
            } => Err(MbarrierError::StateNotFromNoComplete),
            Token::Local { pending, .. } => Ok(pending),
        }
    }

    /// Judges a waiter that means phase `waits_for_phase`, counted from 0.
    ///
    /// Parity tells two neighbouring phases apart and no more, so a waiter that has fallen two
    /// completions behind would be told "not yet" about a phase long over, and may sleep for ever.
    pub fn check_waiter(&self, waits_for_phase: u64) -> Result<WaitOutcome> {
        let phase = self.counts()?.phase;
        if waits_for_phase == phase {
            return Ok(WaitOutcome::Pending);
        }
        if waits_for_phase > phase {
            return Err(MbarrierError::FuturePhase {
                waits_for: waits_for_phase,
                phase,
            });
        }
        if phase - waits_for_phase == 1 {
            return Ok(WaitOutcome::Complete);
        }
        Err(MbarrierError::WaiterTwoPhasesBehind {
            waits_for: Some(waits_for_phase),
            phase,
        })
    }

    /// Judges a waiter that means the phase *before* phase 0, as a producer does on its first pass
    /// over empty slots (parity 1 on a fresh barrier). That phase counts as over.
    pub fn check_first_pass_waiter(&self) -> Result<WaitOutcome> {
        match self.counts()?.phase {
            0 => Ok(WaitOutcome::Complete),
            phase => Err(MbarrierError::WaiterTwoPhasesBehind {
                waits_for: None,
                phase,
            }),
        }
    }

    /// Notes that a wait has returned True for the phase just finished. Only matters under
    /// [`Mbarrier::with_observation_rule`].
    pub fn observe(&mut self) -> Result<()> {
        let phase = self.counts()?.phase;
        if phase > 0 && self.observation == Observation::Missing {
            self.observation = Observation::Made;
        }
        Ok(())
    }

    /// Whether the barrier is initialised and not invalidated.
    pub fn is_valid(&self) -> bool {
        matches!(self.life, Life::Valid(_))
    }

    /// The running phase, counted from 0.
    pub fn phase(&self) -> Result<u64> {
        Ok(self.counts()?.phase)
    }

    /// The arrivals still wanted in this phase.
    pub fn pending(&self) -> Result<u32> {
        Ok(self.counts()?.pending)
    }

    /// The arrivals wanted in each later phase.
    pub fn expected(&self) -> Result<u32> {
        Ok(self.counts()?.expected)
    }

    /// The bytes under way in this phase; negative while more have landed than were announced.
    pub fn tx(&self) -> Result<i64> {
        Ok(self.counts()?.tx)
    }
}

impl Mbarrier {
    fn counts(&self) -> Result<Counts> {
        match self.life {
            Life::Valid(counts) => Ok(counts),
            Life::Uninitialised => Err(MbarrierError::Uninitialised),
            Life::Invalidated => Err(MbarrierError::Invalidated),
        }
    }

    fn arrive_with(&mut self, step: impl FnOnce(&mut Counts) -> Result<()>) -> Result<Arrival> {
        let (before, after) = self.try_arrive(step)?;
        let state = before.token(false);
        Ok(Arrival {
            state,
            completed_phase: self.finish(after),
        })
    }

    fn arrive_without_completing(
        &mut self,
        step: impl FnOnce(&mut Counts) -> Result<()>,
    ) -> Result<Arrival> {
        let (before, after) = self.try_arrive(step)?;
        if after.is_complete() {
            return Err(MbarrierError::NoCompleteCompletes {
                phase: before.phase,
            });
        }
        let state = before.token(true);
        Ok(Arrival {
            state,
            completed_phase: self.finish(after),
        })
    }

    /// The counts before and after an arrive-on operation, leaving the barrier as it is.
    fn try_arrive(&self, step: impl FnOnce(&mut Counts) -> Result<()>) -> Result<(Counts, Counts)> {
        let before = self.counts()?;
        if before.phase > 0 && self.observation == Observation::Missing {
            return Err(MbarrierError::PhaseNotObserved {
                phase: before.phase - 1,
            });
        }
        let mut after = before;
        step(&mut after)?;
        Ok((before, after))
    }

    /// Stores the counts, and begins the next phase if this one is over.
    fn finish(&mut self, mut counts: Counts) -> bool {
        let completed = counts.is_complete();
        if completed {
            counts.phase += 1;
            counts.pending = counts.expected;
            self.forget_observation();
        }
        self.life = Life::Valid(counts);
        completed
    }

    fn forget_observation(&mut self) {
        if self.observation == Observation::Made {
            self.observation = Observation::Missing;
        }
    }
}

impl fmt::Display for Mbarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.life {
            Life::Uninitialised => f.write_str("not initialised"),
            Life::Invalidated => f.write_str("invalidated"),
            Life::Valid(Counts {
                phase,
                expected,
                pending,
                tx,
            }) => {
                let parity = phase % 2;
                write!(
                    f,
                    "phase {phase} (parity {parity}), pending {pending} of {expected}, tx {tx}"
                )
            }
        }
    }
}
