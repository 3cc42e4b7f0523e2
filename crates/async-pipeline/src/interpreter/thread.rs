//! One thread: its registers, its place in the program, its copies.

use super::{
    clock::{Knowledge, Mark},
    shadow::Copy,
    value::Value,
};
use crate::program::{Block, PlaceId, Register, Statement, StatementId};
use std::{
    collections::{HashMap, VecDeque},
    rc::Rc,
};

/// What a block belongs to, and what its end does.
#[derive(Clone, Debug)]
pub(super) enum FrameKind<'p> {
    /// The kernel or a role.
    Body,
    /// An arm of an `if`.
    If { results: &'p [Register] },
    /// The body of a counted loop.
    For {
        counter: Register,
        width: u32,
        carried: &'p [Register],
        results: &'p [Register],
        current: i128,
        upper: i128,
        step: i128,
    },
    /// The first region of a `while`.
    Before(Loop<'p>),
    /// Its second region.
    After(Loop<'p>),
}

/// The parts of a `while`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop<'p> {
    pub(super) before_arguments: &'p [Register],
    pub(super) before: &'p Block,
    pub(super) after_arguments: &'p [Register],
    pub(super) after: &'p Block,
    pub(super) results: &'p [Register],
}

/// A block that is being run.
#[derive(Clone, Debug)]
pub(super) struct Frame<'p> {
    pub(super) statements: &'p [Statement],
    pub(super) next: usize,
    pub(super) kind: FrameKind<'p>,
}

/// Why a thread does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It can.
    Ready,
    /// It waits for a barrier, by number; a poll can also be told no.
    Barrier {
        barrier: usize,
        parity: Option<u32>,
        phase: i64,
        polls: bool,
        place: PlaceId,
    },
    /// It waits for its groups of copies.
    Groups { place: PlaceId },
    /// It waits for every thread of the CTA.
    Cta { place: PlaceId },
    /// It waits at a named barrier.
    Named { id: u32, place: PlaceId },
    /// It waits for its warp.
    Warp { place: PlaceId },
    /// It has ended.
    Done,
}

/// Groups of copies of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Copies that no group has taken yet.
    pub(super) open: Vec<Rc<Copy>>,
    /// Closed groups, oldest first.
    pub(super) closed: VecDeque<Vec<Rc<Copy>>>,
    /// How many of the oldest are known to have read their sources.
    pub(super) sources_read: usize,
}

impl Groups {
    pub(super) fn close(&mut self) {
        self.closed.push_back(std::mem::take(&mut self.open));
    }

    /// How many of the oldest groups a wait that leaves `pending` open is about.
    pub(super) fn awaited(&self, pending: u32) -> usize {
        self.closed.len().saturating_sub(pending as usize)
    }

    /// The wait has passed: whoever reaches `mark` knows.
    pub(super) fn acknowledge(&mut self, pending: u32, sources_only: bool, mark: Mark) {
        let awaited = self.awaited(pending);
        for copy in self
            .closed
            .iter()
            .take(awaited)
            .skip(self.sources_read)
            .flatten()
        {
            copy.read.borrow_mut().push(mark);
        }
        if sources_only {
            self.sources_read = self.sources_read.max(awaited);
            return;
        }
        for copy in self.closed.drain(..awaited).flatten() {
            copy.written.borrow_mut().push(mark);
        }
        self.sources_read = self.sources_read.saturating_sub(awaited);
    }
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread<'p> {
    /// Position of its role in the program.
    pub(super) role: Option<usize>,
    pub(super) registers: Vec<Value>,
    pub(super) frames: Vec<Frame<'p>>,
    pub(super) status: Status,
    pub(super) knowledge: Knowledge,
    /// Whether the poll it stands at is to be answered no.
    pub(super) told_no: bool,
    pub(super) cp_async: Groups,
    pub(super) bulk: Groups,
    /// `cp.async` copies that an asynchronous arrive would cover.
    pub(super) batch: Vec<Rc<Copy>>,
    /// Whether an arrive has covered the batch, so that the next copy begins a new one.
    pub(super) batch_covered: bool,
    pub(super) local: Vec<Vec<u8>>,
    pub(super) local_of: HashMap<StatementId, u32>,
}

impl<'p> Thread<'p> {
    pub(super) fn new(
        index: usize,
        registers: Vec<Value>,
        body: &'p Block,
        components: usize,
    ) -> Self {
        let mut knowledge = Knowledge::new(components);
        // Stamps start at 1: 0 is what everybody knows.
        knowledge.tick(index);
        Self {
            role: None,
            registers,
            frames: vec![Frame {
                statements: &body.statements,
                next: 0,
                kind: FrameKind::Body,
            }],
            status: Status::Ready,
            knowledge,
            told_no: false,
            cp_async: Groups::default(),
            bulk: Groups::default(),
            batch: Vec::new(),
            batch_covered: false,
            local: Vec::new(),
            local_of: HashMap::new(),
        }
    }

    pub(super) fn get(&self, register: Register) -> &Value {
        self.registers
            .get(register.0 as usize)
            .unwrap_or(&Value::Empty)
    }

    pub(super) fn set(&mut self, register: Register, value: Value) {
        if let Some(slot) = self.registers.get_mut(register.0 as usize) {
            *slot = value;
        }
    }

    pub(super) fn values(&self, registers: &[Register]) -> Vec<Value> {
        registers
            .iter()
            .map(|register| self.get(*register).clone())
            .collect()
    }

    pub(super) fn set_all(&mut self, registers: &[Register], values: Vec<Value>) {
        for (register, value) in registers.iter().zip(values) {
            self.set(*register, value);
        }
    }

    pub(super) fn enter(&mut self, block: &'p Block, kind: FrameKind<'p>) {
        self.frames.push(Frame {
            statements: &block.statements,
            next: 0,
            kind,
        });
    }

    /// The block that runs ends with these values.
    pub(super) fn leave(&mut self, values: Vec<Value>) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        match &mut frame.kind {
            FrameKind::Body => {}
            FrameKind::If { results } => self.set_all(results, values),
            FrameKind::For {
                counter,
                width,
                carried,
                results,
                current,
                upper,
                step,
            } => {
                *current += *step;
                if *current >= *upper {
                    self.set_all(results, values);
                    return;
                }
                self.set_all(carried, values);
                self.set(*counter, counter_value(*current, *width));
                frame.next = 0;
                self.frames.push(frame);
            }
            FrameKind::After(parts) => {
                let parts = *parts;
                self.set_all(parts.before_arguments, values);
                self.enter(parts.before, FrameKind::Before(parts));
            }
            // Only a condition ends this region; a yield in it is refused by MLIR.
            FrameKind::Before(_) => {}
        }
    }

    /// `scf.condition`.
    pub(super) fn decide(&mut self, go_on: bool, values: Vec<Value>) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let FrameKind::Before(parts) = frame.kind else {
            return;
        };
        if go_on {
            self.set_all(parts.after_arguments, values);
            self.enter(parts.after, FrameKind::After(parts));
        } else {
            self.set_all(parts.results, values);
        }
    }
}

/// The register value of a loop counter.
pub(super) fn counter_value(current: i128, width: u32) -> Value {
    Value::Bits(super::value::truncate(current as u64, width))
}
