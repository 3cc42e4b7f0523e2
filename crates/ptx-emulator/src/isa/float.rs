//! Floating-point arithmetic of `.f32`, `.f64` and `.f32x2` (PTX ISA 9.1, section 9.7.3).
//!
//! A NaN result of `.f32` is always the same one ([`Single`]); `.f64` keeps an operand's payload. Without a rounding modifier results are rounded to nearest.

pub(super) mod exact;

use std::fmt;

use super::{
    Execute,
    decode::{DecodeError, Decoder, PredDst, Src},
    lanes::{Lane, Single, binary, ternary, unary},
};
use crate::{
    formats::narrow::{F32, Modifiers, Rounding},
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;
type Decoded = Result<Box<dyn Execute>>;

/// `.ftz`: subnormals become zeros of their sign.
#[inline(always)]
pub(super) fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE {
        0f32.copysign(x)
    } else {
        x
    }
}

/// `.sat`: into 0 to 1; NaN becomes +0.
#[inline(always)]
pub(super) fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// Takes a rounding modifier.
pub(super) fn rounding(d: &mut Decoder<'_>) -> Option<Rounding> {
    Some(match d.one_of(&["rn", "rz", "rm", "rp"])? {
        "rn" => Rounding::NearestEven,
        "rz" => Rounding::TowardZero,
        "rm" => Rounding::Down,
        _ => Rounding::Up,
    })
}

/// How an `.f32` result is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Finish {
    rounding: Rounding,
    ftz: bool,
    sat: bool,
}

impl Finish {
    fn take(d: &mut Decoder<'_>, ty: ScalarType) -> Result<Self> {
        let finish = Self {
            rounding: rounding(d).unwrap_or(Rounding::NearestEven),
            ftz: d.flag("ftz"),
            sat: d.flag("sat"),
        };
        if ty == ScalarType::F64 && (finish.ftz || finish.sat) {
            return Err(d.error(".f64 knows neither .ftz nor .sat"));
        }
        if ty == ScalarType::F32x2 && finish.sat {
            return Err(d.error(".f32x2 does not know .sat"));
        }
        Ok(finish)
    }

    /// Neither `.ftz` nor `.sat`, to nearest: what the host does.
    fn is_plain(self) -> bool {
        !self.ftz && !self.sat && self.rounding == Rounding::NearestEven
    }

    #[inline(always)]
    fn before(self, x: f32) -> f32 {
        if self.ftz { flush(x) } else { x }
    }

    #[inline(always)]
    fn after(self, x: f32) -> Single {
        let x = self.before(x);
        Single(if self.sat { saturate(x) } else { x })
    }

    /// Rounds an exact result.
    fn exactly(self, value: exact::Exact) -> Single {
        let bits = value.to(&F32, self.rounding, Modifiers::default());
        self.after(f32::from_bits(bits))
    }

    fn add(self, a: f32, b: f32) -> Single {
        let (a, b) = (self.before(a), self.before(b));
        if self.rounding == Rounding::NearestEven {
            return self.after(a + b);
        }
        self.exactly(exact::add(a.into(), b.into(), self.rounding))
    }

    fn mul(self, a: f32, b: f32) -> Single {
        let (a, b) = (self.before(a), self.before(b));
        if self.rounding == Rounding::NearestEven {
            return self.after(a * b);
        }
        self.exactly(exact::mul(a.into(), b.into()))
    }

    fn fma(self, a: f32, b: f32, c: f32) -> Single {
        let (a, b, c) = (self.before(a), self.before(b), self.before(c));
        if self.rounding == Rounding::NearestEven {
            return self.after(fused(a, b, c));
        }
        self.exactly(exact::fma(a.into(), b.into(), c.into(), self.rounding))
    }

    fn div(self, a: f32, b: f32) -> Single {
        let (a, b) = (self.before(a), self.before(b));
        if self.rounding == Rounding::NearestEven {
            return self.after(a / b);
        }
        self.exactly(exact::div(a.into(), b.into()))
    }
}

