//! Which columns of a CTA's tensor memory are allocated (PTX ISA 9.7.16.2 and 9.7.16.7).

use std::{collections::BTreeMap, ops::Range};

use super::{AccessError, COLUMNS};

/// An allocation or deallocation against the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Not a power of two between 32 and 512.
    #[error("{columns} columns cannot be allocated: the number must be 32, 64, 128, 256 or 512")]
    Size {
        /// What was asked for.
        columns: u32,
    },
    /// `tcgen05.alloc` after `tcgen05.relinquish_alloc_permit`.
    #[error("tcgen05.alloc after the CTA gave up its right to allocate")]
    Relinquished,
    /// An allocation larger than the one before it.
    #[error("{columns} columns are allocated after {before}: sizes must not grow within a CTA")]
    Grows {
        /// What was asked for.
        columns: u32,
        /// The size of the allocation before.
        before: u32,
    },
    /// Columns that are taken, out of range or not aligned to their number.
    #[error("columns {column} to {} are not free", column.saturating_add(*columns).saturating_sub(1))]
    NotFree {
        /// First column.
        column: u32,
        /// How many.
        columns: u32,
    },
    /// `tcgen05.dealloc` of something that is not an allocation.
    #[error("tcgen05.dealloc of column {column}, where no allocation begins")]
    NoSuchAllocation {
        /// First column.
        column: u32,
    },
    /// `tcgen05.dealloc` of an allocation that has been given back already.
    #[error("tcgen05.dealloc of column {column}, which has been deallocated already")]
    DoubleDealloc {
        /// First column.
        column: u32,
    },
    /// `tcgen05.dealloc` with another size than `tcgen05.alloc`.
    #[error(
        "tcgen05.dealloc of {columns} columns at column {column}, where {allocated} were allocated"
    )]
    WrongSize {
        /// First column.
        column: u32,
        /// The size given to `tcgen05.dealloc`.
        columns: u32,
        /// The size that was allocated.
        allocated: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Untouched,
    Allocated,
    Freed,
}

/// The columns of one CTA.
#[derive(Debug, Clone)]
pub struct Allocations {
    columns: [Column; COLUMNS as usize],
    /// First column to number of columns.
    live: BTreeMap<u32, u32>,
    relinquished: bool,
    last_size: Option<u32>,
}

impl Default for Allocations {
    fn default() -> Self {
        Self {
            columns: [Column::Untouched; COLUMNS as usize],
            live: BTreeMap::new(),
            relinquished: false,
            last_size: None,
        }
    }
}

impl Allocations {
    /// Whether `tcgen05.alloc` of this many columns is allowed now, room left aside.
    pub fn permits(&self, columns: u32) -> Result<(), AllocationError> {
        if !(32..=COLUMNS).contains(&columns) || !columns.is_power_of_two() {
            return Err(AllocationError::Size { columns });
        }
        if self.relinquished {
            return Err(AllocationError::Relinquished);
        }
        match self.last_size {
            Some(before) if columns > before => Err(AllocationError::Grows { columns, before }),
            _ => Ok(()),
        }
    }

    /// The first free columns, aligned to their number; `None` if the allocation has to wait for
    /// a `tcgen05.dealloc`.
    pub fn find(&self, columns: u32) -> Option<u32> {
        Self::search(columns, |range| self.is_free(range))
    }

    /// The first columns that are free in both CTAs of a pair: `cta_group::2` allocates the same
    /// columns in both.
    pub fn find_in_both(&self, peer: &Self, columns: u32) -> Option<u32> {
        Self::search(columns, |range| {
            self.is_free(range.clone()) && peer.is_free(range)
        })
    }

    /// Takes free columns.
    pub fn take(&mut self, column: u32, columns: u32) -> Result<(), AllocationError> {
        self.permits(columns)?;
        let fits = column.is_multiple_of(columns)
            && column
                .checked_add(columns)
                .is_some_and(|end| end <= COLUMNS);
        if !fits || !self.is_free(column..column + columns) {
            return Err(AllocationError::NotFree { column, columns });
        }
        self.mark(column..column + columns, Column::Allocated);
        self.live.insert(column, columns);
        self.last_size = Some(columns);
        Ok(())
    }

    /// Gives an allocation back: the address and the size of `tcgen05.alloc`.
    pub fn release(&mut self, column: u32, columns: u32) -> Result<(), AllocationError> {
        let Some(&allocated) = self.live.get(&column) else {
            let freed = self.columns.get(column as usize) == Some(&Column::Freed);
            return Err(if freed {
                AllocationError::DoubleDealloc { column }
            } else {
                AllocationError::NoSuchAllocation { column }
            });
        };
        if allocated != columns {
            return Err(AllocationError::WrongSize {
                column,
                columns,
                allocated,
            });
        }
        self.live.remove(&column);
        self.mark(column..column + columns, Column::Freed);
        Ok(())
    }

    /// Gives up the right to allocate.
    pub fn relinquish(&mut self) {
        self.relinquished = true;
    }

    /// Whether the right to allocate has been given up.
    pub fn relinquished(&self) -> bool {
        self.relinquished
    }

    /// What is allocated, as first column and number of columns, in ascending order. At the end
    /// of a kernel it must be empty.
    pub fn live(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.live
            .iter()
            .map(|(&column, &columns)| (column, columns))
    }

