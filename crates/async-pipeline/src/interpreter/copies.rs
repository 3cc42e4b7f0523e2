//! Asynchronous copies and arrives: how they are issued.

use super::{
    access::Touch,
    completion::{Pending, Transfer},
    machine::Machine,
    memory::Span,
    report::Fault,
    shadow::{Copy, Past, Progress},
    step::Flow,
    transfer::{Piece, box_pieces},
    value::Base,
};
use crate::program::{At, BufferId, Element, Operation, PlaceId, Register};
use ptx_model::access::Access;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

impl<'p> Machine<'p> {
    pub(super) fn copy_op(&mut self, t: usize, operation: &'p Operation, place: PlaceId) -> Flow {
        match operation {
            Operation::CpAsync {
                source,
                target,
                bytes,
                valid,
            } => {
                self.cp_async(t, source, target, u64::from(*bytes), *valid, place);
            }
            Operation::CpAsyncArrive { at, noinc } => self.cp_async_arrive(t, *at, *noinc, place),
            Operation::CpAsyncCommit => self.threads[t].cp_async.close(),
            Operation::BulkCommit => self.threads[t].bulk.close(),
            Operation::CpAsyncWait { pending } => {
                return self.wait_groups(t, *pending, false, false, place);
            }
            Operation::BulkWait { pending, read } => {
                return self.wait_groups(t, *pending, *read, true, place);
            }
            Operation::BulkLoad {
                source,
                target,
                bytes,
                at,
            } => {
                self.bulk(t, (source, target), *bytes, Some(*at), place);
            }
            Operation::BulkStore {
                source,
                target,
                bytes,
            } => {
                self.bulk(t, (target, source), *bytes, None, place);
            }
            Operation::TmaLoad {
                map,
                coordinates,
                extents,
                buffer,
                slot,
                first,
                at,
            } => {
                let slot = (*buffer, *slot, *first);
                self.tma(t, *map, (coordinates, extents), slot, Some(*at), place);
            }
            Operation::TmaStore {
                map,
                coordinates,
                extents,
                buffer,
                slot,
                first,
            } => {
                let slot = (*buffer, *slot, *first);
                self.tma(t, *map, (coordinates, extents), slot, None, place);
            }
            _ => {}
        }
        Flow::Visible
    }

    /// Shared byte and argument of a copy's two sides; a side in other memory is reported.
    fn sides(
        &mut self,
        t: usize,
        shared: Span,
        global: Base,
        place: PlaceId,
    ) -> Option<(u64, Base)> {
        match (shared.base, global) {
            (Base::Shared { .. }, Base::Argument(_)) => Some((shared.byte, global)),
            _ => {
                let error = super::compute::ComputeError::Operand;
                self.report(Fault::Computation(error), place, Some(t), None);
                None
            }
        }
    }

    fn cp_async(
        &mut self,
        t: usize,
        source: &Element,
        target: &Element,
        bytes: u64,
        valid: Option<Register>,
        place: PlaceId,
    ) {
        let valid = match valid {
            Some(register) => self.number(t, register, 32, place),
            None => bytes.cast_signed(),
        };
        let Some(read) = u64::try_from(valid).ok().filter(|valid| *valid <= bytes) else {
            let expected = "valid bytes from 0 to the size of the copy";
            return self.report(
                Fault::BadByteCount {
                    bytes: valid,
                    expected,
                },
                place,
                Some(t),
                None,
            );
        };
        let Some(from) = self.view(t, source.memref, place) else {
            return;
        };
        let lanes = |bytes: u64| bytes.div_ceil(u64::from(from.element_bytes)).cast_signed();
        let Some(written) = self.span(t, target, bytes, lanes(bytes), place) else {
            return;
        };
        self.check_alignment(t, written, bytes, place);
        let mut pieces = Vec::new();
        if read > 0 {
            let Some(span) = self.span(t, source, read, lanes(read), place) else {
                return;
            };
            self.check_alignment(t, span, bytes, place);
            pieces.push(Piece {
                shared: written.byte,
                global: Some(span.byte),
                length: read,
            });
        }
        if read < bytes {
            let shared = written.byte + read;
            pieces.push(Piece {
                shared,
                global: None,
                length: bytes - read,
            });
        }
        let Some((_, argument)) = self.sides(t, written, from.base, place) else {
            return;
        };
        let copy = self.issue(t, Access::CpAsyncWrite, argument, pieces, None, place);
        let thread = &mut self.threads[t];
        thread.cp_async.open.push(Rc::clone(&copy));
        if std::mem::take(&mut thread.batch_covered) {
            thread
                .batch
                .retain(|copy| copy.progress.get() != Progress::Done);
        }
        thread.batch.push(copy);
        if !self.waits_for_cp_async_groups {
            // Nothing will ever look at these again but the check at the end.
            self.prune(|machine| &mut machine.threads[t].cp_async.open);
        }
    }

