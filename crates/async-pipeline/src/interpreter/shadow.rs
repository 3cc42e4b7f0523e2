//! Who touched which byte last, and whether the next access is ordered behind it.
//!
//! A cell stands for four bytes and keeps a mask, so that threads may own single bytes of
//! it. As in FastTrack, a write that is ordered behind all earlier accesses replaces them.

use super::clock::{Knowledge, Mark};
use crate::program::PlaceId;
use ptx_model::access::Access;
use std::{cell::Cell as Slot, cell::RefCell, rc::Rc};

const GRANULE: u64 = 4;
const PAGE: usize = 256;

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// Nothing has moved.
    InFlight,
    /// The source has been read.
    Read,
    /// Everything has been written.
    Done,
}

/// An asynchronous copy, from issue on.
#[derive(Debug)]
pub(super) struct Copy {
    /// What it does to shared memory.
    pub(super) kind: Access,
    pub(super) thread: u32,
    pub(super) place: PlaceId,
    pub(super) progress: Slot<Progress>,
    /// Who reaches one of these has seen what the copy wrote.
    pub(super) written: RefCell<Vec<Mark>>,
    /// Who reaches one of these knows that the source has been read.
    pub(super) read: RefCell<Vec<Mark>>,
    /// Barrier component and phase in which its bytes or its arrive counted.
    pub(super) phase: Slot<Option<(u32, u64)>>,
    /// Number of the shared slot it fills.
    pub(super) slot: Option<u32>,
}

/// One access that a cell remembers.
#[derive(Clone, Debug)]
pub(super) enum Past {
    /// By a thread, in the generic proxy.
    Thread {
        thread: u32,
        epoch: u32,
        place: PlaceId,
    },
    /// By a copy.
    Copy(Rc<Copy>),
}

impl Past {
    pub(super) fn place(&self) -> PlaceId {
        match self {
            Past::Thread { place, .. } => *place,
            Past::Copy(copy) => copy.place,
        }
    }

    /// What kind of access it was.
    pub(super) fn kind(&self, writes: bool) -> Access {
        match self {
            Past::Copy(copy) => copy.kind,
            Past::Thread { .. } if writes => Access::GenericWrite,
            Past::Thread { .. } => Access::GenericRead,
        }
    }

