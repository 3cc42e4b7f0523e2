//! Operand tiles: bytes of shared memory or registers, decoded once to f32.

use super::dot::{Rule, least_exponent};
use super::narrow::{
    E2M1_VALUES, E2M3_VALUES, E3M2_VALUES, E4M3_VALUES, E5M2_VALUES, bf16_to_f32, f16_to_f32,
    tf32_operand,
};
use super::operand::{Chunk, Major, OperandLayout};

/// The element type of a matrix operand. Every value is exact in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    Bf16,
    /// An f32 whose low 13 bits are ignored.
    Tf32,
    /// 8-bit float.
    E4m3,
    /// 8-bit float.
    E5m2,
    /// 6-bit float; in shared memory 16 elements in 12 bytes, followed by 4 bytes of padding.
    E2m3,
    /// 6-bit float, as [`Element::E2m3`].
    E3m2,
    /// 4-bit float; in shared memory 16 elements in 8 bytes, followed by 8 bytes of padding.
    E2m1,
    /// 4-bit float, two in a byte without padding.
    E2m1Packed,
    /// Signed 8-bit integer.
    S8,
    /// Unsigned 8-bit integer.
    U8,
}

impl Element {
    /// How many elements 16 bytes of shared memory hold.
    #[must_use]
    pub const fn per_chunk(self) -> u32 {
        match self {
            Self::Tf32 => 4,
            Self::F16 | Self::Bf16 => 8,
            Self::E2m1Packed => 32,
            _ => 16,
        }
    }

    /// How many elements a 32-bit register holds. The narrower types take a byte each.
    #[must_use]
    pub const fn per_register(self) -> usize {
        match self {
            Self::Tf32 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::E2m1Packed => 8,
            _ => 4,
        }
    }

    /// Whether values are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::S8 | Self::U8)
    }

    /// The least exponent of a normal number: what subnormals count with when products are aligned.
    #[must_use]
    pub const fn least_exponent(self) -> i32 {
        match self {
            Self::F16 => least_exponent::F16,
            Self::E4m3 => least_exponent::E4M3,
            Self::E5m2 => least_exponent::E5M2,
            Self::E2m3 | Self::E2m1 | Self::E2m1Packed => least_exponent::E2M3,
            Self::E3m2 => least_exponent::E3M2,
            Self::Bf16 | Self::Tf32 | Self::S8 | Self::U8 => least_exponent::F32,
        }
    }

    /// Element `index`, from the low bits, of a register.
    #[must_use]
    #[inline]
    pub fn in_register(self, register: u32, index: usize) -> f32 {
        let byte = || (register >> (8 * (index & 3))) as u8;
        let half = || (register >> (16 * (index & 1))) as u16;
        match self {
            Self::F16 => f16_to_f32(half()),
            Self::Bf16 => bf16_to_f32(half()),
            Self::Tf32 => tf32_operand(register),
            Self::E4m3 => E4M3_VALUES[byte() as usize],
            Self::E5m2 => E5M2_VALUES[byte() as usize],
            Self::E2m3 => E2M3_VALUES[byte() as usize],
            Self::E3m2 => E3M2_VALUES[byte() as usize],
            // A 4-bit value in a byte stands above two zero bits (CUTLASS shifts it there for sm_120; not measured).
            Self::E2m1 => E2M1_VALUES[(byte() >> 2) as usize],
            Self::E2m1Packed => E2M1_VALUES[(register >> (4 * (index & 7)) & 15) as usize],
            Self::S8 => f32::from(byte() as i8),
            Self::U8 => f32::from(byte()),
        }
    }

    /// Decodes 16 bytes of shared memory, calling `put` with each element's index and value.
    #[inline]
    pub fn decode_chunk(self, bytes: [u8; 16], mut put: impl FnMut(usize, f32)) {
        let word = |index: usize| {
            let at = 4 * index;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        match self {
            Self::E2m3 | Self::E3m2 => {
                let values = if self == Self::E2m3 {
                    &E2M3_VALUES
                } else {
                    &E3M2_VALUES
                };
                // A little-endian stream of 6-bit elements (PTX ISA, b6x16_p32; the order of the bits is not measured).
                let stream = u128::from_le_bytes(bytes);
                for index in 0..16 {
                    put(index, values[(stream >> (6 * index) & 0x3f) as usize]);
                }
            }
            Self::E2m1 => {
                let stream = u128::from_le_bytes(bytes);
                for index in 0..16 {
                    put(index, E2M1_VALUES[(stream >> (4 * index) & 15) as usize]);
                }
            }
            _ => {
                let per_register = self.per_register();
                for index in 0..4 {
                    let word = word(index);
                    for element in 0..per_register {
                        put(
                            index * per_register + element,
                            self.in_register(word, element),
                        );
                    }
                }
            }
        }
    }

    /// The accumulation rule of `wgmma` and, but for 8-bit types, `mma.sync` with these operands.
    #[must_use]
    pub const fn hopper_rule(a: Self, b: Self) -> Rule {
        match a {
            Self::E4m3 | Self::E5m2 => {
                Rule::wgmma_eight_bit(a.least_exponent(), b.least_exponent())
            }
            _ => Rule::wide(a.least_exponent(), b.least_exponent()),
        }
    }
}

