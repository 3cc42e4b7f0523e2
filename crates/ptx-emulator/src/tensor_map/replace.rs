//! Single fields of an encoded map: what `tensormap.replace` sets (PTX ISA, tensormap.replace).

use super::{
    MAX_RANK, MapElement, TensorMap,
    encode::{
        ADDRESS, BOX, ELEMENT, ELEMENT_STRIDES, FILL, INTERLEAVE, MAP_BYTES, MARK, Part, RANK, SET,
        SIZES, STRIDES, SWIZZLE_MODE, SWIZZLE_UNIT, get, put,
    },
};

/// Why a field cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// What is there is neither a map nor the zeros that a new one starts from.
    #[error(
        "tensormap.replace on 128 bytes that are neither a tensor map nor all zeros; make a map \
         from zeros or from a copy of another"
    )]
    NotAMap,
    /// A dimension that does not exist.
    #[error("{field} {ordinal} does not exist; the last one is {last}")]
    Ordinal {
        /// The field.
        field: Field,
        /// The dimension asked for.
        ordinal: u32,
        /// The last that exists.
        last: u32,
    },
    /// A value that the field cannot take.
    #[error("{field} cannot be {value}; expected {expected}")]
    Value {
        /// The field.
        field: Field,
        /// The value given.
        value: u64,
        /// What it takes.
        expected: &'static str,
    },
}

/// The fields that `tensormap.replace` sets (PTX ISA, tensormap.replace).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// `.global_address`: 64 bits.
    GlobalAddress,
    /// `.rank`: the number of dimensions minus 1.
    Rank,
    /// `.box_dim`, of one dimension: elements.
    BoxDim,
    /// `.global_dim`, of one dimension: elements.
    GlobalDim,
    /// `.global_stride` number n, that of dimension n + 1: bytes.
    GlobalStride,
    /// `.element_stride`, of one dimension: elements.
    ElementStride,
    /// `.elemtype`, in the numbering of this instruction.
    Elemtype,
    /// `.interleave_layout`.
    InterleaveLayout,
    /// `.swizzle_mode`.
    SwizzleMode,
    /// `.swizzle_atomicity`.
    SwizzleAtomicity,
    /// `.fill_mode`.
    FillMode,
}

impl Field {
    const NAMES: [(Self, &'static str); 11] = [
        (Self::GlobalAddress, "global_address"),
        (Self::Rank, "rank"),
        (Self::BoxDim, "box_dim"),
        (Self::GlobalDim, "global_dim"),
        (Self::GlobalStride, "global_stride"),
        (Self::ElementStride, "element_stride"),
        (Self::Elemtype, "elemtype"),
        (Self::InterleaveLayout, "interleave_layout"),
        (Self::SwizzleMode, "swizzle_mode"),
        (Self::SwizzleAtomicity, "swizzle_atomicity"),
        (Self::FillMode, "fill_mode"),
    ];

    /// The field of this name in PTX, without the dot.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(_, field)| *field == name)?;
        Some(found.0)
    }

    /// Whether the instruction names a dimension.
    pub fn has_ordinal(self) -> bool {
        self.count() > 1
    }

    /// Whether the new value has 64 bits; otherwise 32.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::GlobalAddress | Self::GlobalStride)
    }

    /// Whether the new value has to be a constant in the text.
    pub fn is_immediate(self) -> bool {
        use Field::*;
        matches!(
            self,
            Elemtype | InterleaveLayout | SwizzleMode | SwizzleAtomicity | FillMode
        )
    }

    /// How many there are of it.
    fn count(self) -> u32 {
        match self {
            Self::BoxDim | Self::GlobalDim | Self::ElementStride => MAX_RANK as u32,
            Self::GlobalStride => MAX_RANK as u32 - 1,
            _ => 1,
        }
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::NAMES.iter().find(|(field, _)| field == self);
        f.write_str(name.map_or("field", |(_, name)| name))
    }
}

impl TensorMap {
    /// Sets one field of an encoded map, or of 128 zeros that are to become one, as
    /// `tensormap.replace` does. `ordinal` is the dimension where the field has one. The driver's
    /// rules are not checked here: a map may break them until it is used.
    ///
    /// # Errors
    /// Bytes that are neither a map nor zeros, dimensions that do not exist, values that the field
    /// does not take.
    pub fn replace(
        bytes: &mut [u8; MAP_BYTES],
        field: Field,
        ordinal: u32,
        value: u64,
    ) -> Result<(), ReplaceError> {
        let fresh = bytes.iter().all(|byte| *byte == 0);
        if !fresh && bytes[..SET] != MARK {
            return Err(ReplaceError::NotAMap);
        }
        if ordinal >= field.count() {
            return Err(ReplaceError::Ordinal {
                field,
                ordinal,
                last: field.count() - 1,
            });
        }
        let part = write_field(bytes, field, ordinal as u8, value)?;
        bytes[..SET].copy_from_slice(&MARK);
        let set = u32::from_le_bytes(get(bytes, SET)) | part.map_or(0, Part::bit);
        put(bytes, SET, &set.to_le_bytes());
        Ok(())
    }
}

/// Writes a field and says which part of the map is set by that.
fn write_field(
    bytes: &mut [u8; MAP_BYTES],
    field: Field,
    n: u8,
    value: u64,
) -> Result<Option<Part>, ReplaceError> {
    let at = usize::from(n);
    let below = |limit: u64, expected| {
        if value < limit {
            return Ok(value as u8);
        }
        Err(ReplaceError::Value {
            field,
            value,
            expected,
        })
    };
    // 32-bit fields are given the value zero-extended.
    let word = (value as u32).to_le_bytes();
    match field {
        Field::GlobalAddress => put(bytes, ADDRESS, &value.to_le_bytes()),
        Field::Rank => bytes[RANK] = below(5, "0 to 4, the rank minus 1")? + 1,
        Field::BoxDim => put(bytes, BOX + 4 * at, &word),
        Field::GlobalDim => put(bytes, SIZES + 8 * at, &value.to_le_bytes()),
        Field::GlobalStride => put(bytes, STRIDES + 8 * at, &value.to_le_bytes()),
        Field::ElementStride => bytes[ELEMENT_STRIDES + at] = below(9, "1 to 8")?,
        Field::Elemtype => {
            let element = MapElement::from_replace_code(value).ok_or(ReplaceError::Value {
                field,
                value,
                expected: "0 to 15",
            })?;
            bytes[ELEMENT] = element.driver_code();
        }
        Field::InterleaveLayout => bytes[INTERLEAVE] = below(3, "0 to 2")?,
        Field::SwizzleMode => {
            let expected = "0 to 3 (mode 4, rows of 96 bytes, exists on sm_103a only)";
            bytes[SWIZZLE_MODE] = below(4, expected)?;
        }
        Field::SwizzleAtomicity => bytes[SWIZZLE_UNIT] = below(4, "0 to 3")?,
        Field::FillMode => bytes[FILL] = below(2, "0 or 1")?,
    }
    Ok(match field {
        Field::GlobalAddress => Some(Part::Address),
        Field::Rank => Some(Part::Rank),
        Field::BoxDim => Some(Part::Box(n)),
        Field::GlobalDim => Some(Part::Size(n)),
        Field::GlobalStride => Some(Part::Stride(n)),
        Field::ElementStride => Some(Part::ElementStride(n)),
        Field::Elemtype => Some(Part::Element),
        _ => None,
    })
}
