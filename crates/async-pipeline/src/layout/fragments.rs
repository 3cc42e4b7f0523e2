//! Who holds what in `mma.sync` and `wgmma`: (register, lane, warp) → (row, column).
//!
//! Source of the rules: PTX ISA 9.1, "Matrix Fragments for mma.m16n8k…" and "Register Fragments
//! for wgmma"; measured on an H200. With `g = lane / 4`, `q = lane % 4` and `e` elements in a 32-bit
//! register, the tables below are the formulas of each function.

use super::{COLUMN, LANE, Layout, LayoutError, REGISTER, ROW, WARP};

/// The A operand of one `mma.sync.m16n8k…`: 16 rows, `k` columns.
///
/// Register `r`, element `i`: row `g + 8·(r % 2)`, column `q·e + (r / 2)·4e + i`. `k` elements are
/// 32 bytes (m16n8k8 for tf32, m16n8k16 for 16 bits, m16n8k32 for 8 bits) or half of that.
///
/// # Errors
/// There is no such shape.
pub fn mma_a(element_bytes: u32, k: u32) -> Result<Layout, LayoutError> {
    let per_register = elements_per_register(element_bytes, k)?;
    let mut registers = columns(1, per_register);
    registers.push([8, 0]);
    if k == 8 * per_register {
        registers.push([0, 4 * per_register]);
    }
    Layout::from_bases(
        &[(REGISTER, registers), (LANE, lanes(per_register))],
        [(ROW, 16), (COLUMN, k)],
    )
}

/// The B operand of one `mma.sync.m16n8k…`: `k` rows, 8 columns.
///
/// Register `r`, element `i`: row (k) `q·e + r·4e + i`, column (n) `g`.
///
/// # Errors
/// There is no such shape.
pub fn mma_b(element_bytes: u32, k: u32) -> Result<Layout, LayoutError> {
    let per_register = elements_per_register(element_bytes, k)?;
    let swapped = |images: Vec<[u32; 2]>| -> Vec<_> {
        images
            .into_iter()
            .map(|[row, column]| [column, row])
            .collect()
    };
    let mut registers = columns(1, per_register);
    if k == 8 * per_register {
        registers.push([0, 4 * per_register]);
    }
    Layout::from_bases(
        &[
            (REGISTER, swapped(registers)),
            (LANE, swapped(lanes(per_register))),
        ],
        [(ROW, k), (COLUMN, 8)],
    )
}

/// The C or D operand of one `mma.sync.m16n8k…`: 16 rows, 8 columns, 4 values per lane, whatever
/// the element type.
///
/// Value `i`: row `g + 8·(i / 2)`, column `2q + i % 2`.
///
/// # Errors
/// None in practice; the bases are fixed.
pub fn mma_accumulator() -> Result<Layout, LayoutError> {
    Layout::from_bases(
        &[(REGISTER, vec![[0, 1], [8, 0]]), (LANE, lanes(2))],
        [(ROW, 16), (COLUMN, 8)],
    )
}

/// The D operand of one `wgmma.m64nNk…`: 64 rows, `n` columns over the 4 warps of a warpgroup.
///
/// Value `i` of warp `w`: row `16w + g + 8·((i / 2) % 2)`, column `8·(i / 4) + 2q + i % 2`.
///
/// # Errors
/// `n` is not a power of two from 8 to 256. (wgmma has every multiple of 8; the others are not
/// bit-linear.)
pub fn wgmma_accumulator(n: u32) -> Result<Layout, LayoutError> {
    if !(8..=256).contains(&n) {
        return Err(LayoutError::Unsupported {
            what: "n of a wgmma",
            expected: "8 to 256",
            got: n,
        });
    }
    if !n.is_power_of_two() {
        return Err(LayoutError::NotPowerOfTwo {
            what: COLUMN,
            got: n,
        });
    }
    mma_accumulator()?
        .repeat(REGISTER, COLUMN, n / 8)?
        .repeat(WARP, ROW, 4)
}

/// The A operand of one `wgmma` in registers: 64 rows, 32 bytes of columns, the fragment of
/// [`mma_a`] for the 16 rows of each of the 4 warps.
///
/// # Errors
/// `element_bytes` is not 1, 2 or 4.
pub fn wgmma_a(element_bytes: u32) -> Result<Layout, LayoutError> {
    let k = 32_u32.checked_div(element_bytes).unwrap_or(0);
    mma_a(element_bytes, k)?.repeat(WARP, ROW, 4)
}

