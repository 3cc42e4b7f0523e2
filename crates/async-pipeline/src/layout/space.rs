//! Named axes of power-of-two sizes and points in them, packed into one word.

use std::ops::Range;

use super::LayoutError;

/// The name of an axis.
pub type Name = &'static str;

/// Values that one thread holds, counted in elements: two 16-bit elements in one 32-bit register
/// are two values of this axis, the low half first.
pub const REGISTER: Name = "register";
/// The lane of a thread in its warp, 0 to 31.
pub const LANE: Name = "lane";
/// The warp among those that share a tile.
pub const WARP: Name = "warp";
/// Rows of a tile.
pub const ROW: Name = "row";
/// Columns of a tile, in elements.
pub const COLUMN: Name = "column";
/// Bytes from the start of a buffer in shared memory.
pub const BYTE: Name = "byte";
/// Lanes of tensor memory, 0 to 127.
pub const TMEM_LANE: Name = "tmem_lane";
/// Columns of tensor memory, of 32 bits each.
pub const TMEM_COLUMN: Name = "tmem_column";
/// The CTA of a pair, 0 or 1.
pub const CTA: Name = "cta";
/// The copies that one thread issues, in order.
pub const COPY: Name = "copy";
/// Elements inside one copy.
pub const ELEMENT: Name = "element";

/// An axis: its name and how many bits an index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Its name.
    pub name: Name,
    /// The binary logarithm of its size.
    pub bits: u32,
}

impl Axis {
    /// How many indices there are.
    #[must_use]
    pub fn size(&self) -> u32 {
        1 << self.bits
    }
}

/// The bits of an index below `size`.
pub(super) fn bits_of(what: Name, size: u32) -> Result<u32, LayoutError> {
    if size.is_power_of_two() {
        return Ok(size.trailing_zeros());
    }
    Err(LayoutError::NotPowerOfTwo { what, got: size })
}

/// Axes in order; a point is packed with the first axis in the lowest bits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Space {
    axes: Vec<Axis>,
}

impl Space {
    pub(super) fn new(axes: &[(Name, u32)]) -> Result<Self, LayoutError> {
        let mut space = Self::default();
        for &(name, bits) in axes {
            if space.range(name).is_some() {
                return Err(LayoutError::Repeated { name });
            }
            space.axes.push(Axis { name, bits });
        }
        let bits = space.axes.iter().map(|axis| u64::from(axis.bits)).sum();
        if bits > 64 || space.axes.iter().any(|axis| axis.bits > 31) {
            return Err(LayoutError::TooManyBits { got: bits });
        }
        Ok(space)
    }

    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The bits of a packed point.
    pub(super) fn bits(&self) -> u32 {
        self.axes.iter().map(|axis| axis.bits).sum()
    }

    /// The size of an axis; 1 if there is none of that name.
    pub(super) fn size(&self, name: Name) -> u32 {
        1 << self.axis_bits(name)
    }

    /// The bits of an axis; 0 if there is none of that name.
    pub(super) fn axis_bits(&self, name: Name) -> u32 {
        self.range(name).map_or(0, |range| range.len() as u32)
    }

    /// Which bits of a packed point belong to an axis.
    pub(super) fn range(&self, name: Name) -> Option<Range<u32>> {
        let mut start = 0;
        for axis in &self.axes {
            if axis.name == name {
                return Some(start..start + axis.bits);
            }
            start += axis.bits;
        }
        None
    }

    /// A point from one coordinate per axis, in order.
    pub(super) fn pack(&self, coordinates: &[u32]) -> Result<u64, LayoutError> {
        let named: Vec<_> = self
            .axes
            .iter()
            .zip(coordinates)
            .map(|(axis, &coordinate)| (axis.name, coordinate))
            .collect();
        self.pack_named(&named)
    }

    /// A point from named coordinates; others are 0.
    pub(super) fn pack_named(&self, point: &[(Name, u32)]) -> Result<u64, LayoutError> {
        let mut packed = 0;
        for &(name, coordinate) in point {
            let range = self.range(name).ok_or_else(|| self.unknown(name))?;
            let size = self.size(name);
            if coordinate >= size {
                return Err(LayoutError::OutOfRange {
                    name,
                    got: coordinate,
                    size,
                });
            }
            packed |= shifted(coordinate, range.start);
        }
        Ok(packed)
    }

    /// One coordinate per axis, in order.
    pub(super) fn unpack(&self, packed: u64) -> Vec<u32> {
        let mut start = 0;
        self.axes
            .iter()
            .map(|axis| {
                let coordinate = field(packed, start, axis.bits);
                start += axis.bits;
                coordinate
            })
            .collect()
    }

    /// One coordinate of a packed point.
    pub(super) fn coordinate(&self, name: Name, packed: u64) -> Result<u32, LayoutError> {
        let range = self.range(name).ok_or_else(|| self.unknown(name))?;
        Ok(field(packed, range.start, range.len() as u32))
    }

    /// The point of this space with the same coordinates as `packed` of `other`, each multiplied by
    /// `2^shift(axis)`. Axes that this space lacks must be 0 there.
    pub(super) fn embed(&self, packed: u64, other: &Space, shift: impl Fn(Name) -> u32) -> u64 {
        let mut start = 0;
        let mut result = 0;
        for axis in &other.axes {
            let coordinate = field(packed, start, axis.bits);
            start += axis.bits;
            if let Some(range) = self.range(axis.name) {
                result |= shifted(coordinate, range.start + shift(axis.name));
            }
        }
        result
    }

    pub(super) fn unknown(&self, name: Name) -> LayoutError {
        LayoutError::UnknownAxis {
            name: name.to_owned(),
            known: self.names(),
        }
    }

    /// The names, for messages.
    pub(super) fn names(&self) -> String {
        let names: Vec<_> = self.axes.iter().map(|axis| axis.name).collect();
        names.join(", ")
    }
}

fn field(packed: u64, start: u32, bits: u32) -> u32 {
    if bits == 0 {
        return 0;
    }
    ((packed >> start) & ((1 << bits) - 1)) as u32
}

fn shifted(coordinate: u32, start: u32) -> u64 {
    if coordinate == 0 {
        return 0;
    }
    u64::from(coordinate) << start
}
