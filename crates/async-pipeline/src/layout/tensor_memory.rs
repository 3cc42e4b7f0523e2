//! Tensor memory: what `tcgen05.ld` reads and where accumulators are.
//!
//! Source of the rules: PTX ISA 9.1, "tcgen05 Data-movement shapes" and "Data path layouts", agreeing
//! with the headers of CUTLASS and with Triton. Not measured: no such GPU was at hand.

use super::{COLUMN, CTA, LANE, Layout, LayoutError, REGISTER, ROW, TMEM_COLUMN, TMEM_LANE, WARP};

/// The shape of a `tcgen05.ld` or `tcgen05.st`; `t` is the lane of the thread, `r` the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadShape {
    /// Lane `t`, column `r`.
    Lanes32Bits32,
    /// Lane `t/4 + 8·(t%2)`, column `2r + (t/2)%2`.
    Lanes16Bits64,
    /// Lane `t/4 + 8·(r%2)`, column `4·(r/2) + t%4`.
    Lanes16Bits128,
    /// Lane `t/4 + 8·((r/2)%2)`, column `8·(r/4) + 2·(t%4) + r%2`.
    Lanes16Bits256,
    /// Lane `t%16`, column `r`, plus `split` for threads from 16 on.
    Lanes16Bits32x2 {
        /// The column of the second half, a multiple of the repetition.
        split: u32,
    },
}

impl LoadShape {
    /// Registers per thread of one repetition.
    #[must_use]
    pub fn registers(self) -> u32 {
        match self {
            Self::Lanes32Bits32 | Self::Lanes16Bits64 | Self::Lanes16Bits32x2 { .. } => 1,
            Self::Lanes16Bits128 => 2,
            Self::Lanes16Bits256 => 4,
        }
    }

    /// The lanes of tensor memory that one instruction of one warp touches.
    #[must_use]
    pub fn lanes(self) -> u32 {
        if self == Self::Lanes32Bits32 { 32 } else { 16 }
    }

