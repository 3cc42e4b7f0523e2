//! The host's picture of one argument's memory: guard, elements with padding, guard.
//!
//! A kernel that writes past its argument usually damages something that nobody looks at. Here
//! every byte that is not an element has a known value, and all of them are compared afterwards.

use std::{collections::TryReserveError, fmt, ops::Range};

use crate::layout::Layout;

/// Bytes before and after every argument that must stay as they are.
pub const GUARD_BYTES: usize = 256;

/// What guard and padding bytes hold. As a float it is a small normal number, so that a kernel
/// that reads out of bounds gives plausible, wrong results and no NaN that hides the difference.
const GUARD: u8 = 0x3b;

/// What an output's elements hold before the launch.
const CANARY: u8 = 0xc5;

/// One argument's allocation as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    bytes: Vec<u8>,
    start: usize,
    extent: usize,
    misalign: usize,
}

/// A byte outside the elements that the kernel changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardDamage {
    /// Where it lies, relative to the argument's first byte.
    pub offset: i64,
    /// In which part of the allocation.
    pub region: Region,
    /// How many bytes outside the elements were changed altogether.
    pub count: usize,
}

/// A part of an allocation that holds no elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// Before the first element.
    Before,
    /// Between rows.
    Padding,
    /// After the last element.
    After,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before the first element",
            Self::Padding => "in the padding between rows",
            Self::After => "after the last element",
        })
    }
}

impl Image {
    /// An allocation for `layout` whose elements hold the canary.
    ///
    /// The first element lies at a multiple of `alignment` (a power of two) plus `misalign` bytes
    /// from the allocation's start.
    ///
    /// # Errors
    /// Not enough memory on the host.
    pub fn new(layout: &Layout, alignment: u32, misalign: u32) -> Result<Self, TryReserveError> {
        let front = GUARD_BYTES.max(usize::try_from(alignment).unwrap_or(GUARD_BYTES));
        let misalign = usize::try_from(misalign).unwrap_or(0);
        let start = front + misalign;
        let extent = layout.extent_bytes();
        let length = start + extent + GUARD_BYTES;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length)?;
        bytes.resize(length, GUARD);
        let mut image = Self {
            bytes,
            start,
            extent,
            misalign,
        };
        image.for_each_element(layout, |_, bytes| bytes.fill(CANARY));
        Ok(image)
    }

    /// All bytes, guards included.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All bytes, to read a device's memory into.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Where the first element lies, in bytes from the allocation's start.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The bytes that a kernel may touch: the elements with the padding between rows, and what
    /// the start was moved by.
    pub fn accessible(&self) -> Range<usize> {
        self.start - self.misalign..self.start + self.extent
    }

    /// The bytes of the first element and all that follow, guard included.
    pub fn data(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Calls `visit` with every element's row-major number and bytes.
    pub fn for_each_element(&mut self, layout: &Layout, mut visit: impl FnMut(u64, &mut [u8])) {
        let size = layout.element_bytes();
        let data = &mut self.bytes[self.start..];
        for row in layout.rows() {
            let mut offset = row.offset;
            for linear in row.first..row.first + row.count {
                visit(linear, &mut data[offset..offset + size]);
                offset += row.step;
            }
        }
    }

    /// The elements alone, in row-major order.
    pub fn packed(&self, layout: &Layout) -> Vec<u8> {
        let size = layout.element_bytes();
        let mut packed = Vec::with_capacity(layout.extent_bytes());
        for row in layout.rows() {
            let mut offset = self.start + row.offset;
            for _ in 0..row.count {
                packed.extend_from_slice(&self.bytes[offset..offset + size]);
                offset += row.step;
            }
        }
        packed
    }

    /// The first byte outside the elements that differs from what was put there.
    pub fn guard_damage(&self, layout: &Layout) -> Option<GuardDamage> {
        let mut found = Damage::default();
        let size = layout.element_bytes();
        let mut clean_from = 0;
        for row in layout.rows() {
            let mut offset = self.start + row.offset;
            // Contiguous rows are one stretch of elements; only gaps are looked at.
            let (pieces, length) = if row.step == size {
                (1, usize::try_from(row.count).unwrap_or(0) * size)
            } else {
                (row.count, size)
            };
            for _ in 0..pieces {
                found.scan(&self.bytes, clean_from, offset);
                clean_from = offset + length;
                offset += row.step;
            }
        }
        found.scan(&self.bytes, clean_from, self.bytes.len());
        let first = found.first?;
        let region = if first < self.start {
            Region::Before
        } else if first >= self.start + self.extent {
            Region::After
        } else {
            Region::Padding
        };
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        Some(GuardDamage {
            offset: signed(first) - signed(self.start),
            region,
            count: found.count,
        })
    }
}

#[derive(Default)]
struct Damage {
    first: Option<usize>,
    count: usize,
}

impl Damage {
    fn scan(&mut self, bytes: &[u8], from: usize, to: usize) {
        for (index, byte) in bytes[from..to].iter().enumerate() {
            if *byte != GUARD {
                self.first.get_or_insert(from + index);
                self.count += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded() -> Layout {
        Layout::new(vec![3, 5], vec![8, 1], 4).expect("valid")
    }

    #[test]
    fn finds_damage_in_each_region() {
        let layout = padded();
        let clean = Image::new(&layout, 16, 4).expect("memory");
        assert_eq!(clean.start(), GUARD_BYTES + 4);
        assert_eq!(clean.guard_damage(&layout), None);
        let cases = [
            (-1, Region::Before),
            (-260, Region::Before),
            (20, Region::Padding),
            (31, Region::Padding),
            (84, Region::After),
            (84 + 255, Region::After),
        ];
        for (offset, region) in cases {
            let mut image = clean.clone();
            let at = usize::try_from(260 + offset).expect("inside");
            image.bytes_mut()[at] ^= 1;
            let expected = GuardDamage {
                offset,
                region,
                count: 1,
            };
            assert_eq!(image.guard_damage(&layout), Some(expected));
        }
    }

    #[test]
    fn elements_are_no_damage() {
        let layout = padded();
        let mut image = Image::new(&layout, 16, 0).expect("memory");
        let mut seen = Vec::new();
        image.for_each_element(&layout, |linear, bytes| {
            bytes.fill(u8::try_from(linear).expect("small"));
            seen.push(linear);
        });
        assert_eq!(seen, (0..15).collect::<Vec<_>>());
        assert_eq!(image.guard_damage(&layout), None);
        let packed = image.packed(&layout);
        assert_eq!((packed.len(), packed[4 * 7], packed[59]), (60, 7, 14));
    }

    #[test]
    fn strided_elements_have_gaps_between_them() {
        let layout = Layout::new(vec![4], vec![2], 2).expect("valid");
        let mut image = Image::new(&layout, 16, 0).expect("memory");
        image.bytes_mut()[GUARD_BYTES + 2] = 0;
        let damage = image.guard_damage(&layout).expect("damaged");
        assert_eq!((damage.offset, damage.region), (2, Region::Padding));
    }

    #[test]
    fn an_empty_argument_has_guards_too() {
        let layout = Layout::new(vec![0], vec![1], 4).expect("valid");
        let mut image = Image::new(&layout, 512, 0).expect("memory");
        assert_eq!(image.bytes().len(), 512 + GUARD_BYTES);
        image.bytes_mut()[512] = 0;
        let damage = image.guard_damage(&layout).expect("damaged");
        assert_eq!((damage.offset, damage.region), (0, Region::After));
    }
}
