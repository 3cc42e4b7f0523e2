//! The element types of tensor maps, with the two numberings that exist for them.

use std::fmt;

use super::reduce::ReduceType;

/// The type of a tensor's elements (`CUtensorMapDataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapElement {
    /// Unsigned 8 bits; also stands for signed ones and 8-bit floats.
    U8,
    /// Unsigned 16 bits.
    U16,
    /// Unsigned 32 bits.
    U32,
    /// Signed 32 bits.
    S32,
    /// Unsigned 64 bits.
    U64,
    /// Signed 64 bits.
    S64,
    /// IEEE half precision.
    F16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// bfloat16.
    Bf16,
    /// Single precision whose reductions flush subnormal numbers. Loads copy it bit for bit.
    F32Ftz,
    /// Single precision that loads round to TF32.
    Tf32,
    /// As [`MapElement::Tf32`]; no difference was seen on an H200.
    Tf32Ftz,
    /// Four bits, packed without padding.
    B4x16Align8,
    /// Four bits; 16 of them take 16 bytes of shared memory.
    B4x16Align16,
    /// Six bits; 16 of them take 16 bytes of shared memory.
    B6x16Align16,
}

impl MapElement {
    /// All types, in the order of the driver's numbers (CUDA driver API, `cuda.h`).
    pub const ALL: [Self; 16] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::S32,
        Self::U64,
        Self::S64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bf16,
        Self::F32Ftz,
        Self::Tf32,
        Self::Tf32Ftz,
        Self::B4x16Align8,
        Self::B4x16Align16,
        Self::B6x16Align16,
    ];

    /// The type of this number of the driver.
    pub fn from_driver_code(code: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The number of the driver.
    pub fn driver_code(self) -> u8 {
        self as u8
    }

    /// The type of this immediate of `tensormap.replace` on `.elemtype`, whose numbers differ from
    /// the driver's in places 8 to 10 (PTX ISA, tensormap.replace).
    pub fn from_replace_code(code: u64) -> Option<Self> {
        match code {
            8 => Some(Self::F32Ftz),
            9 => Some(Self::F64),
            10 => Some(Self::Bf16),
            _ => Self::from_driver_code(u32::try_from(code).ok()?),
        }
    }

    /// Bits of an element in global memory.
    pub fn bits(self) -> u32 {
        match self {
            Self::U8 => 8,
            Self::U16 | Self::F16 | Self::Bf16 => 16,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 32,
            Self::U64 | Self::S64 | Self::F64 => 64,
            Self::B4x16Align8 | Self::B4x16Align16 => 4,
            Self::B6x16Align16 => 6,
        }
    }

    /// Whether elements are smaller than a byte.
    pub fn is_sub_byte(self) -> bool {
        self.bits() < 8
    }

    /// Whether shared memory holds padding between groups of 16 elements.
    pub fn is_padded(self) -> bool {
        matches!(self, Self::B4x16Align16 | Self::B6x16Align16)
    }

    /// Whether elements outside the tensor may be filled with NaN.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16
                | Self::F32
                | Self::F64
                | Self::Bf16
                | Self::F32Ftz
                | Self::Tf32
                | Self::Tf32Ftz
        )
    }

    /// Whether loads round elements to TF32 instead of copying them bit for bit (measured on an
    /// H200).
    pub fn rounds_on_load(self) -> bool {
        matches!(self, Self::Tf32 | Self::Tf32Ftz)
    }

    /// As what type a reduction of such a tensor treats the elements; none for types that have no
    /// reductions.
    pub fn reduce_type(self) -> Option<ReduceType> {
        Some(match self {
            Self::U32 => ReduceType::U32,
            Self::S32 => ReduceType::S32,
            Self::U64 => ReduceType::U64,
            Self::S64 => ReduceType::S64,
            Self::F16 => ReduceType::F16,
            Self::Bf16 => ReduceType::Bf16,
            Self::F32 => ReduceType::F32,
            Self::F32Ftz => ReduceType::F32Ftz,
            Self::F64 => ReduceType::F64,
            _ => return None,
        })
    }
}

impl fmt::Display for MapElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::S32 => "s32",
            Self::U64 => "u64",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Bf16 => "bf16",
            Self::F32Ftz => "f32.ftz",
            Self::Tf32 => "tf32",
            Self::Tf32Ftz => "tf32.ftz",
            Self::B4x16Align8 => "16U4_ALIGN8B",
            Self::B4x16Align16 => "16U4_ALIGN16B",
            Self::B6x16Align16 => "16U6_ALIGN16B",
        })
    }
}

/// What a load makes of the bits of a tf32 element: nearest even in the 13 low bits, every NaN
/// becomes `7fffe000` (measured on an H200).
pub fn round_tf32(bits: u32) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        return 0x7fff_e000;
    }
    let odd = bits >> 13 & 1;
    bits.wrapping_add(0xfff + odd) & !0x1fff
}
