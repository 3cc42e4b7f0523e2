//! What happened when, for a timeline.

mod chrome;

use super::ids::CtaRef;
use crate::machine::events::Unit;

/// One entry of the timeline. Times are steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A CTA has started.
    Start {
        /// When.
        at: u64,
        /// The CTA.
        cta: CtaRef,
        /// Its `%ctaid`.
        block: [u32; 3],
        /// How many warps it has.
        warps: u32,
    },
    /// The last thread of a warp has ended.
    End {
        /// When.
        at: u64,
        /// Its CTA.
        cta: CtaRef,
        /// Its number.
        warp: u32,
    },
    /// A warp, or some of its lanes, waited.
    Warp {
        /// Its CTA.
        cta: CtaRef,
        /// Its number.
        warp: u32,
        /// From when.
        begin: u64,
        /// To when.
        end: u64,
        /// What, in words.
        what: String,
        /// Line of the PTX.
        line: u32,
    },
    /// A piece of asynchronous work.
    Work {
        /// Its cluster.
        cluster: u32,
        /// `%ctaid` of the CTA that issued it.
        block: [u32; 3],
        /// The unit.
        unit: Unit,
        /// When it was issued.
        begin: u64,
        /// When it finished.
        end: u64,
        /// The instruction.
        what: String,
        /// Line of the PTX.
        line: u32,
    },
    /// An mbarrier has begun a phase.
    Phase {
        /// When.
        at: u64,
        /// Its CTA.
        cta: CtaRef,
        /// Its address.
        offset: u32,
        /// The phase.
        phase: u64,
    },
}

/// The timeline of a run.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// In the order in which things ended.
    pub entries: Vec<Entry>,
    /// How many more there were when the trace had grown too long.
    pub dropped: u64,
}

/// A trace of more entries than this stops growing.
const MOST: usize = 2_000_000;

impl Trace {
    /// Adds an entry.
    pub fn push(&mut self, entry: Entry) {
        if self.entries.len() < MOST {
            self.entries.push(entry);
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn phase(&mut self, at: u64, cta: CtaRef, offset: u32, phase: u64) {
        self.push(Entry::Phase {
            at,
            cta,
            offset,
            phase,
        });
    }
}
