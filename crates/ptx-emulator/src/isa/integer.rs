//! Integer arithmetic (PTX ISA 9.1, sections 9.7.1 and 9.7.2). All of it wraps unless `.sat` is
//! there.

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Src},
    lanes::{Lane, binary, for_integer, ternary, unary},
};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::ScalarType,
};

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// `.sat` is for `.s32` only.
fn saturates(d: &mut Decoder<'_>, ty: ScalarType) -> Result<bool, DecodeError> {
    let saturates = d.flag("sat");
    if saturates && ty != ScalarType::S32 {
        return Err(d.error(".sat is for .s32 only"));
    }
    Ok(saturates)
}

pub(super) fn add(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    if d.flag("cc") {
        return carry(d, ty, Carry::new(false, false, true));
    }
    if saturates(d, ty)? {
        return binary(d, i32::saturating_add);
    }
    for_integer!(d, ty, T => binary(d, |a: T, b: T| a.wrapping_add(b)))
}

pub(super) fn sub(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    if d.flag("cc") {
        return carry(d, ty, Carry::new(true, false, true));
    }
    if saturates(d, ty)? {
        return binary(d, i32::saturating_sub);
    }
    for_integer!(d, ty, T => binary(d, |a: T, b: T| a.wrapping_sub(b)))
}

/// Both 16-bit halves.
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let low = f(a as u16, b as u16);
    let high = f((a >> 16) as u16, (b >> 16) as u16);
    u32::from(high) << 16 | u32::from(low)
}

pub(super) fn add_16x2(d: &mut Decoder<'_>) -> Decoded {
    binary(d, |a: u32, b: u32| halves(a, b, u16::wrapping_add))
}

/// Which part of a product is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Low,
    High,
    Wide,
}

fn part(d: &mut Decoder<'_>) -> Result<Part, DecodeError> {
    Ok(match d.need_one_of(&["lo", "hi", "wide"])? {
        "lo" => Part::Low,
        "hi" => Part::High,
        _ => Part::Wide,
    })
}

/// Matches over the types that have a type of twice their width; `$w` names that.
macro_rules! for_widening {
    ($d:expr, $ty:expr, $t:ident $w:ident => $body:expr) => {
        match $ty {
            ScalarType::U16 => {
                type $t = u16;
                type $w = u32;
                $body
            }
            ScalarType::S16 => {
                type $t = i16;
                type $w = i32;
                $body
            }
            ScalarType::U32 => {
                type $t = u32;
                type $w = u64;
                $body
            }
            ScalarType::S32 => {
                type $t = i32;
                type $w = i64;
                $body
            }
            _ => Err($d.error("does not exist for this type")),
        }
    };
}

fn high_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn high_s64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

pub(super) fn mul(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    match (part(d)?, ty) {
        (Part::Low, _) => for_integer!(d, ty, T => binary(d, |a: T, b: T| a.wrapping_mul(b))),
        (Part::Wide, _) => {
            for_widening!(d, ty, T W => binary(d, |a: T, b: T| W::from(a).wrapping_mul(W::from(b))))
        }
        (Part::High, ScalarType::U64) => binary(d, high_u64),
        (Part::High, ScalarType::S64) => binary(d, high_s64),
        (Part::High, _) => for_widening!(d, ty, T W => binary(d, |a: T, b: T| {
            (W::from(a).wrapping_mul(W::from(b)) >> T::BITS) as T
        })),
    }
}

pub(super) fn mad(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let part = part(d)?;
    if d.flag("cc") {
        return mad_carry(d, ty, part, false, true);
    }
    if saturates(d, ty)? {
        if part != Part::High {
            return Err(d.error(".sat needs .hi"));
        }
        return ternary(d, |a: i32, b: i32, c: i32| {
            (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c)
        });
    }
    match (part, ty) {
        (Part::Low, _) => for_integer!(d, ty, T => ternary(d, |a: T, b: T, c: T| {
            a.wrapping_mul(b).wrapping_add(c)
        })),
        (Part::Wide, _) => for_widening!(d, ty, T W => ternary(d, |a: T, b: T, c: W| {
            W::from(a).wrapping_mul(W::from(b)).wrapping_add(c)
        })),
        (Part::High, ScalarType::U64) => ternary(d, |a, b, c: u64| high_u64(a, b).wrapping_add(c)),
        (Part::High, ScalarType::S64) => ternary(d, |a, b, c: i64| high_s64(a, b).wrapping_add(c)),
        (Part::High, _) => for_widening!(d, ty, T W => ternary(d, |a: T, b: T, c: T| {
            ((W::from(a).wrapping_mul(W::from(b)) >> T::BITS) as T).wrapping_add(c)
        })),
    }
}

