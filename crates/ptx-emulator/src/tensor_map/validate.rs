//! The rules that the CUDA driver checks when it encodes a map (`cuTensorMapEncodeTiled`).

use ptx_model::target::Target;

use super::{Fill, Interleave, MAX_RANK, MapElement, Swizzle, TensorMap};

/// A rule for tensor maps that is violated. Dimension 0 is the innermost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapRule {
    /// The target has no tensor copies.
    #[error("{target} has no tensor maps; sm_90a and sm_100a have")]
    NoTensorMaps {
        /// The target.
        target: Target,
    },
    /// Too many dimensions or too few.
    #[error("a tensor map has 1 to 5 dimensions, not {rank}")]
    Rank {
        /// The number given.
        rank: usize,
    },
    /// Lists of unequal length.
    #[error(
        "{rank} sizes need {} strides and {rank} box sizes, got {strides} and {boxes}", .rank - 1
    )]
    Lengths {
        /// Number of sizes.
        rank: usize,
        /// Number of strides.
        strides: usize,
        /// Number of box sizes.
        boxes: usize,
    },
    /// Interleaved tensors have a channel dimension and at least two others.
    #[error("an interleaved tensor has at least 3 dimensions, not {rank}")]
    InterleavedRank {
        /// The number given.
        rank: usize,
    },
    /// The tensor starts at an odd address.
    #[error("the tensor's address {address:#x} is no multiple of {align} bytes")]
    Address {
        /// The address.
        address: u64,
        /// What it has to be a multiple of.
        align: u64,
    },
    /// A size of 0 or beyond 32 bits.
    #[error("size {size} of dimension {dimension} is not between 1 and 4294967296")]
    Size {
        /// Which dimension.
        dimension: usize,
        /// Its size in elements.
        size: u64,
    },
    /// Packed elements fill whole groups.
    #[error("{element} needs a size of dimension 0 that is a multiple of {multiple}, not {size}")]
    PackedSize {
        /// The type.
        element: MapElement,
        /// The size in elements.
        size: u64,
        /// What it has to be a multiple of.
        multiple: u64,
    },
    /// A stride that the copy engine cannot step.
    #[error("stride {stride} of dimension {dimension} is no multiple of {align} bytes")]
    StrideAlignment {
        /// Which dimension.
        dimension: usize,
        /// Its stride in bytes.
        stride: u64,
        /// What it has to be a multiple of.
        align: u64,
    },
    /// A stride that is too large.
    #[error("stride {stride} of dimension {dimension} is not below 2^40 bytes")]
    Stride {
        /// Which dimension.
        dimension: usize,
        /// Its stride in bytes.
        stride: u64,
    },
    /// A box of no or too many elements.
    #[error("box size {size} of dimension {dimension} is not between 1 and 256")]
    Box {
        /// Which dimension.
        dimension: usize,
        /// Its extent in elements.
        size: u32,
    },
    /// Rows of the box are no whole units.
    #[error("a row of the box has {bytes} bytes, which is no multiple of 16")]
    RowAlignment {
        /// Bytes of a row.
        bytes: u64,
    },
    /// Padded elements come in rows of one length only.
    #[error("{element} needs a box of 128 elements in dimension 0, not {size}")]
    PackedBox {
        /// The type.
        element: MapElement,
        /// The size given.
        size: u32,
    },
    /// A step of no or too many elements.
    #[error("element stride {stride} of dimension {dimension} is not between 1 and 8")]
    ElementStride {
        /// Which dimension.
        dimension: usize,
        /// Its step in elements.
        stride: u32,
    },
    /// A row that the swizzle cannot hold.
    #[error("a row of the box has {bytes} bytes, more than the {span} of its swizzle")]
    RowTooLong {
        /// Bytes of a row.
        bytes: u64,
        /// The most the swizzle takes.
        span: u32,
    },
    /// The driver knows one swizzle for groups of 32 bytes.
    #[error("interleave of 32 bytes needs the swizzle of 32 bytes")]
    InterleaveSwizzle,
    /// Integers have no NaN.
    #[error("{element} has no NaN to fill with; only floating-point types can be filled so")]
    NanFill {
        /// The type.
        element: MapElement,
    },
    /// Newer swizzles (refused by the driver of an H200).
    #[error("swizzles with units of 32 and 64 bytes exist on sm_100a only, not on {target}")]
    SwizzleUnit {
        /// The target.
        target: Target,
    },
    /// Newer element types.
    #[error("{element} exists on sm_100a only, not on {target}")]
    Element {
        /// The type.
        element: MapElement,
        /// The target.
        target: Target,
    },
}

