//! Tiles in shared memory: (row, column) → byte.
//!
//! Source of the rules: PTX ISA 9.1, "Swizzling Modes" of tensor copies and "Matrix descriptor";
//! measured on an H200. A swizzle works on absolute addresses, so these layouts hold for buffers
//! aligned to [`Swizzle::repeats_every`].

use super::{
    BYTE, COLUMN, LANE, Layout, LayoutError, ROW,
    banks::{Wavefronts, wavefronts},
    space::bits_of,
};

/// A permutation of byte addresses that XORs `bits` address bits from `base + shift` on into those
/// from `base` on: CuTe's `Swizzle<bits, base, shift>`. 0 bits are no swizzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    /// How many address bits change.
    pub bits: u32,
    /// The lowest bit that changes; `2^base` bytes stay together.
    pub base: u32,
    /// How far above the changed bits those stand that change them; at least `bits`.
    pub shift: u32,
}

impl Swizzle {
    /// Addresses as they are.
    pub const NONE: Self = Self::new(0, 4, 3);
    /// `CU_TENSOR_MAP_SWIZZLE_32B`: `a ^ ((a >> 7 & 1) << 4)`.
    pub const B32: Self = Self::new(1, 4, 3);
    /// `CU_TENSOR_MAP_SWIZZLE_64B`: `a ^ ((a >> 7 & 3) << 4)`.
    pub const B64: Self = Self::new(2, 4, 3);
    /// `CU_TENSOR_MAP_SWIZZLE_128B`: `a ^ ((a >> 7 & 7) << 4)`.
    pub const B128: Self = Self::new(3, 4, 3);
    /// `CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B`: `a ^ ((a >> 7 & 3) << 5)`; sm_100 only.
    pub const B128_ATOM_32: Self = Self::new(2, 5, 2);
    /// `CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B`: `a ^ ((a >> 7 & 1) << 6)`; sm_100 only.
    pub const B128_ATOM_64: Self = Self::new(1, 6, 1);

    /// A swizzle of any parameters.
    #[must_use]
    pub const fn new(bits: u32, base: u32, shift: u32) -> Self {
        Self { bits, base, shift }
    }

    /// The span of a row, in bytes, if a tensor copy and a matrix descriptor have this mode with
    /// 16-byte atoms: 32, 64 or 128. `None` for all others, [`Swizzle::NONE`] included.
    #[must_use]
    pub fn span(self) -> Option<u32> {
        [(Self::B32, 32), (Self::B64, 64), (Self::B128, 128)]
            .into_iter()
            .find_map(|(mode, span)| (mode == self).then_some(span))
    }

    /// The alignment in bytes that makes the pattern begin at the start of a buffer.
    #[must_use]
    pub fn repeats_every(self) -> u32 {
        if self.bits == 0 {
            return 1;
        }
        1 << (self.base + self.shift + self.bits)
    }

    /// The swizzled address.
    #[must_use]
    pub fn apply(self, address: u32) -> u32 {
        let mask = (1 << self.bits) - 1;
        address ^ (((address >> (self.base + self.shift)) & mask) << self.base)
    }

    /// The swizzle of a buffer of `bytes`, as a layout from byte to byte.
    ///
    /// # Errors
    /// `bytes` is not a power of two, or the parameters are no permutation.
    pub fn layout(self, bytes: u32) -> Result<Layout, LayoutError> {
        if self.bits > self.shift || self.base + self.shift + self.bits > 31 {
            return Err(LayoutError::Unsupported {
                what: "the shift of a swizzle",
                expected: "at least its bits, and bits below 31",
                got: self.shift,
            });
        }
        let images = (0..bits_of(BYTE, bytes)?)
            .map(|bit| [self.apply(1 << bit)])
            .collect();
        Layout::from_bases(&[(BYTE, images)], [(BYTE, bytes)])
    }
}

/// A row-major tile without gaps: (row, column) → element, `row·columns + column`.
///
/// # Errors
/// A size is not a power of two.
pub fn row_major(rows: u32, columns: u32) -> Result<Layout, LayoutError> {
    let tile = Layout::identity(COLUMN, super::ELEMENT, columns)?;
    tile.repeat(ROW, super::ELEMENT, rows)?
        .part(&[ROW, COLUMN], &[super::ELEMENT])
}

/// Rows of `columns` elements, each after the other, under a swizzle: (row, column) → byte,
/// `swizzle(row·columns·element_bytes + column·element_bytes)`.
///
/// # Errors
/// A size is not a power of two.
pub fn rows(
    rows: u32,
    columns: u32,
    element_bytes: u32,
    swizzle: Swizzle,
) -> Result<Layout, LayoutError> {
    let linear = Layout::zeros(COLUMN, 1, BYTE, element_bytes)?
        .repeat(COLUMN, BYTE, columns)?
        .repeat(ROW, BYTE, rows)?
        .part(&[ROW, COLUMN], &[BYTE])?;
    linear.then(&swizzle.layout(linear.output_size(BYTE))?)
}