/// `mul24` and `mad24`: products of the low 24 bits, their low 32 or bits 16 to 47.
fn product24(d: &mut Decoder<'_>, add: bool) -> Decoded {
    let high = d.need_one_of(&["lo", "hi"])? == "hi";
    let ty = d.scalar_type()?;
    let signed = match ty {
        ScalarType::U32 => false,
        ScalarType::S32 => true,
        _ => return Err(d.error("needs .u32 or .s32")),
    };
    let saturates = add && saturates(d, ty)?;
    if saturates && !high {
        return Err(d.error(".sat needs .hi"));
    }
    let cut = move |x: u32| {
        if signed {
            i64::from((x << 8).cast_signed() >> 8)
        } else {
            i64::from(x & 0xff_ffff)
        }
    };
    let product = move |a: u32, b: u32| {
        let product = cut(a) * cut(b);
        (if high { product >> 16 } else { product }) as u32
    };
    if !add {
        return binary(d, product);
    }
    ternary(d, move |a: u32, b: u32, c: u32| {
        let product = product(a, b);
        if saturates {
            product
                .cast_signed()
                .saturating_add(c.cast_signed())
                .cast_unsigned()
        } else {
            product.wrapping_add(c)
        }
    })
}

pub(super) fn decode_mul24(d: &mut Decoder<'_>) -> Decoded {
    product24(d, false)
}

pub(super) fn decode_mad24(d: &mut Decoder<'_>) -> Decoded {
    product24(d, true)
}

/// Division by zero is unspecified; the hardware gives all ones.
pub(super) fn div(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    for_integer!(d, ty, T => binary(d, |a: T, b: T| {
        if b == 0 { !0 } else { a.wrapping_div(b) }
    }))
}

pub(super) fn decode_rem(d: &mut Decoder<'_>) -> Decoded {
    let ty = d.scalar_type()?;
    for_integer!(d, ty, T => binary(d, |a: T, b: T| {
        if b == 0 { !0 } else { a.wrapping_rem(b) }
    }))
}

pub(super) fn neg(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    for_integer!(d, ty, [S16 = i16, S32 = i32, S64 = i64], T => unary(d, |a: T| a.wrapping_neg()))
}

pub(super) fn abs(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    for_integer!(d, ty, [S16 = i16, S32 = i32, S64 = i64], T => unary(d, |a: T| a.wrapping_abs()))
}

/// `min` and `max`.
pub(super) fn extreme(d: &mut Decoder<'_>, ty: ScalarType, max: bool) -> Decoded {
    if d.flag("relu") {
        if ty != ScalarType::S32 {
            return Err(d.error(".relu is for .s32 and .s16x2 only"));
        }
        return binary(d, move |a: i32, b: i32| {
            (if max { a.max(b) } else { a.min(b) }).max(0)
        });
    }
    if max {
        for_integer!(d, ty, T => binary(d, |a: T, b: T| a.max(b)))
    } else {
        for_integer!(d, ty, T => binary(d, |a: T, b: T| a.min(b)))
    }
}

/// `min` and `max` of pairs.
pub(super) fn extreme_16x2(d: &mut Decoder<'_>, signed: bool, max: bool) -> Decoded {
    let relu = d.flag("relu");
    if relu && !signed {
        return Err(d.error(".relu is for .s32 and .s16x2 only"));
    }
    binary(d, move |a: u32, b: u32| {
        halves(a, b, |a, b| {
            if !signed {
                return if max { a.max(b) } else { a.min(b) };
            }
            let (a, b) = (a.cast_signed(), b.cast_signed());
            let result = if max { a.max(b) } else { a.min(b) };
            (if relu { result.max(0) } else { result }).cast_unsigned()
        })
    })
}

/// `sad`: `c + |a - b|`.
pub(super) fn decode_sad(d: &mut Decoder<'_>) -> Decoded {
    let ty = d.scalar_type()?;
    for_integer!(d, ty, T => ternary(d, |a: T, b: T, c: T| {
        c.wrapping_add(a.abs_diff(b) as T)
    }))
}

/// What an addition or subtraction does with the carry.
#[derive(Debug, Clone, Copy)]
struct Carry {
    subtract: bool,
    /// Reads the carry.
    takes: bool,
    /// Writes it.
    gives: bool,
}

