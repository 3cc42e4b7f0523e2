//! Arithmetic of `.f16`, `.bf16` and pairs of them (PTX ISA 9.1, section 9.7.4).
//!
//! Operands are widened to f64, in which products are exact and sums keep what decides the
//! rounding, and the result is rounded once. A NaN result is 7fff.

use super::{
    Execute,
    decode::{DecodeError, Decoder},
    float::{pick, rounding},
    lanes::{binary, ternary, unary},
};
use crate::{
    formats::narrow::{Rounding, bf16_to_f32, f16_to_f32},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;
type Decoded = Result<Box<dyn Execute>>;

/// The 16-bit formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `.f16`.
    F16,
    /// `.bf16`.
    Bf16,
}

impl Kind {
    /// Of a 16-bit type or a pair; anything else counts as `.f16`.
    pub(super) fn of(ty: ScalarType) -> Self {
        match ty {
            ScalarType::Bf16 | ScalarType::Bf16x2 => Self::Bf16,
            _ => Self::F16,
        }
    }
}

/// The value; with `ftz` subnormals are zeros of their sign.
#[inline(always)]
pub(super) fn widen(kind: Kind, x: u16, ftz: bool) -> f32 {
    let x = if ftz { flush(kind, x) } else { x };
    match kind {
        Kind::F16 => f16_to_f32(x),
        Kind::Bf16 => bf16_to_f32(x),
    }
}

fn flush(kind: Kind, x: u16) -> u16 {
    let exponent = match kind {
        Kind::F16 => 0x7c00,
        Kind::Bf16 => 0x7f80,
    };
    if x & exponent == 0 { x & 0x8000 } else { x }
}

/// An f32 rounded to nearest, as [`crate::formats::narrow`] does it: the most frequent conversions by
/// far, in a form that the compiler can vectorise.
#[inline(always)]
pub(super) fn nearest(kind: Kind, x: f32) -> u16 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0x7fff;
    }
    match kind {
        // A carry out of the mantissa goes into the exponent, up to infinity.
        Kind::Bf16 => ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16,
        Kind::F16 => {
            let sign = (bits >> 16 & 0x8000) as u16;
            // The sum's last place is 2^-24, that of subnormal f16.
            let subnormal = (f32::from_bits(magnitude) + 0.5)
                .to_bits()
                .wrapping_sub(0x3f00_0000);
            let rebiased = magnitude.wrapping_sub(112 << 23);
            let normal = rebiased.wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13;
            let rounded = if magnitude < 113 << 23 {
                subnormal
            } else {
                normal
            };
            sign | if magnitude >= 0x477f_f000 {
                0x7c00
            } else {
                rounded as u16
            }
        }
    }
}

/// An f64 as f32, rounded to odd: with at least two bits to spare, rounding that once more rounds
/// as if it were the f64.
fn single_odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let beyond = f64::from(near).abs() > x.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}

/// How a result is finished.
#[derive(Debug, Clone, Copy)]
struct Finish {
    kind: Kind,
    pair: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
}

impl Finish {
    /// Takes what the arithmetic instructions know. Only `.rn` exists.
    fn take(d: &mut Decoder<'_>, ty: ScalarType) -> Result<Self> {
        if !matches!(rounding(d), None | Some(Rounding::NearestEven)) {
            return Err(d.error("only .rn exists for 16-bit types"));
        }
        let finish = Self {
            kind: Kind::of(ty),
            pair: matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2),
            ftz: d.flag("ftz"),
            sat: d.flag("sat"),
            relu: d.flag("relu"),
        };
        if finish.kind == Kind::Bf16 && (finish.ftz || finish.sat) {
            return Err(d.error(".bf16 knows neither .ftz nor .sat"));
        }
        if finish.sat && finish.relu {
            return Err(d.error(".sat and .relu exclude each other"));
        }
        Ok(finish)
    }

    fn no_relu(self, d: &Decoder<'_>) -> Result<()> {
        if self.relu {
            return Err(d.error("does not know .relu"));
        }
        Ok(())
    }

    fn widen(self, x: u16) -> f64 {
        f64::from(widen(self.kind, x, self.ftz))
    }

    fn round(self, x: f64) -> u16 {
        // 0 and 1 are values of the format, so that clamping may come before rounding.
        let x = match self.sat {
            true if x > 0.0 => x.min(1.0),
            true => 0.0,
            false => x,
        };
        let bits = nearest(self.kind, single_odd(x));
        // A NaN has no sign here.
        let bits = if self.relu && bits & 0x8000 != 0 {
            0
        } else {
            bits
        };
        if self.ftz {
            flush(self.kind, bits)
        } else {
            bits
        }
    }
}

