//! Element types and tensor-map modes, with the driver's numbers for them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of an element or of a scalar, by its MLIR name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementType {
    /// IEEE half precision.
    #[serde(rename = "f16")]
    F16,
    /// bfloat16.
    #[serde(rename = "bf16")]
    Bf16,
    /// IEEE single precision.
    #[serde(rename = "f32")]
    F32,
    /// TF32, stored in 32 bits.
    #[serde(rename = "tf32")]
    Tf32,
    /// IEEE double precision.
    #[serde(rename = "f64")]
    F64,
    /// 8-bit integer.
    #[serde(rename = "i8")]
    I8,
    /// 16-bit integer.
    #[serde(rename = "i16")]
    I16,
    /// 32-bit integer.
    #[serde(rename = "i32")]
    I32,
    /// 64-bit integer.
    #[serde(rename = "i64")]
    I64,
    /// 8-bit float, 4 exponent bits, no infinities.
    #[serde(rename = "f8E4M3FN")]
    F8E4M3FN,
    /// 8-bit float, 5 exponent bits.
    #[serde(rename = "f8E5M2")]
    F8E5M2,
}

impl ElementType {
    /// All types, in the order of declaration.
    pub const ALL: [Self; 11] = [
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::Tf32,
        Self::F64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F8E4M3FN,
        Self::F8E5M2,
    ];

    /// The MLIR name, which is also the name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F8E4M3FN => "f8E4M3FN",
            Self::F8E5M2 => "f8E5M2",
        }
    }

    /// The type of this MLIR name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.name() == name)
    }

    /// How many bytes an element takes in memory.
    pub fn size_bytes(self) -> u32 {
        match self {
            Self::I8 | Self::F8E4M3FN | Self::F8E5M2 => 1,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::F32 | Self::Tf32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// Whether it is an integer type.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The value of `CUtensorMapDataType` (CUDA driver API, `cuTensorMapEncodeTiled`).
    ///
    /// The driver has no 8-bit floats and no signed 8- and 16-bit integers; copies move their
    /// bits unchanged, so the unsigned type of the same size stands for them.
    pub fn driver_code(self) -> u32 {
        match self {
            Self::I8 | Self::F8E4M3FN | Self::F8E5M2 => 0,
            Self::I16 => 1,
            Self::I32 => 3,
            Self::I64 => 5,
            Self::F16 => 6,
            Self::F32 => 7,
            Self::F64 => 8,
            Self::Bf16 => 9,
            Self::Tf32 => 11,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a tensor copy permutes the 16-byte units of a box in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Swizzle {
    /// Rows follow each other unpermuted.
    #[serde(rename = "none")]
    None,
    /// Rows of 32 bytes.
    #[serde(rename = "32b")]
    B32,
    /// Rows of 64 bytes.
    #[serde(rename = "64b")]
    B64,
    /// Rows of 128 bytes.
    #[serde(rename = "128b")]
    B128,
    /// Rows of 128 bytes in units of 32.
    #[serde(rename = "128b_atom_32b")]
    B128Atom32,
    /// Rows of 128 bytes in units of 32, with the halves of 16 bytes exchanged in every other row.
    #[serde(rename = "128b_atom_32b_flip_8b")]
    B128Atom32Flip8,
    /// Rows of 128 bytes in units of 64.
    #[serde(rename = "128b_atom_64b")]
    B128Atom64,
}

impl Swizzle {
    /// The value of `CUtensorMapSwizzle` (CUDA driver API).
    pub fn driver_code(self) -> u32 {
        match self {
            Self::None => 0,
            Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 => 3,
            Self::B128Atom32 => 4,
            Self::B128Atom32Flip8 => 5,
            Self::B128Atom64 => 6,
        }
    }

    /// The most bytes that a row of the box may have; none without a swizzle.
    pub fn span_bytes(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            _ => Some(128),
        }
    }
}

/// What a tensor copy reads for elements outside the tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Zeros.
    Zero,
    /// NaN; float types only.
    Nan,
}

impl Fill {
    /// The value of `CUtensorMapFloatOOBfill` (CUDA driver API).
    pub fn driver_code(self) -> u32 {
        match self {
            Self::Zero => 0,
            Self::Nan => 1,
        }
    }
}
