//! Reciprocals, roots and transcendental functions (PTX ISA 9.1, sections 9.7.3 and 9.7.4).
//!
//! `.approx` is computed in f64 and rounded once, which is closer than what the ISA promises;
//! the hardware's last bits differ and are no part of any promise.

use super::{
    Execute,
    decode::{DecodeError, Decoder},
    float::{exact, flush, rounded_unary, rounding},
    half,
    lanes::{Single, unary},
};
use crate::syntax::ast::ScalarType;

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// An `.approx.f32` function by its value in f64.
fn approximate(d: &mut Decoder<'_>, f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Decoded {
    if d.flag("ftz") {
        return unary(d, move |a: f32| Single(flush(f(flush(a).into()) as f32)));
    }
    unary(d, move |a: f32| Single(f(a.into()) as f32))
}

/// The `.ftz.f64` forms work on the upper word and leave zeros in the lower one.
fn gross(d: &mut Decoder<'_>, f: fn(f64) -> f64) -> Decoded {
    d.need("ftz")?;
    let upper = |x: f64| {
        let bits = x.to_bits() & !0xffff_ffff;
        if f64::from_bits(bits).is_subnormal() {
            f64::from_bits(bits & 1 << 63)
        } else {
            f64::from_bits(bits)
        }
    };
    unary(d, move |a: f64| {
        let result = f(upper(a));
        if result.is_nan() {
            0x7fff_ffff << 32
        } else {
            upper(result).to_bits()
        }
    })
}

fn reciprocal(x: f64) -> f64 {
    1.0 / x
}

/// -0 gives -infinity (measured on an H200).
fn reciprocal_root(x: f64) -> f64 {
    if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() }
}

pub(super) fn decode_rcp(d: &mut Decoder<'_>) -> Decoded {
    if !d.flag("approx") {
        let Some(rounding) = rounding(d) else {
            return Err(d.error("needs .approx or a rounding"));
        };
        return rounded_unary(d, rounding, |a| exact::div(1.0, a));
    }
    match d.scalar_type()? {
        ScalarType::F32 => approximate(d, reciprocal),
        ScalarType::F64 => gross(d, reciprocal),
        _ => Err(d.error("does not exist for this type")),
    }
}

pub(super) fn decode_sqrt(d: &mut Decoder<'_>) -> Decoded {
    if !d.flag("approx") {
        let Some(rounding) = rounding(d) else {
            return Err(d.error("needs .approx or a rounding"));
        };
        return rounded_unary(d, rounding, exact::sqrt);
    }
    d.need("f32")?;
    approximate(d, f64::sqrt)
}

pub(super) fn decode_rsqrt(d: &mut Decoder<'_>) -> Decoded {
    d.need("approx")?;
    match d.scalar_type()? {
        ScalarType::F32 => approximate(d, reciprocal_root),
        ScalarType::F64 => gross(d, reciprocal_root),
        _ => Err(d.error("does not exist for this type")),
    }
}

fn f32_only(d: &mut Decoder<'_>, f: fn(f64) -> f64) -> Decoded {
    d.need("approx")?;
    d.need("f32")?;
    approximate(d, f)
}

pub(super) fn decode_lg2(d: &mut Decoder<'_>) -> Decoded {
    f32_only(d, f64::log2)
}

pub(super) fn decode_sin(d: &mut Decoder<'_>) -> Decoded {
    f32_only(d, f64::sin)
}

pub(super) fn decode_cos(d: &mut Decoder<'_>) -> Decoded {
    f32_only(d, f64::cos)
}

/// `ex2` and `tanh` also know 16-bit types.
fn with_halves(d: &mut Decoder<'_>, f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Decoded {
    d.need("approx")?;
    match d.scalar_type()? {
        ScalarType::F32 => approximate(d, f),
        ty => half::function(d, ty, f),
    }
}

pub(super) fn decode_ex2(d: &mut Decoder<'_>) -> Decoded {
    with_halves(d, f64::exp2)
}

pub(super) fn decode_tanh(d: &mut Decoder<'_>) -> Decoded {
    with_halves(d, f64::tanh)
}
