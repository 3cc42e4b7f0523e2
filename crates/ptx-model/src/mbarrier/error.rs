//! What lies outside the contract of an mbarrier.

use thiserror::Error;

use super::{MAX_COUNT, MAX_TX};

/// A use of an mbarrier that the PTX ISA leaves undefined or forbids (9.1, 9.7.13.15). The barrier is
/// as it was before the attempt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MbarrierError {
    /// The barrier was never initialised.
    #[error("the barrier is used before it is initialised")]
    Uninitialised,
    /// The barrier was invalidated and not initialised again.
    #[error("the barrier is used after it was invalidated")]
    Invalidated,
    /// `init` on a barrier that has not been invalidated.
    #[error("the barrier is initialised again without being invalidated first")]
    InitWhileLive,
    /// A count for `init` or an arrive that no barrier can hold.
    #[error("an arrival count has to be in 1 to {MAX_COUNT}, got {count}")]
    CountOutOfRange {
        /// The count as it was given.
        count: u32,
    },
    /// More arrivals than the phase wants.
    #[error("phase {phase} wants {pending} more arrivals, got {count}")]
    OverArrival {
        /// The arrivals that came.
        count: u32,
        /// The arrivals that were outstanding.
        pending: u32,
        /// The running phase.
        phase: u64,
    },
    /// `cp.async.mbarrier.arrive` at the largest pending count.
    #[error("cp.async would raise the pending count above {MAX_COUNT}")]
    PendingOutOfRange,
    /// The tx-count leaves its range.
    #[error("the tx-count has to stay in -{MAX_TX} to {MAX_TX} bytes, would be {tx}")]
    TxOutOfRange {
        /// The tx-count that would result.
        tx: i64,
    },
    /// A dropping arrive that leaves nobody to wait for.
    #[error("a drop of {count} leaves no arrivals for later phases, which expect {expected}")]
    NobodyExpected {
        /// The arrivals to drop.
        count: u32,
        /// The arrivals that each later phase expected.
        expected: u32,
    },
    /// A `noComplete` arrive that would have completed the phase.
    #[error("an arrive marked noComplete would complete phase {phase}")]
    NoCompleteCompletes {
        /// The running phase.
        phase: u64,
    },
    /// A parity that is neither 0 nor 1.
    #[error("a parity is 0 or 1, got {parity}")]
    BadParity {
        /// The parity as it was given.
        parity: u32,
    },
    /// The state of an arrive on another CTA's barrier, which does not exist.
    #[error("an arrive on another CTA's barrier returns no state to wait for")]
    RemoteState,
    /// `pending_count` of a state that no `noComplete` arrive returned.
    #[error("pending_count needs the state of a noComplete arrive")]
    StateNotFromNoComplete,
    /// A waiter so late that parity no longer tells what it asks for.
    #[error("a waiter for {} is too late: the barrier is in phase {phase}", phase_name(*.waits_for))]
    WaiterTwoPhasesBehind {
        /// The phase the waiter means; `None` is the one before phase 0.
        waits_for: Option<u64>,
        /// The running phase.
        phase: u64,
    },
    /// A waiter for a phase that has not begun.
    #[error("a waiter for phase {waits_for} is too early: the barrier is in phase {phase}")]
    FuturePhase {
        /// The phase the waiter means.
        waits_for: u64,
        /// The running phase.
        phase: u64,
    },
    /// An arrive in a phase before any wait has seen the phase before it complete.
    #[error("an arrive comes before any wait has seen phase {phase} complete")]
    PhaseNotObserved {
        /// The phase that nobody has seen complete.
        phase: u64,
    },
}

fn phase_name(phase: Option<u64>) -> String {
    phase.map_or_else(
        || "the phase before phase 0".to_owned(),
        |phase| format!("phase {phase}"),
    )
}
