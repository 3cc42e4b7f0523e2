//! Which element of a matrix each register of each thread holds, for the warp-level matrix instructions.
//!
//! PTX ISA 9.1, the fragment figures of `ldmatrix`, `movmatrix`, `mma` and `wgmma.mma_async`; every formula measured on an
//! H200. `lane` is 0 to 31. "Elements" are indexed inside a 32-bit register from its low bits.

/// A row and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Row of the matrix.
    pub row: usize,
    /// Column of the matrix.
    pub column: usize,
}

/// The two elements that a lane holds of an 8×8 matrix of 16-bit elements, low half first (`ldmatrix`, `stmatrix`,
/// `movmatrix`). `transposed` exchanges rows and columns.
#[must_use]
pub const fn eight_by_eight(lane: usize, half: usize, transposed: bool) -> Place {
    let (row, column) = (lane / 4, 2 * (lane % 4) + half);
    if transposed {
        Place {
            row: column,
            column: row,
        }
    } else {
        Place { row, column }
    }
}

/// Operand A of `mma.sync` with 16 rows, and of `wgmma` from registers (then relative to the 16 rows of the warp).
/// `per_register` elements fit a register. With half the depth (2 registers instead of 4) the same formula holds, since
/// registers 0 and 1 are the rows and 2 and 3 the upper half of K.
#[must_use]
pub const fn operand_a(lane: usize, register: usize, element: usize, per_register: usize) -> Place {
    Place {
        row: lane / 4 + 8 * (register & 1),
        column: lane % 4 * per_register + (register >> 1) * 4 * per_register + element,
    }
}

/// Operand B of `mma.sync` with 8 columns: `row` is the position in K, `column` that in N.
#[must_use]
pub const fn operand_b(lane: usize, register: usize, element: usize, per_register: usize) -> Place {
    Place {
        row: lane % 4 * per_register + register * 4 * per_register + element,
        column: lane / 4,
    }
}

/// Element `index` of a lane's share of an accumulator with 16 rows: 4 for the 16×8 of `mma.sync`, N/2 for the 16×N of one
/// warp of `wgmma`. f32 and s32 take a register each; f16 packs elements 2i and 2i+1 into register i.
#[must_use]
pub const fn accumulator(lane: usize, index: usize) -> Place {
    Place {
        row: lane / 4 + 8 * (index / 2 % 2),
        column: 8 * (index / 4) + 2 * (lane % 4) + index % 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every place of a `rows` × `columns` matrix, once.
    fn covers(places: impl Iterator<Item = Place>, rows: usize, columns: usize) {
        let places: Vec<Place> = places.collect();
        let distinct: BTreeSet<Place> = places.iter().copied().collect();
        assert_eq!(
            (places.len(), distinct.len()),
            (rows * columns, rows * columns)
        );
        assert!(
            distinct
                .iter()
                .all(|at| at.row < rows && at.column < columns)
        );
    }

    fn shares(registers: usize, elements: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..32).flat_map(move |lane| {
            (0..registers).flat_map(move |register| {
                (0..elements).map(move |element| (lane, register, element))
            })
        })
    }

    #[test]
    fn fragments_are_bijective() {
        for per_register in [1, 2, 4] {
            let depth = 8 * per_register;
            let a = |registers| {
                shares(registers, per_register)
                    .map(move |(l, r, e)| operand_a(l, r, e, per_register))
            };
            let b = |registers| {
                shares(registers, per_register)
                    .map(move |(l, r, e)| operand_b(l, r, e, per_register))
            };
            covers(a(4), 16, depth);
            covers(a(2), 16, depth / 2);
            covers(b(2), depth, 8);
            covers(b(1), depth / 2, 8);
        }
        for columns in [8, 64, 256] {
            covers(
                shares(1, columns / 2).map(|(l, _, i)| accumulator(l, i)),
                16,
                columns,
            );
        }
        for transposed in [false, true] {
            covers(
                shares(1, 2).map(|(l, _, h)| eight_by_eight(l, h, transposed)),
                8,
                8,
            );
        }
    }

    /// Rows of the figures in the manual.
    #[test]
    fn single_places() {
        let at = |row, column| Place { row, column };
        assert_eq!(operand_a(5, 3, 1, 2), at(9, 11));
        assert_eq!(operand_a(5, 2, 3, 4), at(1, 23));
        assert_eq!(operand_b(6, 1, 0, 2), at(12, 1));
        assert_eq!(accumulator(31, 3), at(15, 7));
        assert_eq!(accumulator(1, 6), at(8, 10));
        assert_eq!(eight_by_eight(9, 1, false), at(2, 3));
        assert_eq!(eight_by_eight(9, 1, true), at(3, 2));
    }
}
