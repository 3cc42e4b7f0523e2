//! The words of a report: what was expected, what was found.

use super::{BarrierFacts, Fault, MemoryAt, Party, Report, Waiting, WaitsFor};
use ptx_model::access::Access;
use std::fmt::{Display, Formatter, Result};

impl Display for Party {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(role) = &self.role {
            write!(f, "@{role} ")?;
        }
        write!(f, "warp {} lane {}", self.warp, self.lane)
    }
}

impl Display for BarrierFacts {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "\"{}\"[{}] ({})", self.name, self.stage, self.state)
    }
}

impl Display for MemoryAt {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.slot {
            Some(slot) => write!(f, "\"{}\"[{slot}] at byte {}", self.name, self.byte),
            None => write!(f, "{} at byte {}", self.name, self.byte),
        }
    }
}

/// A phase, where `None` is the one before phase 0.
fn phase(phase: Option<u64>) -> String {
    phase.map_or_else(
        || "the phase before phase 0".to_owned(),
        |phase| format!("phase {phase}"),
    )
}

fn access(access: Access) -> &'static str {
    match access {
        Access::GenericRead => "an ordinary read",
        Access::GenericWrite => "an ordinary write",
        Access::CpAsyncWrite => "a cp.async copy",
        Access::BulkWrite => "a bulk load",
        Access::BulkRead => "a bulk store",
        _ => "another access",
    }
}

impl Display for WaitsFor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            WaitsFor::Barrier {
                barrier,
                parity,
                phase: wanted,
            } => {
                write!(f, "waits for {} of {barrier}", phase(*wanted))?;
                parity.map_or(Ok(()), |parity| write!(f, " by parity {parity}"))
            }
            WaitsFor::Groups => f.write_str("waits for its own copies"),
            WaitsFor::Cta { arrived, of } => {
                write!(
                    f,
                    "waits at a CTA barrier that {arrived} of {of} threads have reached"
                )
            }
            WaitsFor::Named { id, arrived, of } => {
                write!(
                    f,
                    "waits at named barrier {id}, which has {arrived} of {of} threads"
                )
            }
            WaitsFor::Warp { arrived } => {
                write!(
                    f,
                    "waits at a warp.sync that {arrived} of 32 lanes have reached"
                )
            }
        }
    }
}