/// A decoded operand: `rows` (rows of A or columns of B) × `depth` (K) values, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandTile {
    /// Rows of A, or columns of B.
    pub rows: usize,
    /// Extent in K.
    pub depth: usize,
    /// The values; element (row, k) is at `row * depth + k`.
    pub values: Vec<f32>,
}

impl OperandTile {
    /// A tile of zeros.
    #[must_use]
    pub fn zeros(rows: usize, depth: usize) -> Self {
        Self {
            rows,
            depth,
            values: vec![0.0; rows * depth],
        }
    }

    /// Reads and decodes an operand of shared memory; `read` gives the 16 bytes at an address.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn load<E>(
        layout: &OperandLayout,
        element: Element,
        rows: usize,
        depth: usize,
        mut read: impl FnMut(u32) -> Result<[u8; 16], E>,
    ) -> Result<Self, E> {
        let mut tile = Self::zeros(rows, depth);
        for chunk in layout.chunks(rows as u32, depth as u32) {
            tile.put_chunk(layout.major, element, chunk, read(chunk.address)?);
        }
        Ok(tile)
    }

    /// Decodes one chunk into its place. Elements outside the tile are dropped.
    pub fn put_chunk(&mut self, major: Major, element: Element, chunk: Chunk, bytes: [u8; 16]) {
        let first = chunk.mn as usize * self.depth + chunk.k as usize;
        let step = match major {
            Major::K => 1,
            Major::Mn => self.depth,
        };
        element.decode_chunk(bytes, |index, value| {
            if let Some(place) = self.values.get_mut(first + index * step) {
                *place = value;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::swizzle::Swizzle;
    use std::convert::Infallible;

    #[test]
    fn registers_hold_elements_from_the_low_bits() {
        assert_eq!(Element::F16.in_register(0x4000_3c00, 0), 1.0);
        assert_eq!(Element::F16.in_register(0x4000_3c00, 1), 2.0);
        assert_eq!(Element::Bf16.in_register(0x4000_3f80, 1), 2.0);
        assert_eq!(Element::S8.in_register(0xff80_7f01, 3), -1.0);
        assert_eq!(Element::S8.in_register(0xff80_7f01, 2), -128.0);
        assert_eq!(Element::U8.in_register(0xff80_7f01, 3), 255.0);
        assert_eq!(Element::E4m3.in_register(0x0000_3800, 1), 1.0);
        assert_eq!(Element::E5m2.in_register(0x3c00_0000, 3), 1.0);
        assert_eq!(Element::E2m1Packed.in_register(0x7000_0000, 7), 6.0);
        assert_eq!(Element::E2m1.in_register(0x0000_001c, 0), 6.0);
    }

    /// Measured: the low 13 bits of a tf32 operand are ignored, and a NaN that has nothing else acts as infinity.
    #[test]
    fn tf32_is_cut() {
        assert_eq!(Element::Tf32.in_register(0x3f80_1fff, 0), 1.0);
        assert_eq!(
            Element::Tf32.in_register(0x3f80_3000, 0).to_bits(),
            0x3f80_2000
        );
        assert_eq!(Element::Tf32.in_register(0x7f80_0001, 0), f32::INFINITY);
    }

    #[test]
    fn padded_types_leave_their_padding_alone() {
        let mut bytes = [0xff; 16];
        bytes[..8].copy_from_slice(&0x7654_3210_7654_3210u64.to_le_bytes());
        let mut seen = vec![];
        Element::E2m1.decode_chunk(bytes, |_, value| seen.push(value));
        assert_eq!(seen[..8], [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!((seen.len(), &seen[8..]), (16, &seen[..8]));
        let stream = (0..16u128).fold(0, |stream, index| stream | index << (6 * index));
        let mut seen = vec![];
        Element::E2m3.decode_chunk((stream | u128::MAX << 96).to_le_bytes(), |_, value| {
            seen.push(value)
        });
        assert_eq!(
            (seen[0], seen[1], seen[8], seen[15]),
            (0.0, 0.125, 1.0, 1.875)
        );
    }

    /// A tile stored in either direction is read back as the same matrix.
    #[test]
    fn both_directions_load_the_same_matrix() {
        for (major, leading, stride) in [(Major::K, 16, 1024), (Major::Mn, 2048, 1024)] {
            let layout = OperandLayout {
                start: 1024,
                leading,
                stride,
                base_offset: 0,
                swizzle: Swizzle::Span128,
                major,
                chunk_elements: 8,
            };
            let mut memory = vec![0u8; 1 << 16];
            let value = |mn: u32, k: u32| (mn * 16 + k) as f32;
            for mn in 0..64 {
                for k in 0..16 {
                    let at = layout.element_address(mn, k) as usize;
                    let half = (value(mn, k).to_bits() >> 16) as u16;
                    // bf16 holds the integers below 256; beyond them both sides cut alike.
                    memory[at..at + 2].copy_from_slice(&half.to_le_bytes());
                }
            }
            let tile = OperandTile::load(&layout, Element::Bf16, 64, 16, |address| {
                let at = address as usize;
                Ok::<_, Infallible>(memory[at..at + 16].try_into().expect("16 bytes"))
            });
            let Ok(tile) = tile;
            for mn in 0..64 {
                for k in 0..16 {
                    let expected = f32::from_bits(value(mn, k).to_bits() & 0xffff_0000);
                    assert_eq!(
                        tile.values[(mn * 16 + k) as usize],
                        expected,
                        "{major:?} {mn} {k}"
                    );
                }
            }
        }
    }
}
