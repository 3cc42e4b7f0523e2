//! Integer instructions about single bits, fields of bits and packed bytes (PTX ISA 9.1, section
//! 9.7.1). Field positions and lengths past the word were measured on an H200.

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Src},
    lanes::{binary, for_integer, ternary, unary},
};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::ScalarType,
};

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// Whether the type that is next has 64 bits.
fn is_wide(d: &mut Decoder<'_>) -> Result<bool, DecodeError> {
    match d.scalar_type()? {
        ScalarType::B32 => Ok(false),
        ScalarType::B64 => Ok(true),
        _ => Err(d.error("needs .b32 or .b64")),
    }
}

pub(super) fn decode_popc(d: &mut Decoder<'_>) -> Decoded {
    if is_wide(d)? {
        unary(d, u64::count_ones)
    } else {
        unary(d, u32::count_ones)
    }
}

pub(super) fn decode_clz(d: &mut Decoder<'_>) -> Decoded {
    if is_wide(d)? {
        unary(d, u64::leading_zeros)
    } else {
        unary(d, u32::leading_zeros)
    }
}

pub(super) fn decode_brev(d: &mut Decoder<'_>) -> Decoded {
    if is_wide(d)? {
        unary(d, u64::reverse_bits)
    } else {
        unary(d, u32::reverse_bits)
    }
}

/// The place of the highest bit of `width` that differs from the sign, or all ones.
fn find(bits: u64, width: u32, shift_amount: bool) -> u32 {
    if bits == 0 {
        return u32::MAX;
    }
    let position = bits.ilog2();
    if shift_amount {
        width - 1 - position
    } else {
        position
    }
}

pub(super) fn decode_bfind(d: &mut Decoder<'_>) -> Decoded {
    let amount = d.flag("shiftamt");
    match d.scalar_type()? {
        ScalarType::U32 => unary(d, move |a: u32| find(a.into(), 32, amount)),
        ScalarType::U64 => unary(d, move |a: u64| find(a, 64, amount)),
        ScalarType::S32 => unary(d, move |a: i32| {
            find(u64::from((a ^ a >> 31).cast_unsigned()), 32, amount)
        }),
        ScalarType::S64 => unary(d, move |a: i64| {
            find((a ^ a >> 63).cast_unsigned(), 64, amount)
        }),
        _ => Err(d.error("needs .u32, .s32, .u64 or .s64")),
    }
}

/// `bfe` of a `width`-bit word: position and length are the low eight bits. Beyond the top an
/// unsigned field is filled with zeros, a signed one with its highest bit inside the word.
fn extract(word: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if length == 0 {
        return 0;
    }
    let sign_at = (position + length - 1).min(width - 1);
    let fill = signed && word >> sign_at & 1 == 1;
    let field = if position >= width {
        0
    } else {
        word >> position
    };
    let inside = length.min(width.saturating_sub(position));
    let keep = ones(inside);
    let result = if fill { field | !keep } else { field & keep };
    result & ones(width)
}

/// `count` ones from bit 0 on.
fn ones(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

pub(super) fn decode_bfe(d: &mut Decoder<'_>) -> Decoded {
    match d.scalar_type()? {
        ScalarType::U32 => ternary(d, |a: u32, p: u32, n: u32| {
            extract(a.into(), p, n, 32, false) as u32
        }),
        ScalarType::S32 => ternary(d, |a: u32, p: u32, n: u32| {
            extract(a.into(), p, n, 32, true) as u32
        }),
        ScalarType::U64 => ternary(d, |a: u64, p: u32, n: u32| extract(a, p, n, 64, false)),
        ScalarType::S64 => ternary(d, |a: u64, p: u32, n: u32| extract(a, p, n, 64, true)),
        _ => Err(d.error("needs .u32, .s32, .u64 or .s64")),
    }
}

/// `bfi`: the low bits of `field` into `word`.
#[derive(Debug)]
struct Insert {
    dst: Dst,
    field: Src,
    word: Src,
    position: Src,
    length: Src,
    width: u32,
}

impl Execute for Insert {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let field = *step.row(self.field);
        let word = *step.row(self.word);
        let position = *step.row(self.position);
        let length = *step.row(self.length);
        step.write_with(self.dst, |lane| {
            let position = position[lane] as u32 & 0xff;
            let length = length[lane] as u32 & 0xff;
            let mask = if position >= self.width {
                0
            } else {
                ones(length) << position
            };
            let shifted = field[lane].checked_shl(position).unwrap_or(0);
            (word[lane] & !mask | shifted & mask) & ones(self.width)
        });
        Ok(Flow::Next)
    }
}

pub(super) fn decode_bfi(d: &mut Decoder<'_>) -> Decoded {
    let ty = if is_wide(d)? {
        ScalarType::B64
    } else {
        ScalarType::B32
    };
    d.expect_operands(5..=5)?;
    Ok(Box::new(Insert {
        dst: d.dst(0, ty)?,
        field: d.src(1, ty)?,
        word: d.src(2, ty)?,
        position: d.src(3, ScalarType::U32)?,
        length: d.src(4, ScalarType::U32)?,
        width: ty.bits(),
    }))
}

