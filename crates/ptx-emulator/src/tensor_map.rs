//! Tensor maps: what they describe, whether the driver would take them, and which bytes a copy of
//! a box moves.
//!
//! ```text
//! TensorMap::tiled ─► validate ─► encode ─► 128 bytes ─► decode ─► Plan ─► runs of bytes
//!                                             ▲
//!                                  replace ───┘  (tensormap.replace)
//! ```
//!
//! Dimensions are counted from the innermost, as PTX and the CUDA driver do: dimension 0 is the
//! contiguous one. Nothing here touches a machine; the instructions under `isa` do.

mod element;
mod encode;
mod plan;
mod reduce;
mod replace;
#[cfg(test)]
mod tests;
mod validate;

pub use ptx_model::manifest::{Fill, Swizzle};

pub use self::element::{MapElement, round_tf32};
pub use self::encode::{MAP_BYTES, MapError, Part};
pub use self::plan::{CopyError, Direction, Plan, Run};
pub use self::reduce::{ReduceOp, ReduceType};
pub use self::replace::{Field, ReplaceError};
pub use self::validate::MapRule;

/// The most dimensions that a tensor map has (CUDA driver API, `cuTensorMapEncodeTiled`).
pub const MAX_RANK: usize = 5;

/// Where a tensor map itself has to lie: multiples of this many bytes (CUDA driver API).
pub const MAP_ALIGN: u64 = 64;

/// How channels are grouped in memory (`CUtensorMapInterleave`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interleave {
    /// Not at all.
    None,
    /// Groups of 16 bytes (NC/8HWC8).
    B16,
    /// Groups of 32 bytes (NC/16HWC16).
    B32,
}

impl Interleave {
    /// The mode of this driver number, which `tensormap.replace` shares.
    pub fn from_driver_code(code: u32) -> Option<Self> {
        [Self::None, Self::B16, Self::B32]
            .into_iter()
            .find(|mode| *mode as u32 == code)
    }
}

/// How much the L2 cache fetches at a time (`CUtensorMapL2promotion`); values do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum L2Promotion {
    /// What the copy asks for.
    None,
    /// 64 bytes.
    B64,
    /// 128 bytes.
    B128,
    /// 256 bytes.
    B256,
}

impl L2Promotion {
    /// The mode of this driver number.
    pub fn from_driver_code(code: u32) -> Option<Self> {
        [Self::None, Self::B64, Self::B128, Self::B256]
            .into_iter()
            .find(|mode| *mode as u32 == code)
    }
}

/// A tensor in global memory and the box of it that one copy moves.
///
/// Only the first `rank` entries of the arrays count; the others are 0 (strides: `rank - 1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMap {
    /// The type of the elements.
    pub element: MapElement,
    /// How many dimensions there are, 1 to 5.
    pub rank: usize,
    /// Where element (0, 0, …) lies in global memory.
    pub address: u64,
    /// Elements in each dimension.
    pub sizes: [u64; MAX_RANK],
    /// Bytes between neighbours in dimension 1, 2, …; neighbours in dimension 0 touch.
    pub strides: [u64; MAX_RANK - 1],
    /// Elements that the box spans in each dimension.
    pub box_sizes: [u32; MAX_RANK],
    /// Distance in elements between the elements that a copy takes. That of dimension 0 has no
    /// effect without interleave.
    pub element_strides: [u32; MAX_RANK],
    /// How channels are grouped.
    pub interleave: Interleave,
    /// How the box is permuted in shared memory.
    pub swizzle: Swizzle,
    /// A hint for the L2 cache.
    pub l2_promotion: L2Promotion,
    /// What elements outside the tensor read as.
    pub fill: Fill,
}

impl TensorMap {
    /// A map without interleave, swizzle, element strides and NaN fill, which can be set
    /// afterwards. `sizes` and `box_sizes` are elements and `outer_strides` bytes, innermost
    /// dimension first; `outer_strides` leaves dimension 0 out.
    ///
    /// # Errors
    /// More than five dimensions or none, and lists whose lengths do not fit each other. The
    /// values are judged by [`TensorMap::validate`].
    pub fn tiled(
        element: MapElement,
        address: u64,
        sizes: &[u64],
        outer_strides: &[u64],
        box_sizes: &[u32],
    ) -> Result<Self, MapRule> {
        let rank = sizes.len();
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(MapRule::Rank { rank });
        }
        if outer_strides.len() + 1 != rank || box_sizes.len() != rank {
            return Err(MapRule::Lengths {
                rank,
                strides: outer_strides.len(),
                boxes: box_sizes.len(),
            });
        }
        let mut element_strides = [0; MAX_RANK];
        element_strides[..rank].fill(1);
        Ok(Self {
            element,
            rank,
            address,
            sizes: padded(sizes),
            strides: padded(outer_strides),
            box_sizes: padded(box_sizes),
            element_strides,
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            l2_promotion: L2Promotion::None,
            fill: Fill::Zero,
        })
    }

    /// How many elements a copy takes along a dimension: every `element_strides`-th of the box
    /// (measured on an H200: 4 rows of a box of 7 with stride 2).
    pub fn taken(&self, dimension: usize) -> u32 {
        let size = self.box_sizes.get(dimension).copied().unwrap_or(1);
        match self.element_strides.get(dimension) {
            // Without interleave the stride of dimension 0 is ignored.
            Some(&stride) if dimension > 0 => size.div_ceil(stride.max(1)),
            _ => size,
        }
    }

    /// Bytes of a row of the box: its extent in dimension 0.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.taken(0)) * u64::from(self.element.bits()) / 8
    }

    /// Bytes from the start of one row to the next in shared memory: the span of the swizzle even
    /// if rows are shorter (measured on an H200).
    pub fn pitch_bytes(&self) -> u64 {
        match self.swizzle.span_bytes() {
            Some(span) => u64::from(span),
            None => self.row_bytes(),
        }
    }

    /// How many rows the box has.
    pub fn rows(&self) -> u64 {
        (1..self.rank.min(MAX_RANK))
            .map(|dimension| u64::from(self.taken(dimension)))
            .product()
    }

    /// Bytes that one copy of the box reports to the barrier: everything it writes, elements
    /// outside the tensor included, gaps between short rows not (measured on an H200).
    pub fn bytes_per_box(&self) -> u64 {
        self.row_bytes().saturating_mul(self.rows())
    }
}

fn padded<T: Copy + Default, const N: usize>(list: &[T]) -> [T; N] {
    let mut array = [T::default(); N];
    for (to, from) in array.iter_mut().zip(list) {
        *to = *from;
    }
    array
}
