//! Runs a barrier-level program on the CPU and reports what is wrong with it.
//!
//! Every thread of a CTA is an agent of its own, and so is every asynchronous copy from the
//! moment it is issued. A seeded scheduler decides who goes next ([`Schedule`]); data
//! really moves, so results can be compared with a reference. Two kinds of fault are found:
//!
//! * what happens: deadlocks, over-arrivals and every other misuse that
//!   [`ptx_model::mbarrier`] knows, waits that pass too early or come two phases late,
//!   accesses outside their memory, bytes and arrivals left over at the end;
//! * what could happen: vector clocks follow every release and acquire, and show races,
//!   reads before a copy has landed, missing proxy fences and phases that can overtake a slow
//!   thread, whether or not this schedule makes them visible.
//!
//! ```text
//!  Program ─┐
//!           ├─► Interpreter::run ─► Outcome: reports, memory of the arguments, statistics
//!  LaunchInput ┘
//! ```
//!
//! What it takes for granted: threads that wait for one barrier see its phases one after the
//! other. A thread that waits for the same parity again means the phase two further on, so
//! two parties may share a barrier in turns; with three or more, the third's first wait
//! cannot be told from a late one and is reported as such.

mod access;
mod barriers;
mod clock;
mod completion;
mod compute;
mod copies;
mod finish;
mod input;
mod machine;
mod meetings;
mod memory;
mod report;
mod schedule;
mod shadow;
mod step;
mod thread;
mod transfer;
mod value;
mod waits;

pub use compute::ComputeError;
pub(crate) use compute::{compare_floats, compare_integers, float_to_int, integer};
pub use input::{ArgumentValue, Completion, LaunchError, LaunchInput, Order, Schedule};
pub use report::{BarrierFacts, Fault, MemoryAt, Note, Party, Report, Waiting, WaitsFor};

pub(crate) use value::{signed, truncate};

use crate::program::Program;
use machine::Machine;

/// The interpreter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

/// How often one barrier went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseCount {
    /// Name of the array.
    pub name: String,
    /// Which of its barriers.
    pub stage: u64,
    /// Phases that finished, over all CTAs.
    pub phases: u64,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Statements executed; vectors and copies count by their size.
    pub steps: u64,
    /// Waits that passed.
    pub waits: u64,
    /// Asynchronous copies that completed.
    pub copies: u64,
    /// Phases of every barrier.
    pub phases: Vec<PhaseCount>,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The faults, in the order in which they were seen; one per kind and place.
    pub reports: Vec<Report>,
    /// Kinds and places of faults beyond the limit on reports.
    pub more_reports: usize,
    /// Memory of every argument afterwards; empty for scalars.
    pub arguments: Vec<Vec<u8>>,
    /// What was done.
    pub statistics: Statistics,
}

impl Outcome {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.reports.is_empty()
    }

    /// An argument's memory as f32 values.
    pub fn f32(&self, argument: usize) -> Vec<f32> {
        let bytes = self
            .arguments
            .get(argument)
            .map(Vec::as_slice)
            .unwrap_or_default();
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|chunk| f32::from_le_bytes(*chunk))
            .collect()
    }
}

impl Interpreter {
    /// Runs the CTAs of a launch one after the other.
    ///
    /// # Errors
    /// A launch that the program does not fit. Faults of the program are in the outcome.
    pub fn run(program: &Program, input: &LaunchInput) -> Result<Outcome, LaunchError> {
        let mut machine = Machine::new(program, input)?;
        for block in machine.blocks()? {
            if !machine.run_block(block) {
                break;
            }
        }
        Ok(machine.into_outcome())
    }
}
