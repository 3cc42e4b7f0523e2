//! What `tcgen05.cp` copies where (PTX ISA 9.7.16.8.5; the source as in CUTLASS).

use super::shared_descriptor::SharedDescriptor;
use crate::formats::operand::Major;

/// The shape and multicast of a copy whose destination lanes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyShape {
    /// 128 rows of 32 bytes.
    S128x256b,
    /// 128 rows of 16 bytes.
    S128x128b,
    /// 64 rows of 16 bytes; rows go to lanes `row` and `row + 64`.
    S64x128bWarpx2x02x13,
    /// 64 rows of 16 bytes; rows 0–31 go to the first two warps' lanes, 32–63 to the others'.
    S64x128bWarpx2x01x23,
    /// 32 rows of 16 bytes, to the lanes of all four warps.
    S32x128bWarpx4,
}

impl CopyShape {
    /// The shape of the modifiers, such as `32x128b` with `warpx4`.
    pub fn from_modifiers(shape: &str, multicast: Option<&str>) -> Option<Self> {
        Some(match (shape, multicast) {
            ("128x256b", None) => Self::S128x256b,
            ("128x128b", None) => Self::S128x128b,
            ("64x128b", Some("warpx2::02_13")) => Self::S64x128bWarpx2x02x13,
            ("64x128b", Some("warpx2::01_23")) => Self::S64x128bWarpx2x01x23,
            ("32x128b", Some("warpx4")) => Self::S32x128bWarpx4,
            _ => return None,
        })
    }

    /// Rows that are read.
    pub fn rows(self) -> u32 {
        match self {
            Self::S128x256b | Self::S128x128b => 128,
            Self::S64x128bWarpx2x02x13 | Self::S64x128bWarpx2x01x23 => 64,
            Self::S32x128bWarpx4 => 32,
        }
    }

    /// Pieces of 16 bytes in a row.
    pub fn chunks(self) -> u32 {
        if self == Self::S128x256b { 2 } else { 1 }
    }

    /// Columns that are written: a column takes four bytes of a row.
    pub fn columns(self) -> u32 {
        4 * self.chunks()
    }

    /// The lanes to which a row goes.
    pub fn lanes(self, row: u32) -> impl Iterator<Item = u32> {
        let (first, step, count) = match self {
            Self::S128x256b | Self::S128x128b => (row, 0, 1),
            Self::S64x128bWarpx2x02x13 => (row, 64, 2),
            Self::S64x128bWarpx2x01x23 => (row / 32 * 64 + row % 32, 32, 2),
            Self::S32x128bWarpx4 => (row, 32, 4),
        };
        (0..count).map(move |copy| first + copy * step)
    }
}

/// The shared-memory address of a piece of 16 bytes of a row: the K-major layout of an operand of
/// bytes.
pub fn source_address(descriptor: &SharedDescriptor, row: u32, chunk: u32) -> u32 {
    descriptor
        .layout(Major::K, 16)
        .chunk_address(row, chunk * 16)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SHAPES: [CopyShape; 5] = [
        CopyShape::S128x256b,
        CopyShape::S128x128b,
        CopyShape::S64x128bWarpx2x02x13,
        CopyShape::S64x128bWarpx2x01x23,
        CopyShape::S32x128bWarpx4,
    ];

    #[test]
    fn every_lane_is_written_once() {
        for shape in SHAPES {
            let lanes: Vec<_> = (0..shape.rows()).flat_map(|row| shape.lanes(row)).collect();
            assert_eq!(lanes.len(), 128, "{shape:?}");
            assert_eq!(lanes.iter().collect::<BTreeSet<_>>().len(), 128);
        }
        let lanes = |shape: CopyShape, row| shape.lanes(row).collect::<Vec<_>>();
        assert_eq!(lanes(CopyShape::S64x128bWarpx2x02x13, 5), [5, 69]);
        assert_eq!(lanes(CopyShape::S64x128bWarpx2x01x23, 5), [5, 37]);
        assert_eq!(lanes(CopyShape::S64x128bWarpx2x01x23, 37), [69, 101]);
        assert_eq!(lanes(CopyShape::S32x128bWarpx4, 31), [31, 63, 95, 127]);
    }

    /// A block of scale factors, 32 rows of 16 bytes one after another, is read with SBO = 128.
    #[test]
    fn scale_factor_block() {
        let descriptor = SharedDescriptor::decode(0x4008_0000_0040).unwrap();
        assert_eq!((descriptor.start, descriptor.stride), (1024, 128));
        for row in 0..32 {
            assert_eq!(source_address(&descriptor, row, 0), 1024 + 16 * row);
        }
    }

    #[test]
    fn swizzled_rows_permute_their_chunks() {
        let descriptor = SharedDescriptor::decode(0x4000_4040_0000_0000).unwrap();
        assert_eq!(source_address(&descriptor, 1, 0), 128 + 16);
        assert_eq!(source_address(&descriptor, 9, 1), 1024 + 128);
        let pieces: BTreeSet<_> = (0..128)
            .flat_map(|row| (0..2).map(move |chunk| (row, chunk)))
            .map(|(row, chunk)| source_address(&descriptor, row, chunk))
            .collect();
        assert_eq!(pieces.len(), 256);
    }

    #[test]
    fn modifiers() {
        assert_eq!(
            CopyShape::from_modifiers("32x128b", Some("warpx4")),
            Some(CopyShape::S32x128bWarpx4)
        );
        assert_eq!(CopyShape::from_modifiers("32x128b", None), None);
        assert_eq!(CopyShape::from_modifiers("4x256b", None), None);
    }
}
