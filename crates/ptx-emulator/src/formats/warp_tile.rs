//! Between the registers of a warp and tiles of plain numbers.
//!
//! Registers are reached through closures of (register of the fragment, lane), so that nothing here depends on how a warp
//! keeps them.

use super::fragment;
use super::narrow::{Modifiers, Rounding, f16_to_f32, f32_to_f16};
use super::tile::{Element, OperandTile};

/// Lanes of a warp.
const LANES: usize = 32;

/// The type of an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulator {
    /// One f32 per register.
    F32,
    /// Two f16 per register.
    F16,
    /// One s32 per register.
    S32,
}

impl Accumulator {
    /// How many registers each lane of a warp needs for 16 × `columns` results.
    #[must_use]
    pub const fn registers(self, columns: usize) -> usize {
        match self {
            Self::F32 | Self::S32 => columns / 2,
            Self::F16 => columns / 4,
        }
    }
}

/// The 16 rows of A that a warp holds in `registers` registers per lane (`mma.sync`, and `wgmma` with A in registers).
pub fn operand_a(
    element: Element,
    registers: usize,
    read: impl Fn(usize, usize) -> u32,
) -> OperandTile {
    let per_register = element.per_register();
    let mut tile = OperandTile::zeros(16, registers.div_ceil(2) * 4 * per_register);
    fill(
        &mut tile,
        element,
        registers,
        read,
        |lane, register, index| fragment::operand_a(lane, register, index, per_register),
    );
    tile
}

/// The 8 columns of B that a warp holds in `registers` registers per lane (`mma.sync`). The rows of the tile are the columns.
pub fn operand_b(
    element: Element,
    registers: usize,
    read: impl Fn(usize, usize) -> u32,
) -> OperandTile {
    let per_register = element.per_register();
    let mut tile = OperandTile::zeros(8, registers * 4 * per_register);
    fill(
        &mut tile,
        element,
        registers,
        read,
        |lane, register, index| {
            let at = fragment::operand_b(lane, register, index, per_register);
            fragment::Place {
                row: at.column,
                column: at.row,
            }
        },
    );
    tile
}

fn fill(
    tile: &mut OperandTile,
    element: Element,
    registers: usize,
    read: impl Fn(usize, usize) -> u32,
    place: impl Fn(usize, usize, usize) -> fragment::Place,
) {
    for register in 0..registers {
        for lane in 0..LANES {
            let bits = read(register, lane);
            for index in 0..element.per_register() {
                let at = place(lane, register, index);
                tile.values[at.row * tile.depth + at.column] = element.in_register(bits, index);
            }
        }
    }
}

/// The 16 × `columns` accumulators of a warp as f32, row by row. f16 ones are widened.
pub fn read_floats(
    kind: Accumulator,
    columns: usize,
    read: impl Fn(usize, usize) -> u32,
) -> Vec<f32> {
    let mut values = vec![0.0; 16 * columns];
    for index in 0..columns / 2 {
        for lane in 0..LANES {
            let at = fragment::accumulator(lane, index);
            values[at.row * columns + at.column] = match kind {
                Accumulator::F16 => {
                    let pair = read(index / 2, lane);
                    f16_to_f32((pair >> (16 * (index % 2))) as u16)
                }
                Accumulator::F32 | Accumulator::S32 => f32::from_bits(read(index, lane)),
            };
        }
    }
    values
}

/// The other way: calls `write` with every register, lane and its bits. f32 results become f16 by rounding to nearest even, an
/// assumption: what the hardware does was not measured.
pub fn write_floats(
    kind: Accumulator,
    columns: usize,
    values: &[f32],
    mut write: impl FnMut(usize, usize, u32),
) {
    let value = |lane, index| {
        let at = fragment::accumulator(lane, index);
        values
            .get(at.row * columns + at.column)
            .map_or(0, |value| value.to_bits())
    };
    let half = |bits| {
        u32::from(f32_to_f16(
            bits,
            Rounding::NearestEven,
            Modifiers::default(),
        ))
    };
    for register in 0..kind.registers(columns) {
        for lane in 0..LANES {
            let bits = match kind {
                Accumulator::F16 => {
                    let (low, high) = (value(lane, 2 * register), value(lane, 2 * register + 1));
                    half(low) | half(high) << 16
                }
                Accumulator::F32 | Accumulator::S32 => value(lane, register),
            };
            write(register, lane, bits);
        }
    }
}

/// The 16 × `columns` s32 accumulators of a warp, row by row.
pub fn read_integers(columns: usize, read: impl Fn(usize, usize) -> u32) -> Vec<i32> {
    let mut values = vec![0; 16 * columns];
    for register in 0..columns / 2 {
        for lane in 0..LANES {
            let at = fragment::accumulator(lane, register);
            values[at.row * columns + at.column] = read(register, lane).cast_signed();
        }
    }
    values
}

/// The other way: calls `write` with every register, lane and its bits.
pub fn write_integers(columns: usize, values: &[i32], mut write: impl FnMut(usize, usize, u32)) {
    for register in 0..columns / 2 {
        for lane in 0..LANES {
            let at = fragment::accumulator(lane, register);
            let value = values
                .get(at.row * columns + at.column)
                .copied()
                .unwrap_or(0);
            write(register, lane, value.cast_unsigned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accumulators_come_back() {
        for columns in [8, 24, 256] {
            let values: Vec<f32> = (0..16 * columns).map(|i| (i % 2000) as f32).collect();
            for kind in [Accumulator::F32, Accumulator::F16] {
                let mut registers = vec![[0; 32]; kind.registers(columns)];
                write_floats(kind, columns, &values, |register, lane, bits| {
                    registers[register][lane] = bits;
                });
                let back = read_floats(kind, columns, |register, lane| registers[register][lane]);
                assert_eq!(back, values, "{kind:?}");
            }
            let integers: Vec<i32> = (0..16 * columns as i32).map(|i| i - 100).collect();
            let mut registers = vec![[0; 32]; columns / 2];
            write_integers(columns, &integers, |register, lane, bits| {
                registers[register][lane] = bits;
            });
            let back = read_integers(columns, |register, lane| registers[register][lane]);
            assert_eq!(back, integers);
        }
    }

    /// Places named by the manual: lane 5 holds row 1, columns 2 and 3 in the low and high half of register 0.
    #[test]
    fn operands_land_where_the_figures_say() {
        let register = |wanted: (usize, usize), bits| {
            move |register, lane| if (register, lane) == wanted { bits } else { 0 }
        };
        let a = operand_a(Element::F16, 4, register((3, 5), 0x4000_3c00));
        assert_eq!((a.rows, a.depth), (16, 16));
        assert_eq!((a.values[9 * 16 + 10], a.values[9 * 16 + 11]), (1.0, 2.0));
        let b = operand_b(Element::F16, 2, register((1, 6), 0x4000_3c00));
        assert_eq!((b.rows, b.depth), (8, 16));
        assert_eq!((b.values[16 + 12], b.values[16 + 13]), (1.0, 2.0));
        let a = operand_a(Element::S8, 2, register((1, 1), 0xff00_0000));
        assert_eq!((a.depth, a.values[8 * 16 + 7]), (16, -1.0));
        let a = operand_a(Element::Tf32, 2, register((1, 3), 0x3f80_0001));
        assert_eq!((a.depth, a.values[8 * 4 + 3]), (4, 1.0));
    }
}
