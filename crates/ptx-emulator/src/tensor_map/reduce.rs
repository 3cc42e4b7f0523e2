//! What reducing copies do to one element (PTX ISA, cp.reduce.async.bulk; results measured on an
//! H200).

use std::fmt;

use crate::formats::narrow::{
    Modifiers, Rounding, bf16_to_f32, f16_to_f32, f64_to_bf16, f64_to_f16,
};

/// The NaN that additions of f32 give.
const NAN_F32: u32 = 0x7fff_ffff;
/// The NaN that reductions of 16-bit floats give.
const NAN_16: u16 = 0x7fff;

/// How a new value is combined with the one in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Sum; integers wrap.
    Add,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// `old >= value ? 0 : old + 1`.
    Inc,
    /// `old == 0 || old > value ? value : old - 1`.
    Dec,
    /// Bitwise.
    And,
    /// Bitwise.
    Or,
    /// Bitwise.
    Xor,
}

impl ReduceOp {
    const NAMES: [(Self, &'static str); 8] = [
        (Self::Add, "add"),
        (Self::Min, "min"),
        (Self::Max, "max"),
        (Self::Inc, "inc"),
        (Self::Dec, "dec"),
        (Self::And, "and"),
        (Self::Or, "or"),
        (Self::Xor, "xor"),
    ];

    /// The operation of this modifier, without the dot.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(_, op)| *op == name)?;
        Some(found.0)
    }

    fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }
}

impl fmt::Display for ReduceOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(op, _)| op == self);
        f.write_str(name.map_or("?", |(_, name)| name))
    }
}

/// As what the elements are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReduceType {
    /// 32 bits without a meaning.
    B32,
    /// 64 bits without a meaning.
    B64,
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
    /// bfloat16.
    Bf16,
    /// IEEE single precision; subnormal numbers are kept.
    F32,
    /// IEEE single precision; subnormal operands and results become 0.
    F32Ftz,
    /// IEEE double precision.
    F64,
}

impl ReduceType {
    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Whether the operation exists for the type in global memory. `min` and `max` of f32 can be
    /// written and fault on an H200.
    pub fn has(self, op: ReduceOp) -> bool {
        use ReduceType::*;
        match op {
            ReduceOp::Add => matches!(self, U32 | S32 | U64 | F16 | Bf16 | F32 | F32Ftz | F64),
            ReduceOp::Min | ReduceOp::Max => {
                matches!(self, U32 | S32 | U64 | S64 | F16 | Bf16)
            }
            ReduceOp::Inc | ReduceOp::Dec => self == U32,
            // Tensors have signed and unsigned types only; their bits are combined all the same.
            _ => matches!(self, B32 | B64 | U32 | S32 | U64 | S64),
        }
    }

    /// Whether PTX writes the operation with this type: bitwise ones are spelled with `.b32` and
    /// `.b64`, and `f32.ftz` is a type of tensors only.
    pub fn is_spelled_for(self, op: ReduceOp) -> bool {
        match self {
            Self::B32 | Self::B64 => op.is_bitwise(),
            Self::F32Ftz => false,
            _ => !op.is_bitwise(),
        }
    }

    /// Whether the operation exists in shared memory of other CTAs too (PTX ISA,
    /// cp.reduce.async.bulk and red.async).
    pub fn exists_between_ctas(self, op: ReduceOp) -> bool {
        match op {
            ReduceOp::Add => matches!(self, Self::U32 | Self::S32 | Self::U64),
            ReduceOp::Min | ReduceOp::Max => matches!(self, Self::U32 | Self::S32),
            ReduceOp::Inc | ReduceOp::Dec => self == Self::U32,
            ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => self == Self::B32,
        }
    }

    /// Combines elements: `memory` is replaced by `memory op value`, both little-endian and of the
    /// same length. Bytes after the last whole element stay. Nothing happens if [`Self::has`] is
    /// false.
    pub fn reduce(self, op: ReduceOp, memory: &mut [u8], value: &[u8]) {
        if !self.has(op) {
            return;
        }
        match self.bytes() {
            2 => each(memory, value, |old: u16, new| match self {
                Self::F16 => half(op, old, new, f16_to_f32, to_f16),
                _ => half(op, old, new, bf16_to_f32, to_bf16),
            }),
            4 => each(memory, value, |old: u32, new| match self {
                Self::F32 => add_f32(old, new),
                Self::F32Ftz => flush(add_f32(flush(old), flush(new))),
                Self::S32 if !op.is_bitwise() => signed(
                    op,
                    i64::from(old.cast_signed()),
                    i64::from(new.cast_signed()),
                ) as u32,
                _ => unsigned(op, u64::from(old), u64::from(new)) as u32,
            }),
            _ => each(memory, value, |old: u64, new| match self {
                Self::F64 => add_f64(old, new),
                Self::S64 if !op.is_bitwise() => {
                    signed(op, old.cast_signed(), new.cast_signed()).cast_unsigned()
                }
                _ => unsigned(op, old, new),
            }),
        }
    }
}

