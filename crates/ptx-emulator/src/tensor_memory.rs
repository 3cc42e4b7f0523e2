//! Tensor memory (TMEM) of sm_100a: 128 lanes of 512 columns of 32 bits in every CTA.
//!
//! Everything here is a plain value: who may touch what when is settled by [`crate::isa::tcgen05`]
//! and the race detector. What lies where is in one file per question:
//! [`allocation`] (columns), [`data_path`] (accumulators and `A` in tensor memory),
//! [`register_access`] (`tcgen05.ld`/`st`), [`copy`] (`tcgen05.cp`), [`scale`] (scale factors),
//! [`shared_descriptor`] and [`instruction_descriptor`] (the operands of `tcgen05.mma`).
//!
//! No Blackwell GPU was at hand: the layouts are those on which the PTX ISA 9.1 (9.7.16), CUTLASS
//! and Triton agree, and what only one of them says is refused rather than guessed.

pub mod allocation;
pub mod copy;
pub mod data_path;
pub mod instruction_descriptor;
pub mod register_access;
pub mod scale;
pub mod shapes;
pub mod shared_descriptor;

use std::{fmt, ops::Range};

use allocation::{AllocationError, Allocations};

/// Lanes (rows) of tensor memory.
pub const LANES: u32 = 128;

/// Columns of 32 bits of tensor memory.
pub const COLUMNS: u32 = 512;

/// Lanes of one cell of the race detector; a cell is one column wide.
pub const CELL_LANES: u32 = 16;

/// Cells of a column.
pub const CELLS_PER_COLUMN: u32 = LANES / CELL_LANES;

const WORDS_PER_LANE: usize = COLUMNS as usize / 64;

/// A tensor memory address: lane in bits 31–16, column in bits 15–0 (PTX ISA 9.7.16.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorAddress {
    /// Lane, 0 to 127 in a valid address.
    pub lane: u32,
    /// Column of 32 bits, 0 to 511 in a valid address.
    pub column: u32,
}

impl TensorAddress {
    /// Splits an address; lane and column may be out of range.
    pub fn from_bits(bits: u32) -> Self {
        Self {
            lane: bits >> 16,
            column: bits & 0xffff,
        }
    }

    /// The address as a program holds it.
    pub fn bits(self) -> u32 {
        (self.lane << 16) | (self.column & 0xffff)
    }
}

impl fmt::Display for TensorAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:#010x} (lane {}, column {})",
            self.bits(),
            self.lane,
            self.column
        )
    }
}

/// A rectangle of tensor memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Region {
    /// Lanes.
    pub lanes: Range<u32>,
    /// Columns of 32 bits.
    pub columns: Range<u32>,
}

impl Region {
    /// A rectangle from a corner and its size; sizes that overflow end at the largest number.
    pub fn new(lane: u32, lanes: u32, column: u32, columns: u32) -> Self {
        Self {
            lanes: lane..lane.saturating_add(lanes),
            columns: column..column.saturating_add(columns),
        }
    }

    /// The cells of the race detector that the rectangle touches, as runs of position and length:
    /// cell `column * 8 + lane / 16`. Only for rectangles inside tensor memory.
    pub fn cells(&self) -> Vec<(u64, u64)> {
        if self.lanes.is_empty() || self.columns.is_empty() {
            return Vec::new();
        }
        let first = self.lanes.start / CELL_LANES;
        let count = self.lanes.end.div_ceil(CELL_LANES) - first;
        let position = |column: u32| u64::from(column) * u64::from(CELLS_PER_COLUMN);
        if count == CELLS_PER_COLUMN {
            let columns = self.columns.end - self.columns.start;
            return vec![(position(self.columns.start), position(columns))];
        }
        self.columns
            .clone()
            .map(|column| (position(column) + u64::from(first), u64::from(count)))
            .collect()
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |range: &Range<u32>| range.end.saturating_sub(1);
        write!(
            f,
            "lanes {} to {}, columns {} to {}",
            self.lanes.start,
            last(&self.lanes),
            self.columns.start,
            last(&self.columns)
        )
    }
}

