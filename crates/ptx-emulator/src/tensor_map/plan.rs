//! Which bytes a copy of a box moves: from the map, the coordinates and the address in shared
//! memory to runs of bytes.
//!
//! Rows of the box follow each other in shared memory `pitch` bytes apart, dimension 0 fastest,
//! and the swizzle permutes the units of each by the absolute address (measured on an H200).

use std::ops::Range;

use super::{Fill, Interleave, MAX_RANK, MapElement, Swizzle, TensorMap, element::round_tf32};
use crate::formats::swizzle;

/// More than any CTA's shared memory holds, in bytes.
const MAX_FOOTPRINT: u64 = 1 << 18;

/// Shared addresses of one CTA, in bytes: above are the bits of the CTA's rank.
const WINDOW: u64 = 1 << 24;

/// Where boxes start in shared memory: multiples of this many bytes (PTX ISA,
/// cp.async.bulk.tensor).
const SHARED_ALIGN: u32 = 128;

/// In units of how many bytes coordinates of dimension 0 count and the ends of stored rows are
/// clipped (measured on an H200).
const UNIT: u64 = 16;

/// Which way a copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From global to shared memory.
    Load,
    /// From shared to global memory, reductions included.
    Store,
}

/// Why a copy cannot be carried out. On an H200 the first kinds end the kernel with "illegal
/// instruction".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The number of coordinates is not the map's rank.
    #[error("{given} coordinates for a tensor map of {rank} dimensions")]
    Coordinates {
        /// How many the instruction has.
        given: usize,
        /// How many dimensions the map has.
        rank: usize,
    },
    /// The box would start inside a unit.
    #[error(
        "coordinate {coordinate} of dimension 0 is {bytes} bytes from the row's start, which is \
         no multiple of 16"
    )]
    Unaligned {
        /// The coordinate in elements.
        coordinate: i32,
        /// The same in bytes.
        bytes: i64,
    },
    /// Only loads may start before the tensor.
    #[error("coordinate {coordinate} of dimension {dimension} is negative, which a store may not")]
    NegativeStore {
        /// Which dimension.
        dimension: usize,
        /// The coordinate.
        coordinate: i32,
    },
    /// The box in shared memory is not aligned.
    #[error("the box's address {address:#x} in shared memory is no multiple of 128 bytes")]
    SharedAlignment {
        /// The address in the CTA's window.
        address: u32,
    },
    /// The box does not fit into shared memory.
    #[error("a box of {bytes} bytes at {address:#x} does not fit into shared memory")]
    TooLarge {
        /// The address in the CTA's window.
        address: u32,
        /// Bytes from the first to the last, gaps included.
        bytes: u64,
    },
    /// Strides lead beyond 64 bits.
    #[error("the box reaches beyond the largest address")]
    AddressOverflow,
    /// Something the emulator does not do.
    #[error("tensor copies {0} are not supported")]
    Unsupported(String),
}

/// Consecutive bytes of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// The address in the CTA's shared window.
    pub shared: u32,
    /// How many bytes.
    pub bytes: u32,
    /// The address in global memory; none for elements outside the tensor, which are filled.
    pub global: Option<u64>,
}

/// A copy of one box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What is moved, in the order of the box. Runs do not overlap in shared memory.
    pub runs: Vec<Run>,
    /// What a load reports to the barrier of each destination.
    pub complete_bytes: u32,
    /// The type of the elements.
    pub element: MapElement,
    /// What elements outside the tensor are filled with.
    pub fill: Fill,
}

impl Plan {
    /// Plans the copy of the box at these coordinates (elements, innermost first) to or from this
    /// address in a CTA's shared window. The map has to be valid ([`TensorMap::validate`]).
    ///
    /// # Errors
    /// See [`CopyError`]; whether the addresses exist is for memory to say.
    pub fn new(
        map: &TensorMap,
        coordinates: &[i32],
        shared: u32,
        direction: Direction,
    ) -> Result<Self, CopyError> {
        supported(map)?;
        let rows = Rows::new(map, coordinates, direction)?;
        if !shared.is_multiple_of(SHARED_ALIGN) {
            return Err(CopyError::SharedAlignment { address: shared });
        }
        let footprint = map.rows().saturating_mul(map.pitch_bytes());
        if footprint > MAX_FOOTPRINT || u64::from(shared) + footprint > WINDOW {
            return Err(CopyError::TooLarge {
                address: shared,
                bytes: footprint,
            });
        }
        let mut plan = Self {
            runs: Vec::new(),
            // Not more than the footprint, which fits.
            complete_bytes: map.bytes_per_box() as u32,
            element: map.element,
            fill: map.fill,
        };
        let permutation = Permutation::new(map.swizzle);
        let pitch = map.pitch_bytes() as u32;
        let row_bytes = map.row_bytes();
        rows.for_each(|row, global| {
            let start = shared + row * pitch;
            let mut add = |bytes: Range<u64>, global| plan.add(permutation, start, bytes, global);
            let inside = match global {
                Some(_) => rows.inside.clone(),
                None => 0..0,
            };
            match (direction, global) {
                (Direction::Load, _) if inside.is_empty() => add(0..row_bytes, None),
                (Direction::Load, _) => {
                    add(0..inside.start, None);
                    add(inside.clone(), global);
                    add(inside.end..row_bytes, None);
                }
                (Direction::Store, _) => {
                    // An H200 drops only whole units beyond the end: a row of 31 f32 elements
                    // stored from a box of 64 is overrun by one element.
                    let end = inside.end.next_multiple_of(UNIT).min(row_bytes);
                    add(inside.start..end, global);
                }
            }
        })?;
        Ok(plan)
    }