    fn cp_async_arrive(&mut self, t: usize, at: At, noinc: bool, place: PlaceId) {
        let Some(barrier) = self.barrier(t, at, place) else {
            return;
        };
        self.use_barrier(t, barrier, false, place);
        let begun = noinc
            || self
                .by_system(barrier, Some(t), place, |object| {
                    object.cp_async_arrive_begin().map(|()| false)
                })
                .is_some();
        if !begun {
            return;
        }
        let thread = &mut self.threads[t];
        thread.batch_covered = true;
        let (behind, caused) = (thread.batch.clone(), thread.knowledge.caused.clone());
        thread.knowledge.tick(t);
        self.pending.push_back(Pending::Arrive {
            barrier,
            noinc,
            behind,
            caused,
            place,
        });
    }

    fn bulk(
        &mut self,
        t: usize,
        (global, shared): (&Element, &Element),
        bytes: Register,
        at: Option<At>,
        place: PlaceId,
    ) {
        let bytes = self.number(t, bytes, 32, place);
        let barrier = match at {
            Some(at) => match self.barrier(t, at, place) {
                Some(barrier) => Some(barrier),
                None => return,
            },
            None => None,
        };
        let Some(length) = u32::try_from(bytes).ok().filter(|b| *b > 0 && b % 16 == 0) else {
            let expected = "a positive multiple of 16";
            return self.report(
                Fault::BadByteCount { bytes, expected },
                place,
                Some(t),
                None,
            );
        };
        let Some(far) = self.span(t, global, u64::from(length), 1, place) else {
            return;
        };
        let Some(near) = self.span(t, shared, u64::from(length), 1, place) else {
            return;
        };
        self.check_alignment(t, far, 16, place);
        self.check_alignment(t, near, 16, place);
        let Some((byte, argument)) = self.sides(t, near, far.base, place) else {
            return;
        };
        let piece = Piece {
            shared: byte,
            global: Some(far.byte),
            length: u64::from(length),
        };
        self.issue_bulk(
            t,
            argument,
            vec![piece],
            barrier.map(|barrier| (barrier, length)),
            place,
        );
    }

    fn tma(
        &mut self,
        t: usize,
        map: Register,
        (coordinates, extents): (&[Register], &[u64]),
        (buffer, slot, first): (BufferId, Register, u64),
        at: Option<At>,
        place: PlaceId,
    ) {
        let barrier = match at {
            Some(at) => match self.barrier(t, at, place) {
                Some(barrier) => Some(barrier),
                None => return,
            },
            None => None,
        };
        let coordinates: Vec<i64> = coordinates
            .iter()
            .map(|register| self.number(t, *register, 32, place))
            .collect();
        let Some(tile) = self.slot_view(t, buffer, slot, place) else {
            return;
        };
        let elements = extents.iter().fold(1_u64, |p, e| p.saturating_mul(*e));
        let bytes = elements.saturating_mul(u64::from(tile.element_bytes));
        let Some(near) = self.span_at(t, &tile, i128::from(first), bytes, place) else {
            return;
        };
        self.check_alignment(t, near, 128, place);
        let Some(view) = self.view(t, map, place) else {
            return;
        };
        let Some((byte, argument)) = self.sides(t, near, view.base, place) else {
            return;
        };
        let outer = view.strides.len().saturating_sub(1);
        for stride in view.strides.iter().take(outer) {
            let pitch = stride.saturating_mul(i64::from(view.element_bytes));
            if pitch % 16 != 0 {
                let memory = self.memory_at(argument, pitch.unsigned_abs());
                self.report(
                    Fault::Misaligned {
                        memory,
                        alignment: 16,
                    },
                    place,
                    Some(t),
                    None,
                );
            }
        }
        if at.is_none() {
            let negative = coordinates.iter().enumerate().find(|(_, c)| **c < 0);
            if let Some((dimension, index)) = negative {
                let extent = view.sizes.get(dimension).copied().unwrap_or(0);
                let fault = Fault::OutOfBounds {
                    dimension,
                    index: *index,
                    extent,
                };
                self.report(fault, place, Some(t), None);
            }
            self.check_row_end(t, &view, &coordinates, extents, place);
        }
        let pieces = box_pieces(&view, &coordinates, extents, byte);
        self.issue_bulk(
            t,
            argument,
            pieces,
            barrier.map(|barrier| (barrier, bytes as u32)),
            place,
        );
    }

