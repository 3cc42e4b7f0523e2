//! Which register of which thread holds which cell: `tcgen05.ld` and `tcgen05.st` (PTX ISA
//! 9.7.16.2.3 and 9.7.16.8; the layouts as in CUTLASS).

use super::{Region, TensorAddress};

/// The shape of one repetition: lanes by bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AccessShape {
    S32x32b,
    S16x64b,
    S16x128b,
    S16x256b,
    /// Two accesses to the same 16 lanes, at columns apart by an immediate.
    S16x32bx2,
}

impl AccessShape {
    /// The shape of a modifier such as `32x32b`.
    pub fn from_modifier(modifier: &str) -> Option<Self> {
        Some(match modifier {
            "32x32b" => Self::S32x32b,
            "16x64b" => Self::S16x64b,
            "16x128b" => Self::S16x128b,
            "16x256b" => Self::S16x256b,
            "16x32bx2" => Self::S16x32bx2,
            _ => return None,
        })
    }

    /// Registers of a thread for one repetition.
    fn registers(self) -> u32 {
        match self {
            Self::S32x32b | Self::S16x64b | Self::S16x32bx2 => 1,
            Self::S16x128b => 2,
            Self::S16x256b => 4,
        }
    }

    /// Lanes that are touched.
    pub fn lanes(self) -> u32 {
        if self == Self::S32x32b { 32 } else { 16 }
    }
}

/// A combination that `tcgen05.ld`/`st` do not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessShapeError {
    /// More than 128 registers, or a repetition that is no power of two.
    #[error("{shape:?} has no repetition x{repeat}")]
    Repeat {
        /// The shape.
        shape: AccessShape,
        /// The repetition.
        repeat: u32,
    },
    /// Two halves that overlap or lie outside tensor memory.
    #[error("the halves of 16x32bx2 cannot be {split} columns apart")]
    Split {
        /// The immediate.
        split: u32,
    },
    /// `.pack::16b`/`.unpack::16b` with two halves: how it counts the split is not confirmed.
    #[error("16x32bx2 with pack::16b or unpack::16b is not supported")]
    PackedSplit,
}

/// An access of a warp to tensor memory, relative to its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterAccess {
    shape: AccessShape,
    repeat: u32,
    packed: bool,
    split: u32,
}

impl RegisterAccess {
    /// An access of shape `.xN`. `packed` is `.pack::16b` or `.unpack::16b`: a register holds the
    /// low halves of two neighbouring columns. `split` is the immediate of 16x32bx2, in columns,
    /// and 0 for the other shapes.
    pub fn new(
        shape: AccessShape,
        repeat: u32,
        packed: bool,
        split: u32,
    ) -> Result<Self, AccessShapeError> {
        let registers = repeat.checked_mul(shape.registers());
        let legal = repeat.is_power_of_two() && registers.is_some_and(|count| count <= 128);
        if !legal {
            return Err(AccessShapeError::Repeat { shape, repeat });
        }
        if shape == AccessShape::S16x32bx2 {
            if packed {
                return Err(AccessShapeError::PackedSplit);
            }
            if split < repeat || split >= super::COLUMNS {
                return Err(AccessShapeError::Split { split });
            }
        }
        Ok(Self {
            shape,
            repeat,
            packed,
            split,
        })
    }

    /// The shape.
    pub fn shape(&self) -> AccessShape {
        self.shape
    }

    /// Whether registers hold the low halves of two columns.
    pub fn packed(&self) -> bool {
        self.packed
    }

    /// Registers of each thread, 1 to 128.
    pub fn registers(&self) -> u32 {
        self.repeat * self.shape.registers()
    }

    /// The cell of register `register` of lane `thread` of the warp, as lane and column relative
    /// to the address. For a packed access it is the first of two neighbouring columns.
    pub fn cell(&self, thread: u32, register: u32) -> (u32, u32) {
        let (t, r) = (thread % 32, register);
        let (lane, column) = match self.shape {
            AccessShape::S32x32b => (t, r),
            AccessShape::S16x64b => (t / 4 + 8 * (t % 2), 2 * r + t / 2 % 2),
            AccessShape::S16x128b => (t / 4 + 8 * (r % 2), 4 * (r / 2) + t % 4),
            AccessShape::S16x256b => (t / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2),
            AccessShape::S16x32bx2 => (t % 16, r + if t >= 16 { self.split } else { 0 }),
        };
        (lane, if self.packed { 2 * column } else { column })
    }

    /// The rectangles that an access at an address touches.
    pub fn regions(&self, at: TensorAddress) -> Vec<Region> {
        let lanes = self.shape.lanes();
        // A repetition of the 16-lane shapes is 2, 4 or 8 columns wide.
        let columns = match self.shape {
            AccessShape::S32x32b | AccessShape::S16x32bx2 => self.repeat,
            AccessShape::S16x64b => 2 * self.repeat,
            AccessShape::S16x128b => 4 * self.repeat,
            AccessShape::S16x256b => 8 * self.repeat,
        };
        let columns = if self.packed { 2 * columns } else { columns };
        let first = Region::new(at.lane, lanes, at.column, columns);
        if self.shape != AccessShape::S16x32bx2 {
            return vec![first];
        }
        let second = at.column.saturating_add(self.split);
        vec![first, Region::new(at.lane, lanes, second, columns)]
    }