    /// Whether all columns are allocated.
    pub fn check(&self, columns: Range<u32>) -> Result<(), AccessError> {
        for column in columns {
            match self.columns.get(column as usize) {
                Some(Column::Allocated) => {}
                Some(Column::Freed) => return Err(AccessError::UseAfterDealloc { column }),
                Some(Column::Untouched) | None => {
                    return Err(AccessError::NotAllocated { column });
                }
            }
        }
        Ok(())
    }

    fn search(columns: u32, free: impl Fn(Range<u32>) -> bool) -> Option<u32> {
        if columns == 0 || columns > COLUMNS {
            return None;
        }
        (0..=COLUMNS - columns)
            .step_by(columns as usize)
            .find(|&column| free(column..column + columns))
    }

    fn is_free(&self, mut columns: Range<u32>) -> bool {
        columns.all(|column| {
            self.columns
                .get(column as usize)
                .is_some_and(|state| *state != Column::Allocated)
        })
    }

    fn mark(&mut self, columns: Range<u32>, state: Column) {
        self.columns[columns.start as usize..columns.end as usize].fill(state);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_powers_of_two_from_32() {
        let allocations = Allocations::default();
        for columns in [0, 1, 16, 31, 48, 96, 513, 1024, u32::MAX] {
            assert_eq!(
                allocations.permits(columns),
                Err(AllocationError::Size { columns })
            );
        }
        for columns in [32, 64, 128, 256, 512] {
            assert_eq!(allocations.permits(columns), Ok(()));
            assert_eq!(allocations.find(columns), Some(0));
        }
    }

    #[test]
    fn first_fit_is_aligned_and_waits_when_full() {
        let mut allocations = Allocations::default();
        allocations.take(0, 256).unwrap();
        assert_eq!(allocations.find(512), None);
        assert_eq!(allocations.find(256), Some(256));
        allocations.take(256, 256).unwrap();
        assert_eq!(allocations.find(32), None);
        allocations.release(0, 256).unwrap();
        allocations.take(0, 32).unwrap();
        assert_eq!(allocations.find(128), Some(128));
        assert_eq!(allocations.find(256), None);
        assert_eq!(
            allocations.live().collect::<Vec<_>>(),
            [(0, 32), (256, 256)]
        );
    }

    #[test]
    fn a_pair_takes_columns_free_in_both() {
        let (mut even, mut odd) = (Allocations::default(), Allocations::default());
        even.take(0, 64).unwrap();
        odd.take(64, 64).unwrap();
        assert_eq!(even.find_in_both(&odd, 64), Some(128));
        assert_eq!(even.find_in_both(&odd, 512), None);
    }

    #[test]
    fn rules_broken_are_named() {
        let mut allocations = Allocations::default();
        allocations.take(0, 64).unwrap();
        assert_eq!(
            allocations.permits(128),
            Err(AllocationError::Grows {
                columns: 128,
                before: 64
            })
        );
        assert_eq!(
            allocations.release(0, 32),
            Err(AllocationError::WrongSize {
                column: 0,
                columns: 32,
                allocated: 64
            })
        );
        assert_eq!(
            allocations.release(32, 32),
            Err(AllocationError::NoSuchAllocation { column: 32 })
        );
        assert_eq!(
            allocations.release(u32::MAX, 32),
            Err(AllocationError::NoSuchAllocation { column: u32::MAX })
        );
        allocations.release(0, 64).unwrap();
        assert_eq!(
            allocations.release(0, 64),
            Err(AllocationError::DoubleDealloc { column: 0 })
        );
        assert_eq!(
            allocations.take(16, 32),
            Err(AllocationError::NotFree {
                column: 16,
                columns: 32
            })
        );
        assert_eq!(
            allocations.take(u32::MAX - 31, 32).unwrap_err().to_string(),
            "columns 4294967264 to 4294967294 are not free"
        );
        allocations.relinquish();
        assert_eq!(allocations.permits(32), Err(AllocationError::Relinquished));
        assert_eq!(allocations.take(0, 32), Err(AllocationError::Relinquished));
    }

    proptest! {
        /// Whatever is allocated and freed, live allocations never overlap and are exactly the
        /// columns that may be used.
        #[test]
        fn live_allocations_are_disjoint(steps in prop::collection::vec((0u32..5, any::<bool>()), 0..40)) {
            let mut allocations = Allocations::default();
            for (size, free) in steps {
                let columns = 32 << size;
                if free {
                    let oldest = allocations.live().next();
                    if let Some((column, columns)) = oldest {
                        allocations.release(column, columns).unwrap();
                    }
                } else if allocations.permits(columns).is_ok()
                    && let Some(column) = allocations.find(columns)
                {
                    allocations.take(column, columns).unwrap();
                }
                let mut owners = [0; COLUMNS as usize];
                for (column, columns) in allocations.live() {
                    owners[column as usize..(column + columns) as usize]
                        .iter_mut()
                        .for_each(|owner| *owner += 1);
                }
                for (column, owners) in (0..COLUMNS).zip(owners) {
                    prop_assert!(owners <= 1);
                    prop_assert_eq!(allocations.check(column..column + 1).is_ok(), owners == 1);
                }
            }
        }
    }
}