    fn same_actor(&self, other: &Past) -> bool {
        match (self, other) {
            (Past::Thread { thread: a, .. }, Past::Thread { thread: b, .. }) => a == b,
            (Past::Copy(a), Past::Copy(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Why an access is not in order with an earlier one.
#[derive(Clone, Debug)]
pub(super) enum Conflict {
    /// Nothing orders them.
    Unordered {
        past: Past,
        past_writes: bool,
        byte: u64,
    },
    /// Only a proxy fence is missing.
    Unfenced {
        past: Past,
        past_writes: bool,
        byte: u64,
    },
    /// A read of what nobody wrote.
    Unwritten { byte: u64 },
}

/// The access that is being made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt<'a> {
    pub(super) who: &'a Past,
    pub(super) knowledge: &'a Knowledge,
    /// Whether it is made in the async proxy, which generic accesses need a fence before.
    pub(super) async_proxy: bool,
    /// Whether bytes that nobody wrote may be read.
    pub(super) initialised: bool,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    writes: Vec<(u8, Past)>,
    reads: Vec<(u8, Past)>,
}

/// The shadow of one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Cell]>>>,
}

impl Shadow {
    fn cell(&mut self, granule: u64) -> &mut Cell {
        let (page, index) = (granule as usize / PAGE, granule as usize % PAGE);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        &mut self.pages[page].get_or_insert_with(|| vec![Cell::default(); PAGE].into())[index]
    }

    /// Notes a read; `found` gets every conflict, and `sources` each write that was read.
    pub(super) fn read(
        &mut self,
        start: u64,
        length: u64,
        access: Attempt<'_>,
        found: &mut Vec<Conflict>,
        sources: &mut Vec<Rc<Copy>>,
    ) {
        for (granule, mask) in granules(start, length) {
            let cell = self.cell(granule);
            let mut unwritten = mask;
            for (written, past) in &cell.writes {
                if written & mask == 0 {
                    continue;
                }
                unwritten &= !written;
                judge(past, true, access, granule, found);
                if let Past::Copy(copy) = past
                    && !sources.last().is_some_and(|last| Rc::ptr_eq(last, copy))
                {
                    sources.push(Rc::clone(copy));
                }
            }
            if unwritten != 0 && !access.initialised {
                found.push(Conflict::Unwritten {
                    byte: granule * GRANULE,
                });
            }
            match cell
                .reads
                .iter_mut()
                .find(|(m, past)| *m == mask && past.same_actor(access.who))
            {
                Some((_, past)) => *past = access.who.clone(),
                None => cell.reads.push((mask, access.who.clone())),
            }
        }
    }

    /// Notes a write; `found` gets every conflict.
    pub(super) fn write(
        &mut self,
        start: u64,
        length: u64,
        access: Attempt<'_>,
        found: &mut Vec<Conflict>,
    ) {
        for (granule, mask) in granules(start, length) {
            let cell = self.cell(granule);
            for (writes, pasts) in [(true, &mut cell.writes), (false, &mut cell.reads)] {
                for (covered, past) in pasts.iter_mut() {
                    if *covered & mask != 0 {
                        judge(past, writes, access, granule, found);
                        *covered &= !mask;
                    }
                }
                pasts.retain(|(covered, _)| *covered != 0);
            }
            cell.writes.push((mask, access.who.clone()));
        }
    }
}

/// The cells that bytes fall into, with a mask of bytes each.
fn granules(start: u64, length: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = start + length;
    (start / GRANULE..end.div_ceil(GRANULE))
        .filter(move |_| length > 0)
        .map(move |granule| {
            let first = start.saturating_sub(granule * GRANULE).min(GRANULE);
            let last = (end - granule * GRANULE).min(GRANULE);
            (granule, ((1_u8 << last) - 1) & !((1_u8 << first) - 1))
        })
}

fn judge(
    past: &Past,
    past_writes: bool,
    access: Attempt<'_>,
    granule: u64,
    found: &mut Vec<Conflict>,
) {
    let knowledge = access.knowledge;
    let (ordered, fenced) = match past {
        Past::Thread { thread, epoch, .. } => {
            let mark = Mark {
                component: *thread,
                value: *epoch,
            };
            (knowledge.seen.knows(mark), knowledge.fenced.knows(mark))
        }
        Past::Copy(copy) => {
            let marks = if past_writes {
                copy.written.borrow()
            } else {
                copy.read.borrow()
            };
            let generic = copy.kind == Access::CpAsyncWrite;
            (
                marks.iter().any(|mark| knowledge.seen.knows(*mark)),
                !generic || marks.iter().any(|mark| knowledge.fenced.knows(*mark)),
            )
        }
    };
    let (past, byte) = (past.clone(), granule * GRANULE);
    if !ordered {
        found.push(Conflict::Unordered {
            past,
            past_writes,
            byte,
        });
    } else if access.async_proxy && !fenced {
        found.push(Conflict::Unfenced {
            past,
            past_writes,
            byte,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access<'a>(who: &'a Past, knowledge: &'a Knowledge) -> Attempt<'a> {
        Attempt {
            who,
            knowledge,
            async_proxy: false,
            initialised: true,
        }
    }

    fn by(thread: u32, epoch: u32) -> Past {
        Past::Thread {
            thread,
            epoch,
            place: PlaceId(0),
        }
    }

    fn write(shadow: &mut Shadow, start: u64, length: u64, who: &Past, k: &Knowledge) -> usize {
        let mut found = Vec::new();
        shadow.write(start, length, access(who, k), &mut found);
        found.len()
    }

    #[test]
    fn bytes_of_one_cell_may_belong_to_different_threads() {
        let mut shadow = Shadow::default();
        let knowledge = Knowledge::new(2);
        assert_eq!(write(&mut shadow, 0, 2, &by(0, 1), &knowledge), 0);
        assert_eq!(write(&mut shadow, 2, 2, &by(1, 1), &knowledge), 0);
        assert_eq!(write(&mut shadow, 1, 2, &by(1, 1), &knowledge), 2);
        assert_eq!(write(&mut shadow, 8, 0, &by(1, 1), &knowledge), 0);
    }

    #[test]
    fn an_ordered_write_forgets_what_it_is_ordered_behind() {
        let mut shadow = Shadow::default();
        let unaware = Knowledge::new(2);
        let mut aware = Knowledge::new(2);
        aware.seen.raise(0, 1);
        write(&mut shadow, 0, 4, &by(0, 1), &unaware);
        assert_eq!(write(&mut shadow, 0, 4, &by(1, 1), &aware), 0);
        aware.seen.raise(1, 1);
        let mut only_second = Knowledge::new(2);
        only_second.seen.raise(1, 1);
        assert_eq!(write(&mut shadow, 0, 4, &by(1, 2), &only_second), 0);
    }

    #[test]
    fn masks_cover_the_bytes_of_an_access() {
        let all: Vec<_> = granules(3, 6).collect();
        assert_eq!(all, [(0, 0b1000), (1, 0b1111), (2, 0b0001)]);
        assert_eq!(granules(4, 0).count(), 0);
    }
}