impl TensorMap {
    /// Refuses what the driver would refuse.
    ///
    /// # Errors
    /// The first rule violated, in the order of the driver's parameters.
    pub fn validate(&self, target: Target) -> Result<(), MapRule> {
        self.check_target(target)?;
        if !(1..=MAX_RANK).contains(&self.rank) {
            return Err(MapRule::Rank { rank: self.rank });
        }
        if self.interleave != Interleave::None && self.rank < 3 {
            return Err(MapRule::InterleavedRank { rank: self.rank });
        }
        self.check_tensor()?;
        self.check_box()?;
        self.check_modes()
    }

    fn check_target(&self, target: Target) -> Result<(), MapRule> {
        if target < Target::Sm90a {
            return Err(MapRule::NoTensorMaps { target });
        }
        if target >= Target::Sm100a {
            return Ok(());
        }
        if self.element.is_sub_byte() {
            let element = self.element;
            return Err(MapRule::Element { element, target });
        }
        match self.swizzle {
            Swizzle::None | Swizzle::B32 | Swizzle::B64 | Swizzle::B128 => Ok(()),
            Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 | Swizzle::B128Atom64 => {
                Err(MapRule::SwizzleUnit { target })
            }
        }
    }

    fn check_tensor(&self) -> Result<(), MapRule> {
        let wide = self.interleave == Interleave::B32 || self.element.is_padded();
        let align = if wide { 32 } else { 16 };
        if !self.address.is_multiple_of(align) {
            return Err(MapRule::Address {
                address: self.address,
                align,
            });
        }
        for (dimension, &size) in self.sizes[..self.rank].iter().enumerate() {
            if !(1..=1 << 32).contains(&size) {
                return Err(MapRule::Size { dimension, size });
            }
        }
        let multiple = match self.element {
            MapElement::B4x16Align8 => 2,
            MapElement::B4x16Align16 | MapElement::B6x16Align16 => 128,
            _ => 1,
        };
        if !self.sizes[0].is_multiple_of(multiple) {
            return Err(MapRule::PackedSize {
                element: self.element,
                size: self.sizes[0],
                multiple,
            });
        }
        for (outer, &stride) in self.strides[..self.rank - 1].iter().enumerate() {
            let dimension = outer + 1;
            if !stride.is_multiple_of(align) {
                return Err(MapRule::StrideAlignment {
                    dimension,
                    stride,
                    align,
                });
            }
            if stride >= 1 << 40 {
                return Err(MapRule::Stride { dimension, stride });
            }
        }
        Ok(())
    }

    fn check_box(&self) -> Result<(), MapRule> {
        for (dimension, &size) in self.box_sizes[..self.rank].iter().enumerate() {
            if !(1..=256).contains(&size) {
                return Err(MapRule::Box { dimension, size });
            }
        }
        if self.element.is_padded() && self.box_sizes[0] != 128 {
            return Err(MapRule::PackedBox {
                element: self.element,
                size: self.box_sizes[0],
            });
        }
        let bits = u64::from(self.box_sizes[0]) * u64::from(self.element.bits());
        let plain = self.interleave == Interleave::None && !self.element.is_padded();
        if plain && !bits.is_multiple_of(128) {
            return Err(MapRule::RowAlignment { bytes: bits / 8 });
        }
        for (dimension, &stride) in self.element_strides[..self.rank].iter().enumerate() {
            if !(1..=8).contains(&stride) {
                return Err(MapRule::ElementStride { dimension, stride });
            }
        }
        Ok(())
    }

    fn check_modes(&self) -> Result<(), MapRule> {
        if self.interleave == Interleave::B32 && self.swizzle != Swizzle::B32 {
            return Err(MapRule::InterleaveSwizzle);
        }
        // Padding makes 128 bytes of every row of 128 padded elements.
        let bytes = if self.element.is_padded() {
            128
        } else {
            self.row_bytes()
        };
        if let Some(span) = self.swizzle.span_bytes()
            && self.interleave == Interleave::None
            && bytes > u64::from(span)
        {
            return Err(MapRule::RowTooLong { bytes, span });
        }
        if self.fill == Fill::Nan && !self.element.is_float() {
            return Err(MapRule::NanFill {
                element: self.element,
            });
        }
        Ok(())
    }
}