/// A tile as tensor copies bring it and as matrix descriptors (K-major) read it:
/// (row, column) → byte.
///
/// Without swizzle that is one box of [`rows`]. With swizzle the pitch is the span (32, 64 or 128
/// bytes): narrower rows leave gaps, wider ones are cut into one box per span, box after box.
///
/// # Errors
/// A size is not a power of two, or the swizzle is none of the modes with 16-byte atoms.
pub fn boxes(
    rows: u32,
    columns: u32,
    element_bytes: u32,
    swizzle: Swizzle,
) -> Result<Layout, LayoutError> {
    if swizzle.bits == 0 {
        return self::rows(rows, columns, element_bytes, swizzle);
    }
    let Some(span) = swizzle.span() else {
        return Err(LayoutError::Unsupported {
            what: "the base of the swizzle of a box",
            expected: "the mode 32B, 64B or 128B (base 4, shift 3)",
            got: swizzle.base,
        });
    };
    bits_of(COLUMN, columns)?;
    let per_span = span / element_bytes.clamp(1, span);
    let inside = columns.min(per_span);
    let linear = Layout::zeros(COLUMN, 1, BYTE, element_bytes)?
        .repeat(COLUMN, BYTE, inside)?
        .product(&Layout::zeros(COLUMN, 1, BYTE, per_span / inside)?)?
        .repeat(ROW, BYTE, rows)?
        .repeat(COLUMN, BYTE, columns / inside)?
        .part(&[ROW, COLUMN], &[BYTE])?;
    linear.then(&swizzle.layout(linear.output_size(BYTE))?)
}

/// A swizzle for a tile of [`rows`] and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwizzleChoice {
    /// The swizzle.
    pub swizzle: Swizzle,
    /// One 8×8 matrix of `ldmatrix`: 8 rows of 16 bytes at one column.
    pub ldmatrix: Wavefronts,
    /// The 16-byte copies of one warp, along the rows.
    pub copies: Wavefronts,
}

/// The simplest swizzle under which neither `ldmatrix` nor 16-byte copies (`cp.async`, `st.shared.v4`)
/// meet bank conflicts on a tile of [`rows`]; if all do, the one with the fewest wavefronts.
///
/// Rows of 16 bytes need none; 32, 64 and 128 bytes get the mode of that span, so that the tile
/// is also one box of a tensor copy; longer rows get three bits taken from the row index, which
/// no tensor copy can do (cut such a tile into [`boxes`] instead).
///
/// # Errors
/// A size is not a power of two, or a row is shorter than 16 bytes.
pub fn choose_swizzle(
    rows: u32,
    columns: u32,
    element_bytes: u32,
) -> Result<SwizzleChoice, LayoutError> {
    let row_bytes = columns.saturating_mul(element_bytes);
    if row_bytes < 16 {
        return Err(LayoutError::Unsupported {
            what: "the bytes of a row",
            expected: "at least 16",
            got: row_bytes,
        });
    }
    let long_rows = Swizzle::new(3, 4, bits_of(BYTE, row_bytes)?.max(7) - 4);
    let candidates = [
        Swizzle::NONE,
        Swizzle::B32,
        Swizzle::B64,
        Swizzle::B128,
        long_rows,
    ];
    let mut best: Option<SwizzleChoice> = None;
    for swizzle in candidates {
        let choice = assess(rows, columns, element_bytes, swizzle)?;
        let total = |choice: &SwizzleChoice| choice.ldmatrix.total + choice.copies.total;
        if best
            .as_ref()
            .is_none_or(|best| total(&choice) < total(best))
        {
            best = Some(choice);
        }
    }
    best.ok_or(LayoutError::NotContained)
}

fn assess(
    rows: u32,
    columns: u32,
    element_bytes: u32,
    swizzle: Swizzle,
) -> Result<SwizzleChoice, LayoutError> {
    let tile = self::rows(rows, columns, element_bytes, swizzle)?;
    let matrix =
        Layout::identity(LANE, ROW, rows.min(8))?.product(&Layout::zeros(LANE, 1, COLUMN, 1)?)?;
    let warp = super::global::blocked([rows, columns], element_bytes, 1, 16)?
        .part(&[LANE], &[ROW, COLUMN])?;
    Ok(SwizzleChoice {
        swizzle,
        ldmatrix: wavefronts(&matrix.then(&tile)?, 16)?,
        copies: wavefronts(&warp.then(&tile)?, 16)?,
    })
}