    /// Whether a warp may use this lane in the address: warp w of its warpgroup reaches lanes 32w
    /// to 32w+31 only.
    pub fn reachable(&self, lane: u32, warp: u32) -> bool {
        let quadrant = 32 * (warp % 4);
        lane == quadrant || (self.shape.lanes() == 16 && lane == quadrant + 16)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SHAPES: [AccessShape; 5] = [
        AccessShape::S32x32b,
        AccessShape::S16x64b,
        AccessShape::S16x128b,
        AccessShape::S16x256b,
        AccessShape::S16x32bx2,
    ];

    fn all() -> impl Iterator<Item = RegisterAccess> {
        SHAPES.into_iter().flat_map(|shape| {
            (0..8).flat_map(move |power| {
                [false, true].into_iter().filter_map(move |packed| {
                    let repeat = 1 << power;
                    RegisterAccess::new(shape, repeat, packed, repeat + 3).ok()
                })
            })
        })
    }

    /// Every register has a cell of its own, and together they fill the rectangles.
    #[test]
    fn registers_and_cells_match_one_to_one() {
        assert_eq!(all().count(), 8 * 2 + 8 * 2 + 7 * 2 + 6 * 2 + 8);
        for access in all() {
            let width = if access.packed() { 2 } else { 1 };
            let mut cells = BTreeSet::new();
            for thread in 0..32 {
                for register in 0..access.registers() {
                    let (lane, column) = access.cell(thread, register);
                    for extra in 0..width {
                        assert!(cells.insert((lane + 32, column + 7 + extra)), "{access:?}");
                    }
                }
            }
            let at = TensorAddress {
                lane: 32,
                column: 7,
            };
            let covered: BTreeSet<_> = access
                .regions(at)
                .into_iter()
                .flat_map(|region| {
                    region
                        .lanes
                        .flat_map(move |lane| region.columns.clone().map(move |c| (lane, c)))
                })
                .collect();
            assert_eq!(cells, covered, "{access:?}");
        }
    }

    /// The bit layouts of CUTLASS's copy traits: a register is 32 bits of a lane's row.
    #[test]
    fn cutlass_layouts() {
        for shape in SHAPES {
            for repeat in [1, 2, 4, 8] {
                let access = RegisterAccess::new(shape, repeat, false, repeat).unwrap();
                let row = access.registers() * 32 * 32 / shape.lanes();
                for t in 0..32 {
                    for r in 0..access.registers() {
                        let bit = 32 * r;
                        let x = match shape {
                            AccessShape::S32x32b => t * row + bit,
                            AccessShape::S16x64b => {
                                t % 2 * 8 * row + t / 2 % 2 * 32 + t / 4 * row + bit * 2
                            }
                            AccessShape::S16x128b => {
                                t % 4 * 32 + t / 4 * row + bit / 32 % 2 * 8 * row + bit / 64 * 128
                            }
                            AccessShape::S16x256b => {
                                t % 4 * 64
                                    + t / 4 * row
                                    + bit % 64
                                    + bit / 64 % 2 * 8 * row
                                    + bit / 128 * 256
                            }
                            AccessShape::S16x32bx2 => t % 16 * row + t / 16 * 32 * repeat + bit,
                        };
                        assert_eq!(access.cell(t, r), (x / row, x % row / 32), "{shape:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn warps_reach_their_quadrant() {
        let wide = RegisterAccess::new(AccessShape::S32x32b, 1, false, 0).unwrap();
        assert!(wide.reachable(32, 1) && wide.reachable(32, 5));
        assert!(!wide.reachable(48, 1) && !wide.reachable(0, 1));
        let narrow = RegisterAccess::new(AccessShape::S16x64b, 1, false, 0).unwrap();
        assert!(narrow.reachable(112, 3) && !narrow.reachable(120, 3));
    }

    #[test]
    fn impossible_accesses_are_refused() {
        let new = RegisterAccess::new;
        for repeat in [0, 3, 256, 1 << 31] {
            assert!(new(AccessShape::S32x32b, repeat, false, 0).is_err());
        }
        assert!(new(AccessShape::S16x256b, 64, false, 0).is_err());
        assert!(new(AccessShape::S16x32bx2, 32, false, 16).is_err());
        assert!(new(AccessShape::S16x32bx2, 1, false, u32::MAX).is_err());
        assert_eq!(
            new(AccessShape::S16x32bx2, 1, true, 2),
            Err(AccessShapeError::PackedSplit)
        );
    }
}