    /// A tensor store clips a row at a multiple of 16 bytes only: seen on an H200, where a
    /// row of 65 floats was written up to its 68th.
    fn check_row_end(
        &mut self,
        t: usize,
        view: &super::value::View,
        coordinates: &[i64],
        extents: &[u64],
        place: PlaceId,
    ) {
        let (Some(size), Some(at), Some(extent)) =
            (view.sizes.last(), coordinates.last(), extents.last())
        else {
            return;
        };
        let row = size.saturating_mul(i64::from(view.element_bytes));
        let end = at.saturating_add(i64::try_from(*extent).unwrap_or(i64::MAX));
        if (0..*size).contains(at) && end > *size && row % 16 != 0 {
            self.report(Fault::PartialRow { row }, place, Some(t), None);
        }
    }

    /// A load that completes on a barrier, or a store.
    fn issue_bulk(
        &mut self,
        t: usize,
        argument: Base,
        pieces: Vec<Piece>,
        completes: Option<(usize, u32)>,
        place: PlaceId,
    ) {
        if let Some((barrier, _)) = completes {
            self.use_barrier(t, barrier, true, place);
            let copy = self.issue(t, Access::BulkWrite, argument, pieces, completes, place);
            self.bulk_loads.push(copy);
            self.prune(|machine| &mut machine.bulk_loads);
        } else {
            let copy = self.issue(t, Access::BulkRead, argument, pieces, None, place);
            self.threads[t].bulk.open.push(copy);
        }
    }

    /// Forgets copies that somebody has waited for, once in a while.
    fn prune(&mut self, list: impl Fn(&mut Self) -> &mut Vec<Rc<Copy>>) {
        let length = list(self).len();
        if length < 256 || !length.is_power_of_two() {
            return;
        }
        let mut copies = std::mem::take(list(self));
        copies.retain(|copy| !self.is_awaited(copy));
        *list(self) = copies;
    }

    fn issue(
        &mut self,
        t: usize,
        kind: Access,
        argument: Base,
        pieces: Vec<Piece>,
        completes: Option<(usize, u32)>,
        place: PlaceId,
    ) -> Rc<Copy> {
        let loads = kind != Access::BulkRead;
        let copy = Rc::new(Copy {
            kind,
            thread: t as u32,
            place,
            progress: Cell::new(Progress::InFlight),
            written: RefCell::default(),
            read: RefCell::default(),
            phase: Cell::default(),
            slot: pieces
                .first()
                .and_then(|piece| self.shared.slot(self.program, piece.shared)),
        });
        let who = Past::Copy(Rc::clone(&copy));
        let async_proxy = kind != Access::CpAsyncWrite;
        let near = Touch {
            who: who.clone(),
            kind,
            writes: loads,
            async_proxy,
        };
        let far = Touch {
            who,
            kind,
            writes: !loads,
            async_proxy,
        };
        for piece in &pieces {
            if !loads && piece.global.is_none() {
                continue;
            }
            let base = Base::Shared {
                start: 0,
                length: 0,
            };
            let span = Span {
                base,
                byte: piece.shared,
                length: piece.length,
            };
            self.touch(t, span, &near, place);
            if let Some(byte) = piece.global {
                self.touch(
                    t,
                    Span {
                        base: argument,
                        byte,
                        length: piece.length,
                    },
                    &far,
                    place,
                );
            }
            self.steps += piece.length / 64;
        }
        let caused = completes.map(|_| self.threads[t].knowledge.caused.clone());
        let transfer = Transfer {
            copy: Rc::clone(&copy),
            argument,
            pieces,
            completes,
            caused,
            staged: Vec::new(),
        };
        self.pending.push_back(Pending::Copy(transfer));
        copy
    }
}