/// A use of tensor memory where it cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// Lanes or columns that do not exist.
    #[error("{region} are not inside tensor memory (128 lanes, 512 columns)")]
    OutOfRange {
        /// What was asked for.
        region: Region,
    },
    /// A column that is allocated to nobody.
    #[error("tensor memory column {column} is not allocated")]
    NotAllocated {
        /// The first such column.
        column: u32,
    },
    /// A column that was allocated and has been given back.
    #[error("tensor memory column {column} is used after its tcgen05.dealloc")]
    UseAfterDealloc {
        /// The first such column.
        column: u32,
    },
}

/// The tensor memory of one CTA: contents, what has been written, and who owns which columns.
#[derive(Debug, Clone)]
pub struct TensorMemory {
    /// Lane after lane, so that a row of an accumulator is one slice.
    words: Box<[u32]>,
    /// One bit per word.
    written: Box<[u64]>,
    allocations: Allocations,
}

impl Default for TensorMemory {
    fn default() -> Self {
        let words = (LANES * COLUMNS) as usize;
        Self {
            words: vec![0; words].into_boxed_slice(),
            written: vec![0; words / 64].into_boxed_slice(),
            allocations: Allocations::default(),
        }
    }
}

impl TensorMemory {
    /// Who owns which columns.
    pub fn allocations(&self) -> &Allocations {
        &self.allocations
    }

    /// Takes columns that [`Allocations::find`] has found; what they held before is undefined
    /// now.
    pub fn allocate(&mut self, column: u32, columns: u32) -> Result<(), AllocationError> {
        self.allocations.take(column, columns)?;
        for lane in 0..LANES {
            self.set_written(lane, column..column + columns, false);
        }
        Ok(())
    }

    /// Gives columns back (`tcgen05.dealloc`).
    pub fn release(&mut self, column: u32, columns: u32) -> Result<(), AllocationError> {
        self.allocations.release(column, columns)
    }

    /// `tcgen05.relinquish_alloc_permit`.
    pub fn relinquish(&mut self) {
        self.allocations.relinquish();
    }

    /// Whether a rectangle is inside tensor memory and all its columns are allocated.
    pub fn check(&self, region: &Region) -> Result<(), AccessError> {
        if region.lanes.end > LANES || region.columns.end > COLUMNS {
            return Err(AccessError::OutOfRange {
                region: region.clone(),
            });
        }
        self.allocations.check(region.columns.clone())
    }

    /// The words of a lane. Columns out of range give an empty slice.
    pub fn row(&self, lane: u32, columns: Range<u32>) -> &[u32] {
        match Self::span(lane, &columns) {
            Some(span) => &self.words[span],
            None => &[],
        }
    }

    /// The word of a cell, 0 outside tensor memory.
    pub fn word(&self, lane: u32, column: u32) -> u32 {
        let columns = column..column.saturating_add(1);
        self.row(lane, columns).first().copied().unwrap_or(0)
    }

    /// Writes neighbouring words of a lane, which count as written from now on. What lies outside
    /// tensor memory is dropped: callers have [checked](Self::check) the rectangle.
    pub fn write_row(&mut self, lane: u32, column: u32, values: &[u32]) {
        let columns = column..column.saturating_add(values.len() as u32);
        if let Some(span) = Self::span(lane, &columns) {
            self.words[span].copy_from_slice(values);
            self.set_written(lane, columns, true);
        }
    }

    /// The first column of a lane's range that nobody has written since it was allocated.
    pub fn first_unwritten(&self, lane: u32, columns: Range<u32>) -> Option<u32> {
        let span = Self::span(lane, &columns)?;
        let mut index = span.start;
        while index < span.end {
            let word = !self.written[index / 64] >> (index % 64);
            if word == 0 {
                index = (index / 64 + 1) * 64;
                continue;
            }
            index += word.trailing_zeros() as usize;
            return (index < span.end).then_some(index as u32 % COLUMNS);
        }
        None
    }