impl Carry {
    fn new(subtract: bool, takes: bool, gives: bool) -> Self {
        Self {
            subtract,
            takes,
            gives,
        }
    }
}

/// How the first summand comes about.
#[derive(Debug, Clone, Copy)]
enum First {
    Value(Src),
    Product(Src, Src, ScalarType, Part),
}

/// Additions and subtractions with the condition code register. Its one bit per thread is kept
/// after the declared predicates and made when it is first used; before that it is clear.
#[derive(Debug)]
struct WithCarry {
    dst: Dst,
    first: First,
    second: Src,
    carry: Carry,
    bits: u32,
}

impl First {
    fn value(self, step: &Step<'_>, lane: usize) -> u64 {
        match self {
            Self::Value(src) => step.get(src, lane),
            Self::Product(a, b, ty, part) => {
                let (a, b) = (step.get(a, lane), step.get(b, lane));
                let high = part == Part::High;
                match ty {
                    ScalarType::U32 => {
                        let product = u64::from(a as u32) * u64::from(b as u32);
                        if high { product >> 32 } else { product }
                    }
                    ScalarType::S32 => {
                        let product = i64::from(i32::of(a)) * i64::from(i32::of(b));
                        (if high { product >> 32 } else { product }) as u64
                    }
                    ScalarType::S64 if high => high_s64(a as i64, b as i64) as u64,
                    _ if high => high_u64(a, b),
                    _ => a.wrapping_mul(b),
                }
            }
        }
    }
}

impl Execute for WithCarry {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let flag = step.machine.program.file.predicates as usize;
        if step.warp.predicates.len() <= flag {
            step.warp.predicates.resize(flag + 1, 0);
        }
        let before = step.warp.predicates[flag];
        let mut after = before;
        let limit = (1u128 << self.bits) - 1;
        for lane in step.lanes() {
            let a = u128::from(self.first.value(step, lane)) & limit;
            let b = u128::from(step.get(self.second, lane)) & limit;
            let taken = u128::from(self.carry.takes && before >> lane & 1 == 1);
            let (result, out) = if self.carry.subtract {
                // The flag holds the borrow.
                (a.wrapping_sub(b).wrapping_sub(taken), a < b + taken)
            } else {
                let sum = a + b + taken;
                (sum, sum > limit)
            };
            step.set(self.dst, lane, (result & limit) as u64);
            after = after & !(1 << lane) | u32::from(out) << lane;
        }
        if self.carry.gives {
            step.warp.predicates[flag] = after;
        }
        Ok(Flow::Next)
    }
}

fn carry_bits(d: &Decoder<'_>, ty: ScalarType) -> Result<u32, DecodeError> {
    match ty {
        ScalarType::U32 | ScalarType::S32 | ScalarType::U64 | ScalarType::S64 => Ok(ty.bits()),
        _ => Err(d.error("needs a 32- or 64-bit integer type")),
    }
}

fn carry(d: &mut Decoder<'_>, ty: ScalarType, carry: Carry) -> Decoded {
    let bits = carry_bits(d, ty)?;
    d.expect_operands(3..=3)?;
    Ok(Box::new(WithCarry {
        dst: d.dst(0, ty)?,
        first: First::Value(d.src(1, ty)?),
        second: d.src(2, ty)?,
        carry,
        bits,
    }))
}

fn mad_carry(d: &mut Decoder<'_>, ty: ScalarType, part: Part, takes: bool, gives: bool) -> Decoded {
    let bits = carry_bits(d, ty)?;
    if part == Part::Wide {
        return Err(d.error(".wide has no carry"));
    }
    d.expect_operands(4..=4)?;
    Ok(Box::new(WithCarry {
        dst: d.dst(0, ty)?,
        first: First::Product(d.src(1, ty)?, d.src(2, ty)?, ty, part),
        second: d.src(3, ty)?,
        carry: Carry::new(false, takes, gives),
        bits,
    }))
}

pub(super) fn decode_addc(d: &mut Decoder<'_>) -> Decoded {
    let gives = d.flag("cc");
    let ty = d.scalar_type()?;
    carry(d, ty, Carry::new(false, true, gives))
}

pub(super) fn decode_subc(d: &mut Decoder<'_>) -> Decoded {
    let gives = d.flag("cc");
    let ty = d.scalar_type()?;
    carry(d, ty, Carry::new(true, true, gives))
}

pub(super) fn decode_madc(d: &mut Decoder<'_>) -> Decoded {
    let part = part(d)?;
    let gives = d.flag("cc");
    let ty = d.scalar_type()?;
    mad_carry(d, ty, part, true, gives)
}
