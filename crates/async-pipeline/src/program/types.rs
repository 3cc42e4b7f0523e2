//! Types of registers.

use std::fmt;

/// A float format that the interpreter computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatType {
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

/// A type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// An integer of 1 to 64 bits.
    Int(u32),
    /// A 64-bit index.
    Index,
    /// A float.
    Float(FloatType),
    /// Bits that are moved but not computed with, such as an 8-bit float.
    Opaque(u32),
}

/// Where a memref lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory: a kernel argument.
    Global,
    /// Shared memory of the CTA: a slot of a buffer.
    Shared,
    /// Memory of one thread.
    Local,
}

/// A memref type; `None` marks a dynamic number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRefType {
    /// Where it lives.
    pub space: Space,
    /// Element type.
    pub element: ScalarType,
    /// Extents, outermost first.
    pub shape: Vec<Option<u64>>,
    /// Strides in elements.
    pub strides: Vec<Option<i64>>,
}

/// The type of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// One element.
    Scalar(ScalarType),
    /// A vector; elements in row-major order.
    Vector(Vec<u64>, ScalarType),
    /// A view of memory.
    MemRef(MemRefType),
}

impl ScalarType {
    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            ScalarType::Int(bits) | ScalarType::Opaque(bits) => bits,
            ScalarType::Index | ScalarType::Float(FloatType::F64) => 64,
            ScalarType::Float(FloatType::F32) => 32,
            ScalarType::Float(FloatType::F16 | FloatType::BF16) => 16,
        }
    }

    /// Bytes of one element in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarType::Int(bits) => write!(f, "i{bits}"),
            ScalarType::Index => f.write_str("index"),
            ScalarType::Float(FloatType::F16) => f.write_str("f16"),
            ScalarType::Float(FloatType::BF16) => f.write_str("bf16"),
            ScalarType::Float(FloatType::F32) => f.write_str("f32"),
            ScalarType::Float(FloatType::F64) => f.write_str("f64"),
            ScalarType::Opaque(bits) => write!(f, "{bits}-bit elements"),
        }
    }
}

impl ValueType {
    /// Type of one element.
    pub fn element(&self) -> ScalarType {
        match self {
            ValueType::Scalar(element) | ValueType::Vector(_, element) => *element,
            ValueType::MemRef(memref) => memref.element,
        }
    }

    /// Elements of a vector or scalar; saturates.
    pub fn lanes(&self) -> u64 {
        match self {
            ValueType::Vector(shape, _) => shape
                .iter()
                .fold(1, |product: u64, extent| product.saturating_mul(*extent)),
            _ => 1,
        }
    }

    /// Extents of a vector; none for a scalar.
    pub fn vector_shape(&self) -> &[u64] {
        match self {
            ValueType::Vector(shape, _) => shape,
            _ => &[],
        }
    }
}
