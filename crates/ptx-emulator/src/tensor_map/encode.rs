//! A tensor map as 128 bytes.
//!
//! The real encoding is the hardware's secret, so this one is ours. It records which fields have
//! been set: a map made on the device starts from 128 zero bytes, and is one as soon as every
//! field without a default has been replaced.
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | the mark [`MARK`] |
//! | 8–11 | one bit for each of [`Part`]: it has been set |
//! | 12–18 | element type, rank, interleave, swizzle mode, swizzle unit, fill, L2 promotion |
//! | 19–23 | element strides |
//! | 24–31 | address |
//! | 32–71 | sizes |
//! | 72–103 | strides |
//! | 104–123 | box |

use super::{Fill, Interleave, L2Promotion, MAX_RANK, MapElement, Swizzle, TensorMap};

/// The size of a tensor map (CUDA driver API, `CUtensorMap`).
pub const MAP_BYTES: usize = 128;

/// Tells a map from other bytes: neither text nor a plausible number.
pub(super) const MARK: [u8; 8] = *b"\xf7TMAP\x01\x7f\xf7";

pub(super) const SET: usize = 8;
pub(super) const ELEMENT: usize = 12;
pub(super) const RANK: usize = 13;
pub(super) const INTERLEAVE: usize = 14;
pub(super) const SWIZZLE_MODE: usize = 15;
pub(super) const SWIZZLE_UNIT: usize = 16;
pub(super) const FILL: usize = 17;
const L2_PROMOTION: usize = 18;
pub(super) const ELEMENT_STRIDES: usize = 19;
pub(super) const ADDRESS: usize = 24;
pub(super) const SIZES: usize = 32;
pub(super) const STRIDES: usize = 72;
pub(super) const BOX: usize = 104;

/// Why 128 bytes are no tensor map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// Nothing was written there.
    #[error("the tensor map is all zeros; it was neither encoded nor made by tensormap.replace")]
    Zero,
    /// Something else is there.
    #[error("the 128 bytes are no tensor map; is this its address, and was all of it copied?")]
    NotAMap,
    /// A map made on the device lacks a field.
    #[error("the tensor map made by tensormap.replace has no {part} yet")]
    Incomplete {
        /// What is missing.
        part: Part,
    },
    /// A map that an ordinary store has damaged.
    #[error("the tensor map's {what} has the meaningless value {value}; was it overwritten?")]
    Damaged {
        /// Which field.
        what: &'static str,
        /// What it holds.
        value: u8,
    },
    /// Swizzle mode and swizzle unit that do not go together.
    #[error("swizzle units other than 16 bytes need the swizzle of 128 bytes")]
    SwizzleUnit,
}

/// A field of a map without a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Where the tensor starts.
    Address,
    /// Number of dimensions.
    Rank,
    /// Type of the elements.
    Element,
    /// Box size of a dimension.
    Box(u8),
    /// Size of a dimension.
    Size(u8),
    /// Step of a dimension.
    ElementStride(u8),
    /// Stride number n, that of dimension n + 1.
    Stride(u8),
}

impl Part {
    pub(super) fn bit(self) -> u32 {
        let index = match self {
            Self::Address => 0,
            Self::Rank => 1,
            Self::Element => 2,
            Self::Box(n) => 3 + n,
            Self::Size(n) => 8 + n,
            Self::ElementStride(n) => 13 + n,
            Self::Stride(n) => 18 + n,
        };
        1 << index
    }

    /// What a map of this rank needs, in the order in which it is asked for.
    fn needed(rank: usize) -> impl Iterator<Item = Self> {
        let rank = rank.min(MAX_RANK) as u8;
        let of_dimension = (0..rank)
            .flat_map(|n| [Self::Box(n), Self::Size(n), Self::ElementStride(n)].into_iter());
        [Self::Rank, Self::Address, Self::Element]
            .into_iter()
            .chain(of_dimension)
            .chain((1..rank).map(|n| Self::Stride(n - 1)))
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address => f.write_str("global_address"),
            Self::Rank => f.write_str("rank"),
            Self::Element => f.write_str("elemtype"),
            Self::Box(n) => write!(f, "box_dim {n}"),
            Self::Size(n) => write!(f, "global_dim {n}"),
            Self::ElementStride(n) => write!(f, "element_stride {n}"),
            Self::Stride(n) => write!(f, "global_stride {n}"),
        }
    }
}

impl TensorMap {
    /// The map as the bytes that a kernel's parameter holds.
    pub fn encode(&self) -> [u8; MAP_BYTES] {
        let mut bytes = [0; MAP_BYTES];
        bytes[..SET].copy_from_slice(&MARK);
        let set = Part::needed(self.rank).map(Part::bit).sum::<u32>();
        put(&mut bytes, SET, &set.to_le_bytes());
        bytes[ELEMENT] = self.element.driver_code();
        bytes[RANK] = self.rank as u8;
        bytes[INTERLEAVE] = self.interleave as u8;
        (bytes[SWIZZLE_MODE], bytes[SWIZZLE_UNIT]) = swizzle_codes(self.swizzle);
        bytes[FILL] = self.fill.driver_code() as u8;
        bytes[L2_PROMOTION] = self.l2_promotion as u8;
        for n in 0..MAX_RANK {
            // Larger ones are no valid steps, and neither is 255.
            bytes[ELEMENT_STRIDES + n] = self.element_strides[n].min(255) as u8;
            put(&mut bytes, SIZES + 8 * n, &self.sizes[n].to_le_bytes());
            put(&mut bytes, BOX + 4 * n, &self.box_sizes[n].to_le_bytes());
        }
        for (n, stride) in self.strides.iter().enumerate() {
            put(&mut bytes, STRIDES + 8 * n, &stride.to_le_bytes());
        }
        put(&mut bytes, ADDRESS, &self.address.to_le_bytes());
        bytes
    }