/// `bmsk`: `length` ones from bit `position` on.
pub(super) fn decode_bmsk(d: &mut Decoder<'_>) -> Decoded {
    let wrap = d.need_one_of(&["clamp", "wrap"])? == "wrap";
    d.need("b32")?;
    binary(d, move |position: u32, length: u32| {
        let cut = |x: u32| if wrap { x & 31 } else { x.min(32) };
        let (position, length) = (cut(position), cut(length));
        (ones(length) << position) as u32
    })
}

/// `szext`: the low `b` bits of `a` as a number.
pub(super) fn decode_szext(d: &mut Decoder<'_>) -> Decoded {
    let wrap = d.need_one_of(&["clamp", "wrap"])? == "wrap";
    let signed = match d.scalar_type()? {
        ScalarType::U32 => false,
        ScalarType::S32 => true,
        _ => return Err(d.error("needs .u32 or .s32")),
    };
    binary(d, move |a: u32, bits: u32| {
        let bits = if wrap { bits & 31 } else { bits.min(32) };
        let keep = ones(bits) as u32;
        let negative = signed && bits > 0 && a >> (bits - 1) & 1 == 1;
        if negative { a | !keep } else { a & keep }
    })
}

/// `.u32` or `.s32` of the two operands of a dot product, in order.
fn signs(d: &mut Decoder<'_>) -> Result<[bool; 2], DecodeError> {
    let mut signed = [false; 2];
    for sign in &mut signed {
        *sign = match d.scalar_type()? {
            ScalarType::U32 => false,
            ScalarType::S32 => true,
            _ => return Err(d.error("needs .u32 or .s32 for both operands")),
        };
    }
    Ok(signed)
}

fn byte(word: u32, index: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * index)) as u8;
    if signed {
        i32::from(byte.cast_signed())
    } else {
        i32::from(byte)
    }
}

fn half(word: u32, index: u32, signed: bool) -> i32 {
    let half = (word >> (16 * index)) as u16;
    if signed {
        i32::from(half.cast_signed())
    } else {
        i32::from(half)
    }
}

pub(super) fn decode_dp4a(d: &mut Decoder<'_>) -> Decoded {
    let [a_signed, b_signed] = signs(d)?;
    ternary(d, move |a: u32, b: u32, c: i32| {
        (0..4).fold(c, |sum, i| {
            sum.wrapping_add(byte(a, i, a_signed) * byte(b, i, b_signed))
        })
    })
}

/// `dp2a`: two halves of `a` with the low or high two bytes of `b`.
pub(super) fn decode_dp2a(d: &mut Decoder<'_>) -> Decoded {
    let first = if d.need_one_of(&["lo", "hi"])? == "hi" {
        2
    } else {
        0
    };
    let [a_signed, b_signed] = signs(d)?;
    ternary(d, move |a: u32, b: u32, c: i32| {
        (0..2).fold(c, |sum, i| {
            let product = half(a, i, a_signed).wrapping_mul(byte(b, first + i, b_signed));
            sum.wrapping_add(product)
        })
    })
}

/// `shl`: amounts past the width give 0.
pub(super) fn decode_shl(d: &mut Decoder<'_>) -> Decoded {
    let ty = d.scalar_type()?;
    for_integer!(d, ty, [B16 = u16, B32 = u32, B64 = u64], T => binary(d, |a: T, n: u32| {
        if n < T::BITS { a << (n & (T::BITS - 1)) } else { 0 }
    }))
}

/// `shr`: amounts past the width give 0, or the sign.
pub(super) fn decode_shr(d: &mut Decoder<'_>) -> Decoded {
    let ty = d.scalar_type()?;
    if ty.is_signed() {
        return for_integer!(d, ty, [S16 = i16, S32 = i32, S64 = i64], T => {
            binary(d, |a: T, n: u32| a >> n.min(T::BITS - 1))
        });
    }
    for_integer!(
        d, ty,
        [B16 = u16, B32 = u32, B64 = u64, U16 = u16, U32 = u32, U64 = u64],
        T => binary(d, |a: T, n: u32| {
            if n < T::BITS { a >> (n & (T::BITS - 1)) } else { 0 }
        })
    )
}

/// `shf`: 32 bits out of the 64 of `{b, a}`.
pub(super) fn decode_shf(d: &mut Decoder<'_>) -> Decoded {
    let left = d.need_one_of(&["l", "r"])? == "l";
    let wrap = d.need_one_of(&["clamp", "wrap"])? == "wrap";
    d.need("b32")?;
    ternary(d, move |low: u32, high: u32, n: u32| {
        let n = if wrap { n & 31 } else { n.min(32) };
        let both = u64::from(high) << 32 | u64::from(low);
        if left {
            ((both << n) >> 32) as u32
        } else {
            (both >> n) as u32
        }
    })
}
