//! The end of a CTA: who is stuck, and what is left over.

use super::{
    machine::Machine,
    report::{Fault, Waiting, WaitsFor},
    shadow::Copy,
    thread::Status,
};
use crate::program::PlaceId;
use ptx_model::access::Access;
use std::rc::Rc;

impl Machine<'_> {
    /// Called when nothing can run.
    pub(super) fn finish(&mut self) {
        let stuck = self
            .threads
            .iter()
            .any(|thread| thread.status != Status::Done);
        if stuck {
            self.report_deadlock();
        }
        for barrier in 0..self.barriers.len() {
            let object = &self.barriers[barrier].object;
            // A phase that hangs is part of the deadlock; bytes that nobody announced say more.
            if !stuck || object.tx().is_ok_and(|tx| tx < 0) {
                let place = self.barrier_place(barrier);
                self.check_end(barrier, place, None);
            }
        }
        if !stuck {
            self.check_copies();
            self.check_named();
        }
    }

    fn barrier_place(&self, barrier: usize) -> PlaceId {
        let array = self
            .first_barriers
            .iter()
            .rposition(|first| *first <= barrier);
        array
            .and_then(|array| self.program.barriers.get(array))
            .map_or(self.program.place, |array| array.place)
    }

    fn report_deadlock(&mut self) {
        let mut waiting: Vec<(Option<usize>, PlaceId, Waiting)> = Vec::new();
        for t in 0..self.threads.len() {
            let Some((what, place)) = self.waits_for(t) else {
                continue;
            };
            let role = self.threads[t].role;
            let same = waiting
                .iter_mut()
                .find(|(r, p, first)| *r == role && *p == place && same_thing(&first.what, &what));
            if let Some((_, _, first)) = same {
                first.threads += 1;
                continue;
            }
            let (party, text) = (self.party(t), self.program.place(place));
            waiting.push((
                role,
                place,
                Waiting {
                    party,
                    threads: 1,
                    what,
                    place: text,
                },
            ));
        }
        // Whoever waits for a phase is the cause; who waits for others follows from it.
        waiting.sort_by_key(|(_, _, w)| !matches!(w.what, WaitsFor::Barrier { .. }));
        let first = waiting.first().map(|(_, place, _)| *place);
        let barrier = waiting
            .iter()
            .find_map(|(_, _, waiting)| match &waiting.what {
                WaitsFor::Barrier { barrier, .. } => self
                    .program
                    .barriers
                    .iter()
                    .find(|array| array.name == barrier.name),
                _ => None,
            });
        let note = barrier.map(|array| (array.place, "the barrier is created here"));
        let waiting = waiting.into_iter().map(|(_, _, waiting)| waiting).collect();
        let place = first.unwrap_or(self.program.place);
        self.report(Fault::Deadlock { waiting }, place, None, note);
    }

    fn waits_for(&self, t: usize) -> Option<(WaitsFor, PlaceId)> {
        Some(match self.threads[t].status {
            // Ready at the end: a poll that was told no once too often.
            Status::Ready | Status::Done => return None,
            Status::Barrier {
                barrier,
                parity,
                phase,
                place,
                ..
            } => {
                let phase = u64::try_from(phase).ok();
                (
                    WaitsFor::Barrier {
                        barrier: self.facts(barrier),
                        parity,
                        phase,
                    },
                    place,
                )
            }
            Status::Groups { place } => (WaitsFor::Groups, place),
            Status::Cta { place } => {
                let meeting = &self.meetings.cta;
                (
                    WaitsFor::Cta {
                        arrived: meeting.arrived,
                        of: meeting.of,
                    },
                    place,
                )
            }
            Status::Named { id, place } => {
                let (arrived, of) = self
                    .meetings
                    .named
                    .get(&id)
                    .map_or((0, 0), |m| (m.arrived, m.of));
                (WaitsFor::Named { id, arrived, of }, place)
            }
            Status::Warp { place } => {
                let arrived = self.meetings.warps.get(t / 32).map_or(0, |m| m.arrived);
                (WaitsFor::Warp { arrived }, place)
            }
        })
    }

    /// Every copy has landed by now; what counts is whether anybody made sure of it.
    fn check_copies(&mut self) {
        let mut unawaited: Vec<(usize, Rc<Copy>)> = Vec::new();
        for (t, thread) in self.threads.iter().enumerate() {
            let groups = [&thread.cp_async, &thread.bulk];
            let copies = groups
                .iter()
                .flat_map(|g| g.open.iter().chain(g.closed.iter().flatten()));
            for copy in copies.filter(|copy| !self.is_awaited(copy)) {
                unawaited.push((t, Rc::clone(copy)));
            }
        }
        for copy in self.bulk_loads.iter().filter(|copy| !self.is_awaited(copy)) {
            unawaited.push((copy.thread as usize, Rc::clone(copy)));
        }
        for (t, copy) in unawaited {
            self.report(
                Fault::CopyInFlight { copy: copy.kind },
                copy.place,
                Some(t),
                None,
            );
        }
    }

    /// Of a store, that its source has been read; of a load, that it has landed.
    pub(super) fn is_awaited(&self, copy: &Copy) -> bool {
        let observed = copy.phase.get().is_some_and(|(barrier, phase)| {
            self.barriers
                .get(barrier as usize)
                .is_some_and(|b| b.was_observed(phase))
        });
        if copy.kind == Access::BulkRead {
            return !copy.read.borrow().is_empty();
        }
        let threads = self.threads.len() as u32;
        observed
            || copy
                .written
                .borrow()
                .iter()
                .any(|mark| mark.component < threads)
    }

    fn check_named(&mut self) {
        let left: Vec<_> = self
            .meetings
            .named
            .iter()
            .filter(|(_, meeting)| meeting.arrived > 0)
            .map(|(id, meeting)| (*id, meeting.arrived, meeting.of, meeting.place()))
            .collect();
        for (id, arrived, of, place) in left {
            let place = place.unwrap_or(self.program.place);
            self.report(
                Fault::NamedBarrierLeft { id, arrived, of },
                place,
                None,
                None,
            );
        }
    }
}

/// Whether two threads wait for the same thing, whatever phase each means.
fn same_thing(a: &WaitsFor, b: &WaitsFor) -> bool {
    match (a, b) {
        (
            WaitsFor::Barrier {
                barrier: a,
                parity: p,
                ..
            },
            WaitsFor::Barrier {
                barrier: b,
                parity: q,
                ..
            },
        ) => (&a.name, a.stage, p) == (&b.name, b.stage, q),
        (WaitsFor::Warp { .. }, WaitsFor::Warp { .. }) => true,
        _ => a == b,
    }
}