    /// Reads a map back. Its values are judged by [`TensorMap::validate`].
    ///
    /// # Errors
    /// Bytes that are no map, and maps made on the device that are not complete.
    pub fn decode(bytes: &[u8; MAP_BYTES]) -> Result<Self, MapError> {
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(MapError::Zero);
        }
        if bytes[..SET] != MARK {
            return Err(MapError::NotAMap);
        }
        let rank = usize::from(bytes[RANK]);
        let set = u32::from_le_bytes(get(bytes, SET));
        let missing = Part::needed(rank).find(|part| set & part.bit() == 0);
        if let Some(part) = missing {
            return Err(MapError::Incomplete { part });
        }
        let mut map = Self {
            element: known(bytes, ELEMENT, "elemtype", MapElement::from_driver_code)?,
            rank,
            address: u64::from_le_bytes(get(bytes, ADDRESS)),
            sizes: [0; MAX_RANK],
            strides: [0; MAX_RANK - 1],
            box_sizes: [0; MAX_RANK],
            element_strides: [0; MAX_RANK],
            interleave: known(
                bytes,
                INTERLEAVE,
                "interleave",
                Interleave::from_driver_code,
            )?,
            swizzle: decode_swizzle(bytes)?,
            l2_promotion: known(
                bytes,
                L2_PROMOTION,
                "L2 promotion",
                L2Promotion::from_driver_code,
            )?,
            fill: known(bytes, FILL, "fill mode", fill_from_code)?,
        };
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(damaged(bytes, RANK, "rank"));
        }
        for n in 0..rank {
            map.sizes[n] = u64::from_le_bytes(get(bytes, SIZES + 8 * n));
            map.box_sizes[n] = u32::from_le_bytes(get(bytes, BOX + 4 * n));
            map.element_strides[n] = u32::from(bytes[ELEMENT_STRIDES + n]);
        }
        for n in 0..rank - 1 {
            map.strides[n] = u64::from_le_bytes(get(bytes, STRIDES + 8 * n));
        }
        Ok(map)
    }
}

/// `.swizzle_mode` and `.swizzle_atomicity` of a swizzle.
fn swizzle_codes(swizzle: Swizzle) -> (u8, u8) {
    match swizzle {
        Swizzle::None => (0, 0),
        Swizzle::B32 => (1, 0),
        Swizzle::B64 => (2, 0),
        Swizzle::B128 => (3, 0),
        Swizzle::B128Atom32 => (3, 1),
        Swizzle::B128Atom32Flip8 => (3, 2),
        Swizzle::B128Atom64 => (3, 3),
    }
}

fn decode_swizzle(bytes: &[u8; MAP_BYTES]) -> Result<Swizzle, MapError> {
    Ok(match (bytes[SWIZZLE_MODE], bytes[SWIZZLE_UNIT]) {
        (0, 0) => Swizzle::None,
        (1, 0) => Swizzle::B32,
        (2, 0) => Swizzle::B64,
        (3, 0) => Swizzle::B128,
        (3, 1) => Swizzle::B128Atom32,
        (3, 2) => Swizzle::B128Atom32Flip8,
        (3, 3) => Swizzle::B128Atom64,
        (0..=2, 1..=3) => return Err(MapError::SwizzleUnit),
        (0..=3, _) => return Err(damaged(bytes, SWIZZLE_UNIT, "swizzle unit")),
        _ => return Err(damaged(bytes, SWIZZLE_MODE, "swizzle mode")),
    })
}

fn fill_from_code(code: u32) -> Option<Fill> {
    [Fill::Zero, Fill::Nan]
        .into_iter()
        .find(|fill| fill.driver_code() == code)
}

fn known<T>(
    bytes: &[u8; MAP_BYTES],
    at: usize,
    what: &'static str,
    from: impl Fn(u32) -> Option<T>,
) -> Result<T, MapError> {
    from(u32::from(bytes[at])).ok_or(damaged(bytes, at, what))
}

fn damaged(bytes: &[u8; MAP_BYTES], at: usize, what: &'static str) -> MapError {
    MapError::Damaged {
        what,
        value: bytes[at],
    }
}

/// Copies a field in; all places are constants within the map.
pub(super) fn put(bytes: &mut [u8; MAP_BYTES], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

pub(super) fn get<const N: usize>(bytes: &[u8; MAP_BYTES], at: usize) -> [u8; N] {
    let mut value = [0; N];
    value.copy_from_slice(&bytes[at..at + N]);
    value
}