impl Display for Waiting {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.party, self.what)?;
        if self.threads > 1 {
            write!(f, " (and {} more threads)", self.threads - 1)?;
        }
        write!(f, ", {}", self.place)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Fault::Deadlock { waiting } => {
                f.write_str("deadlock: nothing can go on")?;
                waiting
                    .iter()
                    .try_for_each(|waiting| write!(f, "; {waiting}"))
            }
            Fault::Misuse { barrier, error } => write!(f, "{error}: {barrier}"),
            Fault::StaleWait {
                barrier,
                parity,
                finished,
                wants,
            } => write!(
                f,
                "wait for parity {parity} passes too early: expected phase {wants} of {barrier}, \
                 got {}, which this thread has already used",
                phase(*finished)
            ),
            Fault::LateWait {
                barrier,
                parity,
                wants,
            } => write!(
                f,
                "wait for parity {parity} comes two phases late: expected {}, got {barrier}",
                phase(*wants)
            ),
            Fault::Skew { barrier, unseen } => write!(
                f,
                "the next phase of {barrier} does not wait until this thread has seen {}: expected \
                 the thread to synchronise with whoever lets the barrier go on",
                phase(*unseen)
            ),
            Fault::UnorderedInit { barrier } => write!(
                f,
                "expected a CTA barrier between mbarrier.init and this use of {barrier}"
            ),
            Fault::MissingInitFence { barrier } => write!(
                f,
                "expected fence.mbarrier_init and a CTA barrier between mbarrier.init and the copy \
                 engine's use of {barrier}"
            ),
            Fault::InvalInUse { barrier } => write!(
                f,
                "expected every other thread to be done with {barrier} before it is invalidated"
            ),
            Fault::BeforeCopyDone {
                memory,
                copy,
                access: use_,
            } => write!(
                f,
                "{} of {memory} before {} into it is known to have landed: expected a wait for \
                 the copy",
                access(*use_),
                access(*copy)
            ),
            Fault::Race {
                memory,
                first: Access::BulkRead,
                second,
            } => write!(
                f,
                "race on {memory}: nothing orders a bulk store's read before {}: expected \
                 bulk.wait_group by the thread that issued the store",
                access(*second)
            ),
            Fault::Race {
                memory,
                first,
                second,
            } => write!(
                f,
                "race on {memory}: nothing orders {} before {}",
                access(*first),
                access(*second)
            ),
            Fault::MissingProxyFence {
                memory,
                first,
                second,
            } => write!(
                f,
                "missing fence on {memory}: expected fence.proxy_async between {} and {}",
                access(*first),
                access(*second)
            ),
            Fault::Uninitialised { memory } => {
                write!(f, "read of {memory}, which nothing has written")
            }
            Fault::StaleContents {
                memory,
                barrier,
                holds,
                waited,
            } => write!(
                f,
                "stale contents of {memory}: expected the filling of phase {waited} of {barrier}, \
                 got that of phase {holds}"
            ),
            Fault::BytesLeft { barrier } => {
                write!(
                    f,
                    "expected as many bytes as were announced, got {barrier} at the end"
                )
            }
            Fault::UnfinishedPhase { barrier } => {
                write!(
                    f,
                    "expected all arrivals of the phase or none, got {barrier} at the end"
                )
            }
            Fault::CopyInFlight { copy } => write!(
                f,
                "{} may still be under way when the kernel ends: expected a wait for it",
                access(*copy)
            ),
            Fault::NamedBarrierLeft { id, arrived, of } => write!(
                f,
                "expected a multiple of {of} threads at named barrier {id}, got {arrived} too many"
            ),
            Fault::MeetingMismatch { id, first, second } if first == second => {
                write!(
                    f,
                    "expected all threads of barrier {id} to meet at one place"
                )
            }
            Fault::MeetingMismatch { id, first, second } => {
                write!(
                    f,
                    "expected {first} threads at named barrier {id}, got {second}"
                )
            }
            Fault::OutOfBounds {
                dimension,
                index,
                extent,
            } => write!(
                f,
                "expected an index from 0 to {} in dimension {dimension}, got {index}",
                extent.saturating_sub(1)
            ),
            Fault::OutsideMemory {
                memory,
                bytes,
                size,
            } => {
                write!(
                    f,
                    "expected bytes within the {size} there are, got {bytes} of {memory}"
                )
            }
            Fault::Misaligned { memory, alignment } => {
                write!(
                    f,
                    "expected an address that is a multiple of {alignment}, got {memory}"
                )
            }
            Fault::NoSuchStage {
                name,
                stage,
                stages,
            } => {
                write!(
                    f,
                    "expected a stage from 0 to {} of \"{name}\", got {stage}",
                    stages.saturating_sub(1)
                )
            }
            Fault::PartialRow { row } => {
                write!(
                    f,
                    "expected rows of a multiple of 16 bytes where a tensor store ends a row, since it writes whole units of 16 bytes; got {row} bytes"
                )
            }
            Fault::BadByteCount { bytes, expected } => {
                write!(f, "expected {expected}, got {bytes} bytes")
            }
            Fault::Computation(error) => Display::fmt(error, f),
            Fault::BadStep { step } => write!(f, "expected a positive loop step, got {step}"),
            Fault::ForeignState => {
                f.write_str("expected a state that an arrive on this barrier returned")
            }
            Fault::LocalMemory { bytes } => {
                write!(
                    f,
                    "expected at most 65536 bytes of memory in a thread, got {bytes}"
                )
            }
            Fault::StepBound { steps } => write!(f, "no end after {steps} steps; given up"),
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.party {
            Some(party) => write!(f, "{party}: {}", self.fault),
            None => Display::fmt(&self.fault, f),
        }
    }
}