    fn set_written(&mut self, lane: u32, columns: Range<u32>, value: bool) {
        let base = lane as usize * WORDS_PER_LANE;
        let mut column = columns.start;
        while column < columns.end {
            let end = columns.end.min((column / 64 + 1) * 64);
            let mask = (u64::MAX >> (64 - (end - column))) << (column % 64);
            let word = &mut self.written[base + column as usize / 64];
            *word = if value { *word | mask } else { *word & !mask };
            column = end;
        }
    }

    fn span(lane: u32, columns: &Range<u32>) -> Option<Range<usize>> {
        let inside = lane < LANES && columns.start <= columns.end && columns.end <= COLUMNS;
        inside.then(|| {
            let base = (lane * COLUMNS) as usize;
            base + columns.start as usize..base + columns.end as usize
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_split_into_lane_and_column() {
        let address = TensorAddress::from_bits(0x0060_0108);
        assert_eq!((address.lane, address.column), (96, 264));
        assert_eq!(address.bits(), 0x0060_0108);
        assert_eq!(
            TensorAddress::from_bits(u32::MAX).to_string(),
            "0xffffffff (lane 65535, column 65535)"
        );
    }

    #[test]
    fn access_needs_an_allocation_and_its_range() {
        let mut memory = TensorMemory::default();
        let region = Region::new(0, 128, 0, 32);
        assert_eq!(
            memory.check(&region),
            Err(AccessError::NotAllocated { column: 0 })
        );
        memory.allocate(0, 32).unwrap();
        assert_eq!(memory.check(&region), Ok(()));
        assert_eq!(
            memory.check(&Region::new(0, 1, 31, 2)),
            Err(AccessError::NotAllocated { column: 32 })
        );
        assert!(matches!(
            memory.check(&Region::new(100, 29, 0, 1)),
            Err(AccessError::OutOfRange { .. })
        ));
        assert!(matches!(
            memory.check(&Region::new(u32::MAX, 2, u32::MAX, 2)),
            Err(AccessError::OutOfRange { .. })
        ));
        memory.release(0, 32).unwrap();
        assert_eq!(
            memory.check(&region),
            Err(AccessError::UseAfterDealloc { column: 0 })
        );
    }

    #[test]
    fn written_cells_are_known_until_the_columns_are_allocated_again() {
        let mut memory = TensorMemory::default();
        memory.allocate(0, 256).unwrap();
        assert_eq!(memory.first_unwritten(5, 60..70), Some(60));
        memory.write_row(5, 60, &[7; 140]);
        assert_eq!(memory.first_unwritten(5, 60..200), None);
        assert_eq!(memory.first_unwritten(5, 60..201), Some(200));
        assert_eq!(memory.first_unwritten(5, 59..61), Some(59));
        assert_eq!(memory.first_unwritten(4, 60..61), Some(60));
        assert_eq!(memory.row(5, 198..202), [7, 7, 0, 0]);
        memory.release(0, 256).unwrap();
        memory.allocate(0, 128).unwrap();
        assert_eq!(memory.first_unwritten(5, 64..128), Some(64));
        // The second half was not allocated again, so nothing can be said about it.
        assert_eq!(memory.first_unwritten(5, 128..200), None);
    }

    #[test]
    fn nothing_outside_is_touched() {
        let mut memory = TensorMemory::default();
        memory.write_row(128, 0, &[1]);
        memory.write_row(0, 511, &[1, 2]);
        memory.write_row(0, u32::MAX, &[1, 2]);
        assert_eq!(memory.word(0, 511), 0);
        assert_eq!(memory.word(u32::MAX, u32::MAX), 0);
        assert!(memory.row(0, 500..513).is_empty());
    }

    #[test]
    fn cells_cover_sixteen_lanes_of_a_column() {
        let all = Region::new(0, 128, 0, 512).cells();
        assert_eq!(all, [(0, 4096)]);
        assert_eq!(Region::new(31, 2, 5, 2).cells(), [(41, 2), (49, 2)]);
        assert!(Region::new(16, 0, 0, 4).cells().is_empty());
    }
}
