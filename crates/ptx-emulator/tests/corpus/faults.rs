//! What is wrong with some kernels, and how a report shows that it was found.

use ptx_emulator::{Kind, Report, Severity};

/// A fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    /// In words.
    pub(crate) what: &'static str,
    /// The classes that name it.
    pub(crate) kinds: &'static [Kind],
    /// How the instruction begins that shows it, guard left out.
    pub(crate) instruction: &'static str,
    /// Which of the instructions that begin like this, counted from the top; all if empty.
    pub(crate) which: &'static [usize],
    /// Whether the report is about who waits: the line stands in one of its notes, along with an
    /// mbarrier.
    pub(crate) waits: bool,
    /// Classes of errors that may come along under some schedules.
    pub(crate) also: &'static [Kind],
}

/// The expectation of bytes is half of what arrives: a phase may end with one of its two copies
/// still on the way.
pub(crate) const TX_COUNT: Fault = Fault {
    what: "a read of what is still being copied",
    kinds: &[Kind::ReadBeforeComplete],
    instruction: "ld.shared.v4.f32",
    which: &[],
    waits: false,
    // Phases that run ahead let tiles be read that were never written, and be overwritten while
    // they are read.
    // With too few bytes expected the threads do not wait for the last copies either.
    also: &[Kind::UninitialisedRead, Kind::Race, Kind::ExitWithWork],
};

/// The producer waits for the phase before the first one to be over with the wrong parity.
pub(crate) const PARITY: Fault = Fault {
    what: "a deadlock of producer and consumers",
    kinds: &[Kind::Deadlock],
    instruction: "mbarrier.try_wait",
    which: &[0],
    waits: true,
    also: &[],
};

/// The last tiles are read with their copies still among the three that may be pending.
pub(crate) const WEAK_WAIT: Fault = Fault {
    what: "a read of what is still being copied",
    kinds: &[Kind::ReadBeforeComplete],
    instruction: "ld.shared.v4.f32",
    which: &[],
    waits: false,
    // The copies of the last tile are never waited for.
    also: &[Kind::ExitWithWork],
};

/// A bulk copy reads what was written by ordinary stores, without a proxy fence.
pub(crate) const NO_PROXY_FENCE: Fault = Fault {
    what: "a missing proxy fence before the copy to global memory",
    kinds: &[Kind::MissingProxyFence],
    instruction: "cp.async.bulk.tensor.2d.global.shared::cta",
    which: &[],
    waits: false,
    also: &[],
};

/// The accumulator is announced by an arrival that does not wait for the multiplications.
pub(crate) const WRONG_COMMIT: Fault = Fault {
    what: "a read of an accumulator that is still being written",
    kinds: &[Kind::ReadBeforeComplete],
    instruction: "tcgen05.ld",
    which: &[],
    waits: false,
    also: &[],
};

impl Fault {
    /// The lines of the text that a report of this fault names.
    pub(crate) fn lines(&self, text: &str) -> Vec<u32> {
        let begins = |line: &str| {
            let line = line.trim_start();
            let line = match line.strip_prefix('@') {
                Some(guarded) => guarded
                    .split_once(' ')
                    .map_or("", |(_, rest)| rest.trim_start()),
                None => line,
            };
            line.starts_with(self.instruction)
        };
        let all: Vec<u32> = (1..)
            .zip(text.lines())
            .filter(|(_, line)| begins(line))
            .map(|(n, _)| n)
            .collect();
        let lines: Vec<u32> = match self.which {
            [] => all,
            which => which.iter().filter_map(|&n| all.get(n).copied()).collect(),
        };
        assert!(
            !lines.is_empty(),
            "no line begins with {}",
            self.instruction
        );
        lines
    }

    /// Whether a report is of this fault's classes, or of those that may come along.
    pub(crate) fn explains(&self, report: &Report) -> bool {
        self.kinds.contains(&report.kind) || self.also.contains(&report.kind)
    }

    /// Whether a report is about this fault, at one of the lines.
    pub(crate) fn names(&self, report: &Report, lines: &[u32]) -> bool {
        if report.severity != Severity::Error || !self.kinds.contains(&report.kind) {
            return false;
        }
        if self.waits {
            return report.notes.iter().any(|note| {
                note.contains("mbarrier at shared memory")
                    && lines
                        .iter()
                        .any(|line| note.contains(&format!("line {line}:")))
            });
        }
        report
            .site
            .as_ref()
            .is_some_and(|site| lines.contains(&site.span.line))
    }
}