/// How the warps that share one `m` × `n` × `k` product of tiles divide it.
///
/// Each warp has a block of consecutive rows and columns of the result; the warps are numbered
/// down the rows first. Inside, the fragments of [`mma_a`], [`mma_b`] and [`mma_accumulator`] repeat
/// along columns first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmaTiling {
    /// Rows and columns of the result and the length of the sums, in elements.
    pub tile: [u32; 3],
    /// Warps along the rows and along the columns of the result.
    pub warps: [u32; 2],
}

impl MmaTiling {
    /// The result: `m` × `n`.
    ///
    /// # Errors
    /// A size is not a power of two, or a warp has less than one fragment.
    pub fn accumulator(&self) -> Result<Layout, LayoutError> {
        let [m, n, _] = self.tile;
        let [down, across] = self.warps;
        mma_accumulator()?
            .repeat(REGISTER, COLUMN, times("columns per warp", n, 8 * across)?)?
            .repeat(REGISTER, ROW, times("rows per warp", m, 16 * down)?)?
            .repeat(WARP, ROW, down)?
            .repeat(WARP, COLUMN, across)
    }

    /// The A operand: `m` × `k`; warps along the columns of the result hold the same.
    ///
    /// # Errors
    /// As [`MmaTiling::accumulator`], and for an element size that `mma.sync` lacks.
    pub fn a(&self, element_bytes: u32) -> Result<Layout, LayoutError> {
        let [m, _, k] = self.tile;
        let [down, across] = self.warps;
        let depth = 32_u32.checked_div(element_bytes).unwrap_or(0);
        mma_a(element_bytes, depth)?
            .repeat(REGISTER, COLUMN, times("columns of A", k, depth)?)?
            .repeat(REGISTER, ROW, times("rows per warp", m, 16 * down)?)?
            .repeat(WARP, ROW, down)?
            .broadcast(WARP, across)
    }

    /// The B operand: `k` × `n`; warps along the rows of the result hold the same.
    ///
    /// # Errors
    /// As [`MmaTiling::a`].
    pub fn b(&self, element_bytes: u32) -> Result<Layout, LayoutError> {
        let [_, n, k] = self.tile;
        let [down, across] = self.warps;
        let depth = 32_u32.checked_div(element_bytes).unwrap_or(0);
        mma_b(element_bytes, depth)?
            .repeat(REGISTER, ROW, times("rows of B", k, depth)?)?
            .repeat(REGISTER, COLUMN, times("columns per warp", n, 8 * across)?)?
            .broadcast(WARP, down)?
            .repeat(WARP, COLUMN, across)
    }
}

/// The bits of an axis of `size` in steps from `first`: columns of row 0.
fn columns(first: u32, size: u32) -> Vec<[u32; 2]> {
    (0..size.ilog2()).map(|bit| [0, first << bit]).collect()
}

/// Four lanes along the columns, `step` apart, eight down the rows.
fn lanes(step: u32) -> Vec<[u32; 2]> {
    vec![[0, step], [0, 2 * step], [1, 0], [2, 0], [4, 0]]
}

fn elements_per_register(element_bytes: u32, k: u32) -> Result<u32, LayoutError> {
    if !matches!(element_bytes, 1 | 2 | 4) {
        return Err(LayoutError::Unsupported {
            what: "the bytes of an element of mma",
            expected: "1, 2 or 4",
            got: element_bytes,
        });
    }
    if !matches!(k.checked_mul(element_bytes), Some(16 | 32)) {
        return Err(LayoutError::Unsupported {
            what: "k of an mma",
            expected: "16 or 32 bytes of elements",
            got: k,
        });
    }
    Ok(4 / element_bytes)
}

/// How often `unit` goes into `whole`.
fn times(what: &'static str, whole: u32, unit: u32) -> Result<u32, LayoutError> {
    if unit == 0 || !whole.is_multiple_of(unit) || whole == 0 {
        return Err(LayoutError::Unsupported {
            what,
            expected: "a multiple of the fragments of all warps",
            got: whole,
        });
    }
    Ok(whole / unit)
}
