//! What memory remembers of the accesses to it.

use std::collections::HashMap;

use super::{Epoch, Proxy};

/// A read that has not been followed by a write yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// When.
    pub epoch: Epoch,
    /// By which instruction.
    pub pc: u32,
    /// Through which door.
    pub proxy: Proxy,
}

/// The reads since the last write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Reads {
    /// None.
    #[default]
    None,
    /// One.
    One(Read),
    /// Several that do not know of each other.
    Many(Box<Vec<Read>>),
}

/// The memory of one granule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The last write; time 0 if there was none.
    pub write: Epoch,
    /// Its instruction.
    pub write_pc: u32,
    flags: u8,
    /// Reads since then.
    pub reads: Reads,
}

/// From how many reads on a new operation's makes that of an old one forgotten.
const MOST_OPERATIONS: usize = 100;

const ATOMIC: u8 = 4;
const WRITTEN: u8 = 8;

impl Default for Cell {
    fn default() -> Self {
        Self {
            write: Epoch::NONE,
            write_pc: 0,
            flags: 0,
            reads: Reads::None,
        }
    }
}

impl Cell {
    /// The door of the last write.
    pub fn write_proxy(&self) -> Proxy {
        match self.flags & 3 {
            0 => Proxy::Generic,
            1 => Proxy::Async,
            _ => Proxy::Tensor,
        }
    }

    /// Whether the last write was an atomic.
    pub fn write_is_atomic(&self) -> bool {
        self.flags & ATOMIC != 0
    }

    /// Whether anybody has written here.
    pub fn is_written(&self) -> bool {
        self.flags & WRITTEN != 0
    }

    pub(super) fn set_write(&mut self, epoch: Epoch, pc: u32, proxy: Proxy, atomic: bool) {
        self.write = epoch;
        self.write_pc = pc;
        let proxy = match proxy {
            Proxy::Generic => 0,
            Proxy::Async => 1,
            Proxy::Tensor => 2,
        };
        self.flags = proxy | WRITTEN | if atomic { ATOMIC } else { 0 };
        self.reads = Reads::None;
    }

    /// Adds a read; reads that `implied` says are known to the new one give way to it.
    pub(super) fn add_read(
        &mut self,
        epoch: Epoch,
        pc: u32,
        proxy: Proxy,
        implied: impl Fn(Epoch) -> bool,
    ) {
        let read = Read { epoch, pc, proxy };
        match &mut self.reads {
            Reads::None => self.reads = Reads::One(read),
            Reads::One(old) => {
                if *old == read {
                    return;
                }
                if old.proxy == proxy && implied(old.epoch) {
                    *old = read;
                } else {
                    self.reads = Reads::Many(Box::new(vec![*old, read]));
                }
            }
            Reads::Many(reads) => {
                // A stream or thread that reads again replaces its own earlier read.
                let same = |old: &&mut Read| {
                    old.epoch.agent == epoch.agent
                        && old.epoch.cluster == epoch.cluster
                        && old.proxy == proxy
                        && epoch.agent != Epoch::OPERATION
                };
                match reads.iter_mut().find(same) {
                    Some(old) => *old = read,
                    None => {
                        // Looking at all of them each time would be quadratic; the list stays
                        // short because every write clears it.
                        if reads.len().is_multiple_of(64) {
                            reads.retain(|old| old.proxy != proxy || !implied(old.epoch));
                        }
                        // Threads are as many as a cluster has, operations without end: of
                        // those the latest are kept.
                        if epoch.agent == Epoch::OPERATION && reads.len() >= MOST_OPERATIONS {
                            let oldest = reads.iter().position(|r| r.epoch.agent == epoch.agent);
                            oldest.map(|index| reads.remove(index));
                        }
                        reads.push(read);
                    }
                }
            }
        }
    }
}

const PAGE: u64 = 1024;

/// The memory of a place: granules of 4 bytes (of one cell in tensor memory), split into bytes
/// where somebody accesses a part of one. Pages appear when they are touched.
#[derive(Debug, Clone)]
pub struct Shadow {
    /// Bytes per granule.
    granule: u64,
    pages: Vec<Option<Box<[Cell]>>>,
    /// Granules kept byte by byte.
    split: HashMap<u64, Box<[Cell; 4]>>,
}

impl Shadow {
    /// For a place of `len` bytes, in granules of 4.
    pub fn bytes(len: u64) -> Self {
        Self::with_granule(len, 4)
    }

    /// For a place of `len` cells.
    pub fn cells(len: u64) -> Self {
        Self::with_granule(len, 1)
    }

    fn with_granule(len: u64, granule: u64) -> Self {
        let pages = len.div_ceil(granule).div_ceil(PAGE);
        Self {
            granule,
            pages: vec![None; pages as usize],
            split: HashMap::new(),
        }
    }

    fn cell(&mut self, index: u64) -> Option<&mut Cell> {
        let page = self.pages.get_mut((index / PAGE) as usize)?;
        let page = page.get_or_insert_with(|| vec![Cell::default(); PAGE as usize].into());
        page.get_mut((index % PAGE) as usize)
    }

    /// Calls `visit` for each granule, or part of one, of a range, with its position.
    pub(super) fn for_each(
        &mut self,
        position: u64,
        len: u64,
        visit: &mut dyn FnMut(u64, &mut Cell),
    ) {
        let end = position.saturating_add(len);
        let mut at = position;
        while at < end {
            let index = at / self.granule;
            let start = index * self.granule;
            let stop = (start + self.granule).min(end);
            let whole = at == start && stop == start + self.granule;
            let is_split = !self.split.is_empty() && self.split.contains_key(&index);
            if whole && !is_split {
                match self.cell(index) {
                    Some(cell) => visit(at, cell),
                    None => return,
                }
            } else {
                if !is_split {
                    let Some(cell) = self.cell(index) else {
                        return;
                    };
                    let cell = cell.clone();
                    let parts = std::array::from_fn(|_| cell.clone());
                    self.split.insert(index, Box::new(parts));
                }
                if let Some(parts) = self.split.get_mut(&index) {
                    for byte in at..stop {
                        visit(byte, &mut parts[(byte - start) as usize]);
                    }
                    if whole && parts.iter().all(|part| *part == parts[0]) {
                        let merged = parts[0].clone();
                        self.split.remove(&index);
                        if let Some(cell) = self.cell(index) {
                            *cell = merged;
                        }
                    }
                }
            }
            at = stop;
        }
    }

    /// Whether every granule of a range has been written.
    pub(super) fn is_written(&self, position: u64, len: u64) -> bool {
        let end = position.saturating_add(len);
        let mut at = position;
        while at < end {
            let index = at / self.granule;
            let start = index * self.granule;
            let stop = (start + self.granule).min(end);
            let written = match self.split.get(&index) {
                Some(parts) => (at..stop).all(|byte| parts[(byte - start) as usize].is_written()),
                None => self
                    .pages
                    .get((index / PAGE) as usize)
                    .and_then(Option::as_ref)
                    .is_some_and(|page| page[(index % PAGE) as usize].is_written()),
            };
            if !written {
                return false;
            }
            at = stop;
        }
        true
    }

    /// Makes a range as if it had never been touched.
    pub(super) fn forget(&mut self, position: u64, len: u64) {
        self.for_each(position, len, &mut |_, cell| *cell = Cell::default());
    }
}