    /// The copy of `bytes` consecutive bytes, without a map.
    pub fn linear(shared: u32, global: u64, bytes: u32) -> Self {
        let run = Run {
            shared,
            bytes,
            global: Some(global),
        };
        Self {
            runs: if bytes == 0 { Vec::new() } else { vec![run] },
            complete_bytes: bytes,
            element: MapElement::U8,
            fill: Fill::Zero,
        }
    }

    /// Adds the bytes of a row that begins at `start` in shared memory; `global` is where the
    /// first of them lies.
    fn add(
        &mut self,
        permutation: Permutation,
        start: u32,
        bytes: Range<u64>,
        global: Option<u64>,
    ) {
        let (mut at, end) = (bytes.start as u32, bytes.end as u32);
        let first = at;
        while at < end {
            let linear = start + at;
            let left = permutation.unit - linear % permutation.unit;
            let run = Run {
                shared: permutation.swizzle.apply(linear),
                bytes: left.min(end - at),
                global: global.map(|address| address + u64::from(at - first)),
            };
            at += run.bytes;
            match self.runs.last_mut() {
                Some(last) if continues(last, &run) => last.bytes += run.bytes,
                _ => self.runs.push(run),
            }
        }
    }

    /// The bytes of shared memory touched, in order and merged.
    pub fn shared_ranges(&self) -> Vec<Range<u32>> {
        let runs = self.runs.iter();
        merged(runs.map(|run| run.shared..run.shared + run.bytes).collect())
    }

    /// The bytes of global memory touched, in order and merged.
    pub fn global_ranges(&self) -> Vec<Range<u64>> {
        let runs = self.runs.iter();
        merged(
            runs.filter_map(|run| {
                let start = run.global?;
                Some(start..start.saturating_add(u64::from(run.bytes)))
            })
            .collect(),
        )
    }

    /// Fills a run outside the tensor: zeros, or 7ff7 in every 16 bits (measured on an H200).
    pub fn fill(&self, bytes: &mut [u8]) {
        match self.fill {
            Fill::Zero => bytes.fill(0),
            Fill::Nan => {
                for pair in bytes.chunks_mut(2) {
                    pair.copy_from_slice(&0x7ff7_u16.to_le_bytes()[..pair.len()]);
                }
            }
        }
    }

    /// What becomes of a run's elements when they are loaded: TF32 types are rounded, all others
    /// stay as they are (measured on an H200).
    pub fn convert_loaded(&self, bytes: &mut [u8]) {
        if !self.element.rounds_on_load() {
            return;
        }
        for word in bytes.chunks_exact_mut(4) {
            let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word.copy_from_slice(&round_tf32(bits).to_le_bytes());
        }
    }
}

fn continues(last: &Run, next: &Run) -> bool {
    let touches = last.shared + last.bytes == next.shared;
    let same = match (last.global, next.global) {
        (Some(last_at), Some(next_at)) => last_at + u64::from(last.bytes) == next_at,
        (None, None) => true,
        _ => false,
    };
    touches && same
}

fn merged<T: Ord + Copy>(mut ranges: Vec<Range<T>>) -> Vec<Range<T>> {
    ranges.sort_by_key(|range| range.start);
    let mut list: Vec<Range<T>> = Vec::new();
    for range in ranges {
        match list.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => list.push(range),
        }
    }
    list
}

