//! What the emulator has to say about a kernel.

use std::{fmt, sync::Arc};

use crate::syntax::ast::{SourceLine, Span};

/// The class of a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Nothing can run any more, and threads still wait.
    Deadlock,
    /// Threads run, and nothing that another thread could see has changed for too long.
    Livelock,
    /// A use of an mbarrier outside its contract.
    MbarrierContract,
    /// Two accesses to one place, at least one a write, without an order between them.
    Race,
    /// An asynchronous copy's destination is touched before the copy is known to be complete.
    ReadBeforeComplete,
    /// A place that an asynchronous operation still reads is overwritten.
    OverwriteWhileRead,
    /// Generic accesses and the asynchronous ones after them lack a `fence.proxy.async`.
    MissingProxyFence,
    /// Tensor memory is handed between threads without the `tcgen05.fence` pair.
    MissingTensorFence,
    /// An mbarrier is used from another CTA, or by a copy, without `fence.mbarrier_init`.
    MissingInitFence,
    /// Shared memory or tensor memory is read that nobody has written.
    UninitialisedRead,
    /// An access outside every allocation.
    OutOfBounds,
    /// An address that is no multiple of what the instruction needs.
    Misaligned,
    /// An `.aligned` instruction, or one with a member mask, that its threads do not all reach.
    Divergence,
    /// A register of a `wgmma` is touched before the wait for it.
    WgmmaRegister,
    /// Tensor memory is allocated, freed or kept against the rules.
    TensorMemory,
    /// A thread ends with work in flight, or while other CTAs of its cluster need its memory.
    ExitWithWork,
    /// An operand that the instruction does not allow.
    InvalidOperand,
    /// The kernel executed `trap`.
    Trap,
    /// What the emulator does not do.
    Unsupported,
    /// A limit of the run: steps, memory.
    Limit,
}

impl Kind {
    /// A short name that stays the same, for machines: `missing-proxy-fence`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Livelock => "livelock",
            Self::MbarrierContract => "mbarrier-contract",
            Self::Race => "race",
            Self::ReadBeforeComplete => "read-before-complete",
            Self::OverwriteWhileRead => "overwrite-while-read",
            Self::MissingProxyFence => "missing-proxy-fence",
            Self::MissingTensorFence => "missing-tensor-fence",
            Self::MissingInitFence => "missing-init-fence",
            Self::UninitialisedRead => "uninitialised-read",
            Self::OutOfBounds => "out-of-bounds",
            Self::Misaligned => "misaligned",
            Self::Divergence => "divergence",
            Self::WgmmaRegister => "wgmma-register",
            Self::TensorMemory => "tensor-memory",
            Self::ExitWithWork => "exit-with-work",
            Self::InvalidOperand => "invalid-operand",
            Self::Trap => "trap",
            Self::Unsupported => "unsupported",
            Self::Limit => "limit",
        }
    }
}

/// How sure a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Wrong or undefined.
    Error,
    /// The letter of the PTX ISA asks for it, and NVIDIA's own compilers leave it out.
    Warning,
}

/// Where something happened: an instruction as some thread executed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The place in the PTX text.
    pub span: Span,
    /// What that was compiled from.
    pub source: Option<SourceLine>,
    /// The instruction, opcode and modifiers.
    pub instruction: Arc<str>,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// The thread's linear number in its CTA.
    pub thread: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "line {}: {} (block ({x},{y},{z}), warp {}, thread {}",
            self.span.line,
            self.instruction,
            self.thread / 32,
            self.thread
        )?;
        if let Some(source) = &self.source {
            write!(f, ", from {source}")?;
        }
        f.write_str(")")
    }
}

/// One defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its class.
    pub kind: Kind,
    /// How sure it is.
    pub severity: Severity,
    /// One sentence: addresses, barrier state and counts included.
    pub message: String,
    /// Where it was noticed.
    pub site: Option<Site>,
    /// What the other side did, or who waits for what; a line each.
    pub notes: Vec<String>,
    /// How often the same thing was seen at the same instruction.
    pub count: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {} [{}]", self.message, self.kind.name())?;
        if let Some(site) = &self.site {
            write!(f, "\n  at {site}")?;
        }
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        if self.count > 1 {
            write!(f, "\n  seen {} times here", self.count)?;
        }
        Ok(())
    }
}

/// Why an instruction could not be carried out; the run ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The class.
    pub kind: Kind,
    /// One sentence.
    pub message: String,
}

impl Fault {
    /// A fault of a class with its sentence.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}