impl fmt::Display for ReduceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::U32 => "u32",
            Self::S32 => "s32",
            Self::U64 => "u64",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F32Ftz => "f32.ftz",
            Self::F64 => "f64",
        })
    }
}

/// An element as a number of its width.
trait Bits: Copy {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! bits {
    ($($type:ty)+) => {$(
        impl Bits for $type {
            const BYTES: usize = size_of::<$type>();
            fn read(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$type>()];
                array.copy_from_slice(bytes);
                Self::from_le_bytes(array)
            }
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )+};
}
bits! { u16 u32 u64 }

fn each<T: Bits>(memory: &mut [u8], value: &[u8], combine: impl Fn(T, T) -> T) {
    let pairs = memory
        .chunks_exact_mut(T::BYTES)
        .zip(value.chunks_exact(T::BYTES));
    for (old, new) in pairs {
        combine(T::read(old), T::read(new)).write(old);
    }
}

fn unsigned(op: ReduceOp, old: u64, new: u64) -> u64 {
    match op {
        ReduceOp::Add => old.wrapping_add(new),
        ReduceOp::Min => old.min(new),
        ReduceOp::Max => old.max(new),
        ReduceOp::Inc if old >= new => 0,
        ReduceOp::Inc => old + 1,
        ReduceOp::Dec if old == 0 || old > new => new,
        ReduceOp::Dec => old - 1,
        ReduceOp::And => old & new,
        ReduceOp::Or => old | new,
        ReduceOp::Xor => old ^ new,
    }
}

fn signed(op: ReduceOp, old: i64, new: i64) -> i64 {
    match op {
        ReduceOp::Min => old.min(new),
        ReduceOp::Max => old.max(new),
        _ => old.wrapping_add(new),
    }
}

fn add_f32(old: u32, new: u32) -> u32 {
    let sum = f32::from_bits(old) + f32::from_bits(new);
    if sum.is_nan() {
        return NAN_F32;
    }
    sum.to_bits()
}

/// Subnormal numbers become a zero of their sign.
fn flush(bits: u32) -> u32 {
    let subnormal = bits & 0x7f80_0000 == 0;
    if subnormal { bits & 0x8000_0000 } else { bits }
}

/// Unlike the shorter types, f64 keeps the NaN it is given. Which of two NaNs is kept was not
/// measured; here it is the one in memory.
fn add_f64(old: u64, new: u64) -> u64 {
    const QUIET: u64 = 1 << 51;
    let (x, y) = (f64::from_bits(old), f64::from_bits(new));
    if x.is_nan() {
        return old | QUIET;
    }
    if y.is_nan() {
        return new | QUIET;
    }
    let sum = x + y;
    if sum.is_nan() {
        // Infinities of opposite signs.
        return 0x7fff_ffff_ffff_ffff;
    }
    sum.to_bits()
}

fn to_f16(sum: f64) -> u16 {
    f64_to_f16(sum.to_bits(), Rounding::NearestEven, Modifiers::default())
}

fn to_bf16(sum: f64) -> u16 {
    f64_to_bf16(sum.to_bits(), Rounding::NearestEven, Modifiers::default())
}

/// `min` and `max` ignore a NaN beside a number and take -0 as smaller than +0.
fn half(op: ReduceOp, old: u16, new: u16, widen: fn(u16) -> f32, narrow: fn(f64) -> u16) -> u16 {
    let (x, y) = (widen(old), widen(new));
    if op == ReduceOp::Add {
        // Both formats have less than half the digits of f64, so rounding twice is harmless.
        let sum = f64::from(x) + f64::from(y);
        return if sum.is_nan() { NAN_16 } else { narrow(sum) };
    }
    match (x.is_nan(), y.is_nan()) {
        (true, true) => return NAN_16,
        (true, false) => return new,
        (false, true) => return old,
        (false, false) => {}
    }
    let takes_new = match op {
        ReduceOp::Min => y.total_cmp(&x).is_lt(),
        _ => y.total_cmp(&x).is_gt(),
    };
    if takes_new { new } else { old }
}