/// `a * b + c`, rounded once to nearest.
///
/// The host's own function is a call without FMA in the instruction set. In f64 the product is
/// exact and the sum rounded to 53 bits; rounding that to f32 is wrong only if it looks like a tie,
/// or for subnormals, whose ties are elsewhere.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    const TIE: u64 = 1 << 28;
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    let tie = sum.to_bits() & (2 * TIE - 1) == TIE;
    let small = sum != 0.0 && sum.abs() < 2.0 * f64::from(f32::MIN_POSITIVE);
    if tie || small {
        fused_by_host(a, b, c)
    } else {
        sum as f32
    }
}

/// Apart and never inlined: otherwise the compiler computes it for every lane and then chooses.
#[cold]
#[inline(never)]
fn fused_by_host(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// An f64 result: a NaN is the first operand that is one, quieted, or else the host-independent
/// NaN of an invalid operation.
#[inline(always)]
fn with_payload(result: f64, operands: &[f64]) -> u64 {
    if !result.is_nan() {
        return result.to_bits();
    }
    let source = operands.iter().find(|x| x.is_nan());
    source.map_or(0xfff8 << 48, |x| x.to_bits() | 1 << 51)
}

/// Both halves of `.f32x2` operands.
#[inline(always)]
fn lanes2<const N: usize>(operands: [u64; N], f: impl Fn([f32; N]) -> Single) -> u64 {
    let low = f(operands.map(f32::of));
    let high = f(operands.map(|x| f32::of(x >> 32)));
    high.register() << 32 | low.register()
}

/// `add`, and `sub` as the sum with the negated operand (which for NaN makes no difference, since
/// `.f64` takes the payload from the original).
pub(super) fn add(d: &mut Decoder<'_>, ty: ScalarType, negate: bool) -> Decoded {
    let finish = Finish::take(d, ty)?;
    let rounding = finish.rounding;
    match (ty, negate) {
        (ScalarType::F32, false) if finish.is_plain() => binary(d, |a: f32, b: f32| Single(a + b)),
        (ScalarType::F32, true) if finish.is_plain() => binary(d, |a: f32, b: f32| Single(a - b)),
        (ScalarType::F32, _) => binary(d, move |a: f32, b: f32| {
            finish.add(a, if negate { -b } else { b })
        }),
        (ScalarType::F32x2, _) if finish.is_plain() => binary(d, move |a: u64, b: u64| {
            lanes2([a, b], |[a, b]| Single(if negate { a - b } else { a + b }))
        }),
        (ScalarType::F32x2, _) => binary(d, move |a: u64, b: u64| {
            lanes2([a, b], |[a, b]| finish.add(a, if negate { -b } else { b }))
        }),
        _ => binary(d, move |a: f64, b: f64| {
            let summand = if negate { -b } else { b };
            let sum = if rounding == Rounding::NearestEven {
                a + summand
            } else {
                exact::add(a, summand, rounding).to_f64(rounding)
            };
            with_payload(sum, &[a, b])
        }),
    }
}

pub(super) fn mul(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let finish = Finish::take(d, ty)?;
    let rounding = finish.rounding;
    match ty {
        ScalarType::F32 if finish.is_plain() => binary(d, |a: f32, b: f32| Single(a * b)),
        ScalarType::F32 => binary(d, move |a, b| finish.mul(a, b)),
        ScalarType::F32x2 if finish.is_plain() => {
            binary(d, |a: u64, b: u64| lanes2([a, b], |[a, b]| Single(a * b)))
        }
        ScalarType::F32x2 => binary(d, move |a: u64, b: u64| {
            lanes2([a, b], |[a, b]| finish.mul(a, b))
        }),
        _ => binary(d, move |a: f64, b: f64| {
            let product = if rounding == Rounding::NearestEven {
                a * b
            } else {
                exact::mul(a, b).to_f64(rounding)
            };
            with_payload(product, &[a, b])
        }),
    }
}

/// `fma`, and `mad`, which is the same on every target here.
pub(super) fn fma(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let finish = Finish::take(d, ty)?;
    let rounding = finish.rounding;
    match ty {
        ScalarType::F32 if finish.is_plain() => {
            ternary(d, |a: f32, b: f32, c: f32| Single(fused(a, b, c)))
        }
        ScalarType::F32 => ternary(d, move |a, b, c| finish.fma(a, b, c)),
        ScalarType::F32x2 => ternary(d, move |a: u64, b: u64, c: u64| {
            lanes2([a, b, c], |[a, b, c]| finish.fma(a, b, c))
        }),
        _ => ternary(d, move |a: f64, b: f64, c: f64| {
            let result = if rounding == Rounding::NearestEven {
                a.mul_add(b, c)
            } else {
                exact::fma(a, b, c, rounding).to_f64(rounding)
            };
            with_payload(result, &[a, b, c])
        }),
    }
}

/// `div`. `.approx` and `.full` promise 2 ulp; the quotient to nearest is within.
pub(super) fn div(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let approximate = d.one_of(&["approx", "full"]).is_some();
    let finish = Finish::take(d, ty)?;
    let rounding = finish.rounding;
    if finish.sat || approximate && ty != ScalarType::F32 {
        return Err(d.error("does not exist in this form"));
    }
    match ty {
        ScalarType::F32 if finish.is_plain() => binary(d, |a: f32, b: f32| Single(a / b)),
        ScalarType::F32 => binary(d, move |a, b| finish.div(a, b)),
        ScalarType::F64 => binary(d, move |a: f64, b: f64| {
            let quotient = if rounding == Rounding::NearestEven {
                a / b
            } else {
                exact::div(a, b).to_f64(rounding)
            };
            with_payload(quotient, &[a, b])
        }),
        _ => Err(d.error("does not exist for this type")),
    }
}

/// `rcp` and `sqrt` with a rounding.
pub(super) fn rounded_unary(
    d: &mut Decoder<'_>,
    rounding: Rounding,
    f: fn(f64) -> exact::Exact,
) -> Decoded {
    let ftz = d.flag("ftz");
    let finish = Finish {
        rounding,
        ftz,
        sat: false,
    };
    match d.scalar_type()? {
        ScalarType::F32 => unary(d, move |a: f32| finish.exactly(f(finish.before(a).into()))),
        ScalarType::F64 if !ftz => {
            unary(d, move |a: f64| with_payload(f(a).to_f64(rounding), &[a]))
        }
        _ => Err(d.error("does not exist for this type")),
    }
}

pub(super) fn neg(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let ftz = d.flag("ftz");
    match ty {
        ScalarType::F32 if ftz => unary(d, |a: f32| Single(-flush(a))),
        ScalarType::F32 => unary(d, |a: f32| Single(-a)),
        ScalarType::F64 if !ftz => unary(d, |a: f64| -a),
        _ => Err(d.error("does not exist for this type")),
    }
}

pub(super) fn abs(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    let ftz = d.flag("ftz");
    match ty {
        ScalarType::F32 if ftz => unary(d, |a: f32| Single(flush(a).abs())),
        ScalarType::F32 => unary(d, |a: f32| Single(a.abs())),
        ScalarType::F64 if !ftz => unary(d, |a: f64| a.abs()),
        _ => Err(d.error("does not exist for this type")),
    }
}

/// The larger or smaller one: -0 is below +0, and NaN loses, or wins with `nan`.
#[inline(always)]
pub(super) fn pick(a: f32, b: f32, max: bool, nan: bool) -> f32 {
    // Bits as integers in the order of the values.
    let key = |x: f32| {
        let bits = x.to_bits().cast_signed();
        bits ^ (bits >> 31 & 0x7fff_ffff)
    };
    let first = (key(a) > key(b)) == max;
    let chosen = if first { a } else { b };
    let (if_a, if_b) = if nan { (a, b) } else { (b, a) };
    if a.is_nan() {
        if_a
    } else if b.is_nan() {
        if_b
    } else {
        chosen
    }
}

/// `min` and `max`, of two or three operands.
pub(super) fn extreme(d: &mut Decoder<'_>, ty: ScalarType, max: bool) -> Decoded {
    let ftz = d.flag("ftz");
    let nan = d.flag("NaN");
    let xorsign = d.flag("xorsign");
    let abs = d.flag("abs");
    match ty {
        ScalarType::F64 if !(ftz || nan || xorsign || abs) => {
            binary(d, move |a: f64, b: f64| pick_f64(a, b, max))
        }
        ScalarType::F32 if d.operand_count() == 4 && !xorsign => {
            ternary(d, move |a: f32, b: f32, c: f32| {
                let [a, b, c] = [a, b, c].map(|x| {
                    let x = if ftz { flush(x) } else { x };
                    if abs { x.abs() } else { x }
                });
                Single(pick(pick(a, b, max, nan), c, max, nan))
            })
        }
        ScalarType::F32 if xorsign != abs => Err(d.error(".xorsign and .abs go together here")),
        ScalarType::F32 if !(ftz || nan || abs) => {
            if max {
                binary(d, |a: f32, b: f32| Single(pick(a, b, true, false)))
            } else {
                binary(d, |a: f32, b: f32| Single(pick(a, b, false, false)))
            }
        }
        ScalarType::F32 => binary(d, move |a: f32, b: f32| {
            let (a, b) = if ftz { (flush(a), flush(b)) } else { (a, b) };
            if !abs {
                return Single(pick(a, b, max, nan));
            }
            let sign = (a.to_bits() ^ b.to_bits()) & 1 << 31;
            let magnitude = pick(a.abs(), b.abs(), max, nan);
            Single(f32::from_bits(magnitude.to_bits() | sign))
        }),
        _ => Err(d.error("does not exist for this type")),
    }
}

fn pick_f64(a: f64, b: f64, max: bool) -> u64 {
    if a.is_nan() && b.is_nan() {
        return with_payload(a, &[a]);
    }
    let first = if max {
        a > b || a == b && a.is_sign_positive()
    } else {
        a < b || a == b && a.is_sign_negative()
    };
    if first || b.is_nan() {
        a.to_bits()
    } else {
        b.to_bits()
    }
}

/// `copysign d, a, b`: the sign of `a` on `b`.
pub(super) fn decode_copysign(d: &mut Decoder<'_>) -> Decoded {
    match d.scalar_type()? {
        ScalarType::F32 => binary(d, |a: f32, b: f32| b.copysign(a)),
        ScalarType::F64 => binary(d, |a: f64, b: f64| b.copysign(a)),
        _ => Err(d.error("does not exist for this type")),
    }
}

/// `testp`.
struct Test {
    dst: PredDst,
    a: Src,
    /// Of a register.
    ask: fn(u64) -> bool,
}

impl Execute for Test {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let a = step.row(self.a);
        let mut mask = 0;
        for (lane, value) in a.iter().enumerate() {
            mask |= u32::from((self.ask)(*value)) << lane;
        }
        step.set_pred(self.dst, mask);
        Ok(Flow::Next)
    }
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Test({:?} <- {:?})", self.dst, self.a)
    }
}

macro_rules! test {
    ($float:ident, $name:expr) => {{
        let ask: fn(u64) -> bool = match $name {
            "finite" => |x| $float::of(x).is_finite(),
            "infinite" => |x| $float::of(x).is_infinite(),
            "number" => |x| !$float::of(x).is_nan(),
            "notanumber" => |x| $float::of(x).is_nan(),
            // Zero counts as normal here, against IEEE 754.
            "normal" => |x| $float::of(x).is_normal() || $float::of(x) == 0.0,
            _ => |x| $float::of(x).is_subnormal(),
        };
        ask
    }};
}

pub(super) fn decode_testp(d: &mut Decoder<'_>) -> Decoded {
    let name = d.need_one_of(&[
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ])?;
    let ty = d.scalar_type()?;
    let ask = match ty {
        ScalarType::F32 => test!(f32, name),
        ScalarType::F64 => test!(f64, name),
        _ => return Err(d.error("does not exist for this type")),
    };
    d.expect_operands(2..=2)?;
    Ok(Box::new(Test {
        dst: d.pred_dst(0)?,
        a: d.src(1, ty)?,
        ask,
    }))
}