    /// One instruction of one warp, `.x{repeat}`: (register, lane) → (tmem_lane, tmem_column),
    /// relative to the address of the instruction.
    ///
    /// # Errors
    /// `repeat` is not a power of two or makes more than 128 registers, or `split` overlaps.
    pub fn instruction(self, repeat: u32) -> Result<Layout, LayoutError> {
        if repeat == 0 || repeat > 128 / self.registers() {
            return Err(LayoutError::Unsupported {
                what: "the repetition of tcgen05.ld",
                expected: "at most 128 registers per thread",
                got: repeat,
            });
        }
        let (registers, lanes, columns) = match self {
            Self::Lanes32Bits32 => (vec![], vec![[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], 1),
            Self::Lanes16Bits64 => (vec![], vec![[8, 0], [0, 1], [1, 0], [2, 0], [4, 0]], 2),
            Self::Lanes16Bits128 => (
                vec![[8, 0]],
                vec![[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]],
                4,
            ),
            Self::Lanes16Bits256 => (
                vec![[0, 1], [8, 0]],
                vec![[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                8,
            ),
            Self::Lanes16Bits32x2 { split } => return halves(repeat, split),
        };
        Layout::from_bases(
            &[(REGISTER, registers), (LANE, lanes)],
            [(TMEM_LANE, self.lanes()), (TMEM_COLUMN, columns)],
        )?
        .repeat(REGISTER, TMEM_COLUMN, repeat)
    }

    /// The same instruction in the 4 warps of a warpgroup, each in its own 32 lanes:
    /// (register, lane, warp) → (tmem_lane, tmem_column).
    ///
    /// A shape of 16 lanes leaves lanes `32w + 16` and up alone, or reads them with a second
    /// instruction (`both_halves`), whose registers follow those of the first.
    ///
    /// # Errors
    /// As [`LoadShape::instruction`].
    pub fn warpgroup(self, repeat: u32, both_halves: bool) -> Result<Layout, LayoutError> {
        let one = self.instruction(repeat)?;
        let quadrant = match (self.lanes(), both_halves) {
            (32, _) => one,
            (_, true) => one.repeat(REGISTER, TMEM_LANE, 2)?,
            (_, false) => one.product(&Layout::zeros(REGISTER, 1, TMEM_LANE, 2)?)?,
        };
        quadrant.repeat(WARP, TMEM_LANE, 4)
    }
}

fn halves(repeat: u32, split: u32) -> Result<Layout, LayoutError> {
    if !split.is_power_of_two() || split < repeat || split > 256 {
        return Err(LayoutError::Unsupported {
            what: "the half split offset of tcgen05.ld.16x32bx2",
            expected: "a power of two from the repetition to 256",
            got: split,
        });
    }
    let registers = (0..repeat.ilog2()).map(|bit| [0, 1 << bit]).collect();
    let lanes = vec![[1, 0], [2, 0], [4, 0], [8, 0], [0, split]];
    if !repeat.is_power_of_two() {
        return Err(LayoutError::NotPowerOfTwo {
            what: REGISTER,
            got: repeat,
        });
    }
    Layout::from_bases(
        &[(REGISTER, registers), (LANE, lanes)],
        [(TMEM_LANE, 16), (TMEM_COLUMN, 2 * split)],
    )
}

/// Which `tcgen05.mma` an accumulator belongs to. The letters are those of the PTX ISA; layout C
/// (sparse, a pair of CTAs, M = 128) is left out because nothing confirms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPath {
    /// A pair of CTAs, M = 256: CTA `i/128`, lane `i%128`, column `j`.
    A,
    /// A pair, M = 128, dense: CTA `i/64`, lane `i%64 + 64·(j/(N/2))`, column `j%(N/2)`.
    B,
    /// One CTA, M = 128: lane `i`, column `j`.
    D,
    /// One CTA, M = 64, `.ws`: lane `i + 64·(j/(N/2))`, column `j%(N/2)`.
    E,
    /// One CTA, M = 64: lane `(i/16)·32 + i%16`, column `j`.
    F,
    /// One CTA, M = 32, `.ws`: lane `i + 32·(j/(N/4))`, column `j%(N/4)`.
    G,
}

impl DataPath {
    /// The rows of the accumulator.
    #[must_use]
    pub fn rows(self) -> u32 {
        match self {
            Self::A => 256,
            Self::B | Self::D => 128,
            Self::E | Self::F => 64,
            Self::G => 32,
        }
    }

    /// Row `i` and column `j` of an accumulator with `n` columns, one element per 32-bit column:
    /// (row, column) → (tmem_lane, tmem_column), and the CTA of a pair for layouts A and B.
    ///
    /// # Errors
    /// `n` is not a power of two from 8 to 256.
    pub fn accumulator(self, n: u32) -> Result<Layout, LayoutError> {
        if !(8..=256).contains(&n) {
            return Err(LayoutError::Unsupported {
                what: "n of a tcgen05.mma",
                expected: "8 to 256",
                got: n,
            });
        }
        let rows = |count| Layout::identity(ROW, TMEM_LANE, count);
        let columns = |count| Layout::identity(COLUMN, TMEM_COLUMN, count);
        match self {
            Self::A => rows(128)?.repeat(ROW, CTA, 2)?.product(&columns(n)?),
            Self::B => rows(64)?
                .repeat(ROW, CTA, 2)?
                .product(&columns(n / 2)?)?
                .repeat(COLUMN, TMEM_LANE, 2),
            Self::D => rows(128)?.product(&columns(n)?),
            Self::E => rows(64)?
                .product(&columns(n / 2)?)?
                .repeat(COLUMN, TMEM_LANE, 2),
            Self::F => rows(16)?
                .product(&Layout::zeros(ROW, 1, TMEM_LANE, 2)?)?
                .repeat(ROW, TMEM_LANE, 4)?
                .product(&columns(n)?),
            Self::G => rows(32)?
                .product(&columns(n / 4)?)?
                .repeat(COLUMN, TMEM_LANE, 4),
        }
    }
}

/// What the threads of a warpgroup hold of an accumulator after `tcgen05.ld`:
/// (register, lane, warp) → (row, column).
///
/// # Errors
/// As [`LoadShape::warpgroup`] and [`DataPath::accumulator`]; the load reads places that hold
/// nothing of the accumulator, or the accumulator is spread over a pair of CTAs.
pub fn loaded_accumulator(
    shape: LoadShape,
    repeat: u32,
    path: DataPath,
    n: u32,
) -> Result<Layout, LayoutError> {
    let both_halves = path != DataPath::F;
    let accumulator = path.accumulator(n)?;
    shape.warpgroup(repeat, both_halves)?.through(&accumulator)
}