/// Applies a function of 16-bit values to each half of a pair.
fn halves<const N: usize>(operands: [u32; N], f: impl Fn([u16; N]) -> u16) -> u32 {
    let low = f(operands.map(|x| x as u16));
    let high = f(operands.map(|x| (x >> 16) as u16));
    u32::from(high) << 16 | u32::from(low)
}

fn map1(
    d: &mut Decoder<'_>,
    pair: bool,
    f: impl Fn(u16) -> u16 + Send + Sync + 'static,
) -> Decoded {
    if pair {
        return unary(d, move |a: u32| halves([a], |[a]| f(a)));
    }
    unary(d, f)
}

fn map2(
    d: &mut Decoder<'_>,
    pair: bool,
    f: impl Fn(u16, u16) -> u16 + Send + Sync + 'static,
) -> Decoded {
    if pair {
        return binary(d, move |a: u32, b: u32| halves([a, b], |[a, b]| f(a, b)));
    }
    binary(d, f)
}

/// `add` and `sub`. A sum of two values of either format that f64 cannot hold is far from where
/// the format rounds, so that rounding twice is harmless.
pub(super) fn add(d: &mut Decoder<'_>, ty: ScalarType, negate: bool) -> Decoded {
    let finish = Finish::take(d, ty)?;
    finish.no_relu(d)?;
    map2(d, finish.pair, move |a, b| {
        let (a, b) = (finish.widen(a), finish.widen(b));
        finish.round(if negate { a - b } else { a + b })
    })
}

/// `mul`: products of two 11-bit significands are exact in f64.
pub(super) fn mul(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let finish = Finish::take(d, ty)?;
    finish.no_relu(d)?;
    map2(d, finish.pair, move |a, b| {
        finish.round(finish.widen(a) * finish.widen(b))
    })
}

/// The sum, rounded to odd: rounding it to a 16-bit format rounds as if it were exact.
fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The exact value lies beyond `sum` on the side of the error.
    let outward = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if outward {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

pub(super) fn fma(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let finish = Finish::take(d, ty)?;
    let one =
        move |a, b, c| finish.round(add_odd(finish.widen(a) * finish.widen(b), finish.widen(c)));
    if finish.pair {
        return ternary(d, move |a: u32, b: u32, c: u32| {
            halves([a, b, c], |[a, b, c]| one(a, b, c))
        });
    }
    ternary(d, one)
}

/// `neg` and `abs` on the sign bit; a NaN becomes 7fff.
fn sign(d: &mut Decoder<'_>, ty: ScalarType, f: fn(u16) -> u16) -> Decoded {
    let finish = Finish::take(d, ty)?;
    if finish.sat || finish.relu {
        return Err(d.error("knows neither .sat nor .relu"));
    }
    map1(d, finish.pair, move |a| {
        if finish.widen(a).is_nan() {
            return 0x7fff;
        }
        f(if finish.ftz { flush(finish.kind, a) } else { a })
    })
}

pub(super) fn neg(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    sign(d, ty, |a| a ^ 0x8000)
}

pub(super) fn abs(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    sign(d, ty, |a| a & 0x7fff)
}

/// `min` and `max`, with the rules of `.f32`.
pub(super) fn extreme(d: &mut Decoder<'_>, ty: ScalarType, max: bool) -> Decoded {
    let nan = d.flag("NaN");
    let xorsign = d.flag("xorsign");
    if xorsign {
        d.need("abs")?;
    }
    let finish = Finish::take(d, ty)?;
    if finish.sat || finish.relu {
        return Err(d.error("knows neither .sat nor .relu"));
    }
    map2(d, finish.pair, move |a, b| {
        let of = |x: u16| widen(finish.kind, x, finish.ftz);
        if !xorsign {
            return finish.round(pick(of(a), of(b), max, nan).into());
        }
        let magnitude = finish.round(pick(of(a).abs(), of(b).abs(), max, nan).into());
        if magnitude == 0x7fff {
            magnitude
        } else {
            magnitude | (a ^ b) & 0x8000
        }
    })
}

/// A function of one value, for `ex2.approx` and `tanh.approx`.
pub(super) fn function(
    d: &mut Decoder<'_>,
    ty: ScalarType,
    f: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Decoded {
    if !matches!(
        ty,
        ScalarType::F16 | ScalarType::F16x2 | ScalarType::Bf16 | ScalarType::Bf16x2
    ) {
        return Err(d.error("does not exist for this type"));
    }
    // `ex2.approx.ftz.bf16` has to be written so; subnormal operands give 1 either way.
    let ftz = d.flag("ftz");
    let finish = Finish {
        kind: Kind::of(ty),
        pair: matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2),
        ftz,
        sat: false,
        relu: false,
    };
    map1(d, finish.pair, move |a| finish.round(f(finish.widen(a))))
}

#[cfg(test)]
mod tests;