fn supported(map: &TensorMap) -> Result<(), CopyError> {
    let what = if map.interleave != Interleave::None {
        "of interleaved tensors".to_owned()
    } else if map.element.is_sub_byte() {
        format!("of {} elements", map.element)
    } else if map.swizzle == Swizzle::B128Atom32Flip8 {
        "with the swizzle 128B_ATOM_32B_FLIP_8B".to_owned()
    } else {
        return Ok(());
    };
    Err(CopyError::Unsupported(what))
}

/// How a swizzle permutes shared addresses.
#[derive(Debug, Clone, Copy)]
struct Permutation {
    swizzle: swizzle::Swizzle,
    /// Aligned groups of this many bytes stay together.
    unit: u32,
}

impl Permutation {
    fn new(mode: Swizzle) -> Self {
        use swizzle::Swizzle as Pattern;
        let (swizzle, unit) = match mode {
            Swizzle::None => (Pattern::None, u32::MAX),
            Swizzle::B32 => (Pattern::Span32, 16),
            Swizzle::B64 => (Pattern::Span64, 16),
            Swizzle::B128 => (Pattern::Span128, 16),
            Swizzle::B128Atom32 => (Pattern::Span128Atom32, 32),
            Swizzle::B128Atom32Flip8 => (Pattern::Span128Atom32Flip8, 8),
            Swizzle::B128Atom64 => (Pattern::Span128Atom64, 64),
        };
        Self { swizzle, unit }
    }
}

/// The rows of a box and what of them lies in the tensor.
struct Rows<'a> {
    map: &'a TensorMap,
    coordinates: [i64; MAX_RANK],
    /// The bytes of every row that lie in the tensor as far as dimension 0 is concerned.
    inside: Range<u64>,
}

impl<'a> Rows<'a> {
    fn new(
        map: &'a TensorMap,
        coordinates: &[i32],
        direction: Direction,
    ) -> Result<Self, CopyError> {
        if coordinates.len() != map.rank {
            return Err(CopyError::Coordinates {
                given: coordinates.len(),
                rank: map.rank,
            });
        }
        let negative = coordinates.iter().position(|coordinate| *coordinate < 0);
        if let (Direction::Store, Some(dimension)) = (direction, negative) {
            return Err(CopyError::NegativeStore {
                dimension,
                coordinate: coordinates[dimension],
            });
        }
        let element_bytes = i64::from(map.element.bits() / 8);
        let mut wide = [0; MAX_RANK];
        for (to, from) in wide.iter_mut().zip(coordinates) {
            *to = i64::from(*from);
        }
        let bytes = wide[0] * element_bytes;
        if bytes % UNIT as i64 != 0 {
            return Err(CopyError::Unaligned {
                coordinate: coordinates[0],
                bytes,
            });
        }
        let taken = i64::from(map.taken(0));
        let size = i64::try_from(map.sizes[0]).unwrap_or(i64::MAX);
        let low = (-wide[0]).clamp(0, taken);
        let high = (size - wide[0]).clamp(low, taken);
        Ok(Self {
            map,
            coordinates: wide,
            inside: (low * element_bytes) as u64..(high * element_bytes) as u64,
        })
    }

    /// Calls `act` with each row's number and the global address of its first byte inside the
    /// tensor, if it has one.
    fn for_each(&self, mut act: impl FnMut(u32, Option<u64>)) -> Result<(), CopyError> {
        let map = self.map;
        let mut step = [0_u32; MAX_RANK];
        for row in 0..map.rows() {
            act(row as u32, self.address(&step)?);
            for (dimension, step) in step.iter_mut().enumerate().take(map.rank).skip(1) {
                *step += 1;
                if *step < map.taken(dimension) {
                    break;
                }
                *step = 0;
            }
        }
        Ok(())
    }

    fn address(&self, step: &[u32; MAX_RANK]) -> Result<Option<u64>, CopyError> {
        if self.inside.is_empty() {
            return Ok(None);
        }
        let map = self.map;
        let before = self.coordinates[0].max(0).unsigned_abs();
        let mut address = u128::from(map.address);
        address += u128::from(before) * u128::from(map.element.bits() / 8);
        for (dimension, &step) in step.iter().enumerate().take(map.rank).skip(1) {
            let stepped = i64::from(step) * i64::from(map.element_strides[dimension]);
            let Ok(at) = u64::try_from(self.coordinates[dimension] + stepped) else {
                return Ok(None);
            };
            if at >= map.sizes[dimension] {
                return Ok(None);
            }
            address += u128::from(at) * u128::from(map.strides[dimension - 1]);
        }
        // The whole row has to have addresses.
        let last = address + u128::from(map.row_bytes());
        if last > u128::from(u64::MAX) {
            return Err(CopyError::AddressOverflow);
        }
        Ok(Some(address as u64))
    }
}
