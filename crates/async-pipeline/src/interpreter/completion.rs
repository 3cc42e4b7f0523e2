//! Asynchronous copies and arrives on their way: how they end, and who waits for them.

use super::{
    clock::Clock,
    machine::Machine,
    memory::Span,
    shadow::{Copy, Progress},
    step::Flow,
    thread::Status,
    transfer::Piece,
    value::Base,
};
use crate::program::PlaceId;
use ptx_model::access::Access;
use std::rc::Rc;

/// What is under way.
#[derive(Debug)]
pub(super) enum Pending {
    /// A copy.
    Copy(Transfer),
    /// An arrive behind the copies of a thread.
    Arrive {
        barrier: usize,
        noinc: bool,
        behind: Vec<Rc<Copy>>,
        caused: Clock,
        place: PlaceId,
    },
}

/// A copy with its data.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) copy: Rc<Copy>,
    /// The argument on the global side.
    pub(super) argument: Base,
    pub(super) pieces: Vec<Piece>,
    /// The barrier and the bytes that are taken off it.
    pub(super) completes: Option<(usize, u32)>,
    pub(super) caused: Option<Clock>,
    /// The source of a store, once it has been read.
    pub(super) staged: Vec<u8>,
}

/// In which phases of a barrier a slot was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rhythm {
    barrier: u32,
    last: u64,
    fillings: u32,
    regular: bool,
}

impl Rhythm {
    /// Whether the slot was filled at least twice, and in every phase since the first time.
    pub(super) fn is_regular(&self, barrier: usize) -> bool {
        self.regular && self.fillings >= 2 && self.barrier as usize == barrier
    }

    fn fill(&mut self, barrier: u32, phase: u64) {
        if phase != self.last || barrier != self.barrier {
            self.regular &= barrier == self.barrier && phase == self.last + 1;
            self.last = phase;
            self.fillings += 1;
        }
    }
}

impl Machine<'_> {
    /// Completes what is pending at an index, or what has to come before it.
    pub(super) fn complete(&mut self, index: usize) {
        let Some(event) = self.pending.remove(self.eligible(index)) else {
            return;
        };
        self.steps += 1;
        self.progress += 1;
        match event {
            Pending::Copy(transfer) => self.complete_copy(transfer),
            Pending::Arrive {
                barrier,
                noinc,
                behind,
                caused,
                place,
            } => {
                self.caused_by(barrier, &caused);
                let phase = self.by_system(barrier, None, place, |object| {
                    if noinc {
                        object.cp_async_arrive_noinc_complete()
                    } else {
                        object.cp_async_arrive_complete()
                    }
                });
                if let Some(phase) = phase {
                    for copy in behind {
                        self.counted_in(&copy, barrier, phase);
                    }
                }
            }
        }
    }

    /// An arrive waits for the copies in front of it.
    fn eligible(&self, index: usize) -> usize {
        let Some(Pending::Arrive { behind, .. }) = self.pending.get(index) else {
            return index;
        };
        let Some(first) = behind
            .iter()
            .find(|copy| copy.progress.get() != Progress::Done)
        else {
            return index;
        };
        let is_first = |event: &Pending| match event {
            Pending::Copy(transfer) => Rc::ptr_eq(&transfer.copy, first),
            Pending::Arrive { .. } => false,
        };
        self.pending.iter().position(is_first).unwrap_or(index)
    }

    fn complete_copy(&mut self, mut transfer: Transfer) {
        let copy = Rc::clone(&transfer.copy);
        let issuer = copy.thread as usize;
        if copy.kind == Access::BulkRead && copy.progress.get() == Progress::InFlight {
            transfer.staged = self.gather(&transfer);
            copy.progress.set(Progress::Read);
            self.pending.push_back(Pending::Copy(transfer));
        } else {
            self.scatter(&transfer);
            copy.progress.set(Progress::Done);
            self.statistics.copies += 1;
            if let Some((barrier, bytes)) = transfer.completes {
                if let Some(caused) = &transfer.caused {
                    self.caused_by(barrier, caused);
                }
                if let Some(phase) = self.complete_bytes(barrier, bytes, None, copy.place) {
                    self.counted_in(&copy, barrier, phase);
                }
            }
        }
        if matches!(self.threads[issuer].status, Status::Groups { .. }) {
            self.wake(issuer);
        }
    }

    /// The copy is visible to whoever acquires this phase.
    fn counted_in(&mut self, copy: &Copy, barrier: usize, phase: u64) {
        let mark = self.phase_mark(barrier, phase);
        copy.written.borrow_mut().push(mark);
        copy.read.borrow_mut().push(mark);
        copy.phase.set(Some((barrier as u32, phase)));
        if let Some(slot) = copy.slot {
            let barrier = barrier as u32;
            let first = Rhythm {
                barrier,
                last: phase,
                fillings: 1,
                regular: true,
            };
            self.rhythms
                .entry(slot)
                .or_insert(first)
                .fill(barrier, phase);
        }
    }

    /// The source of a store, as it is now.
    fn gather(&self, transfer: &Transfer) -> Vec<u8> {
        let pieces = transfer
            .pieces
            .iter()
            .filter(|piece| piece.global.is_some());
        let source = |piece: &Piece| {
            let start = piece.shared as usize;
            self.shared
                .bytes
                .get(start..start + piece.length as usize)
                .unwrap_or_default()
        };
        pieces.flat_map(source).copied().collect()
    }

    fn scatter(&mut self, transfer: &Transfer) {
        let t = transfer.copy.thread as usize;
        let loads = transfer.copy.kind != Access::BulkRead;
        let mut staged = transfer.staged.as_slice();
        for piece in &transfer.pieces {
            let near = Span {
                base: Base::Shared {
                    start: 0,
                    length: 0,
                },
                byte: piece.shared,
                length: piece.length,
            };
            let far = |byte| Span {
                base: transfer.argument,
                byte,
                length: piece.length,
            };
            match (piece.global, loads) {
                (Some(byte), true) => {
                    let bytes = self.bytes(t, far(byte)).to_vec();
                    write(self.bytes_mut(t, near), &bytes);
                }
                (None, true) => self.bytes_mut(t, near).fill(0),
                (Some(byte), false) => {
                    let (bytes, rest) = staged.split_at(staged.len().min(piece.length as usize));
                    write(self.bytes_mut(t, far(byte)), bytes);
                    staged = rest;
                }
                (None, false) => {}
            }
        }
    }

    pub(super) fn wait_groups(
        &mut self,
        t: usize,
        pending: u32,
        sources_only: bool,
        bulk: bool,
        place: PlaceId,
    ) -> Flow {
        let thread = &mut self.threads[t];
        let groups = if bulk {
            &mut thread.bulk
        } else {
            &mut thread.cp_async
        };
        let needed = if sources_only {
            Progress::Read
        } else {
            Progress::Done
        };
        let known = if sources_only { groups.sources_read } else { 0 };
        let open = groups
            .closed
            .iter()
            .take(groups.awaited(pending))
            .skip(known)
            .flatten()
            .any(|copy| copy.progress.get() < needed);
        if open {
            thread.status = Status::Groups { place };
            return Flow::Retry;
        }
        let now = thread.knowledge.now(t);
        groups.acknowledge(pending, sources_only, now);
        self.progress += 1;
        Flow::Visible
    }
}

fn write(target: &mut [u8], source: &[u8]) {
    if target.len() == source.len() {
        target.copy_from_slice(source);
    }
}
