//! The table of functions: what each becomes and how far off that is.
//!
//! Coefficients are minimax fits: least squares at 400 Chebyshev nodes with Lawson's
//! weights, for the relative error of the result; they are rounded to f32 one after
//! another, the lowest power first, and those that are left are fitted anew.

use super::{
    arithmetic::Arithmetic,
    emit::Emit,
    trigonometry::{cos, sin},
};
use async_pipeline_sys::ir::Value;
use std::f32::consts::{LN_2, LOG2_E, LOG10_2, LOG10_E};

/// One function of f32.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// What it becomes.
    pub(super) method: &'static str,
    /// The largest error in units in the last place of f32, with instructions called
    /// approximate rounded to the nearest; a result near the limits of f32 counts as one
    /// of an unlimited exponent.
    pub(super) ulps: f64,
    /// The same, with those instructions as far off as PTX ISA 9.1 allows.
    pub(super) most_ulps: f64,
    /// Whether the back end selects it on f32.
    pub(super) native: bool,
    /// Emits it.
    pub(super) emit: fn(Emit, &[Value]) -> Value,
    /// The same expansion on numbers.
    #[cfg(test)]
    pub(super) compute: fn(super::tests::Plain, &[f32]) -> f32,
}

pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

macro_rules! function {
    ($name:literal, $expand:ident, $ulps:literal, $most:literal, $native:literal, $method:literal) => {
        Function {
            name: $name,
            method: $method,
            ulps: $ulps,
            most_ulps: $most,
            native: $native,
            emit: |emit, arguments| $expand(emit, arguments[0]),
            #[cfg(test)]
            compute: |plain, arguments| $expand(plain, arguments[0]),
        }
    };
}

/// Every function, in the order of names.
pub(super) static FUNCTIONS: &[Function] = &[
    function!(
        "math.cos",
        cos,
        1.6,
        1.6,
        false,
        "a modulo π/2 exactly, by products with 2/π, and a polynomial"
    ),
    function!(
        "math.erf",
        erf,
        1.2,
        1.9,
        false,
        "below 0.93 a polynomial, else 1 - `ex2.approx.ftz` of a polynomial"
    ),
    function!(
        "math.exp",
        exp,
        1.7,
        5.6,
        false,
        "`ex2.approx.ftz` of the fraction of a · log2 e, times a power of two"
    ),
    function!("math.exp2", exp2, 0.6, 5.1, true, "`ex2.approx`"),
    function!(
        "math.expm1",
        expm1,
        1.6,
        1.6,
        false,
        "a polynomial of the rest of a by ln 2, times a power of two"
    ),
    function!(
        "math.log",
        log,
        1.0,
        1.0,
        false,
        "exponent · ln 2 and a polynomial of the mantissa"
    ),
    function!("math.log10", log10, 2.6, 2.6, false, "as `math.log`"),
    function!(
        "math.log1p",
        log1p,
        1.5,
        1.5,
        false,
        "as `math.log`, of 1 + a"
    ),
    function!("math.log2", log2, 1.7, 1.7, false, "as `math.log`"),
    function!("math.rsqrt", rsqrt, 0.6, 3.1, false, "`rsqrt.approx`"),
    function!(
        "math.sin",
        sin,
        1.6,
        1.6,
        false,
        "a modulo π/2 exactly, by products with 2/π, and a polynomial"
    ),
    function!(
        "math.tanh",
        tanh,
        1.7,
        2.1,
        false,
        "below 0.6 a polynomial, else 1 - 2 / (e^2a + 1) by `ex2.approx.ftz` and `rcp.approx.ftz`"
    ),
];

/// 1.5 · 2^23: added to a small number, it leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;
/// log2 e beyond f32.
const LOG2_E_LOW: f32 = 1.925_963e-8;
/// The bits of 2/3: mantissas are brought to 2/3 and above, below 4/3.
const TWO_THIRDS: u32 = 0x3f2a_aaab;
const EXPONENT: u32 = 0xff80_0000;
/// The bits of infinity less one.
const LARGEST: u32 = 0x7f7f_ffff;

/// e^a = 2^(a log2 e - j) 2^j for the integer j nearest to a log2 e, within -126 and 126:
/// where that is too small the first factor overflows or vanishes as the result does.
fn exp<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    // (j + 126) / 252 with its fraction, then j + 127 in the low bits.
    let part = e.fma_sat(a, e.float(LOG2_E / 252.0), e.float(0.5));
    let count = e.fma(part, e.float(252.0), e.float(ROUND + 1.0));
    let less_j = e.sub(e.float(ROUND + 127.0), count);
    // One step by each half of log2 e: the product itself would lose the fraction.
    let rest = e.fma(a, e.float(LOG2_E), less_j);
    let rest = e.fma(a, e.float(LOG2_E_LOW), rest);
    let scale = e.float_of(e.shift_left(e.bits(count), 23));
    e.mul(e.ex2_ftz(rest), scale)
}

fn exp2<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    e.ex2(a)
}

/// e^a - 1 = 2^j (e^r - 1) + (2^j - 1) for a = j ln 2 + r. At half the size, so that 2^j
/// has room up to the largest result.
fn expm1<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    // Beyond these the result is -1 or infinite.
    let near = e.maximum(e.minimum(a, e.float(89.0)), e.float(-20.0));
    let count = e.fma(near, e.float(LOG2_E), e.float(ROUND));
    let j = e.sub(count, e.float(ROUND));
    // ln 2 in two parts.
    let rest = e.fma(j, e.float(-LN_2), near);
    let rest = e.fma(j, e.float(1.904_654_2e-9), rest);
    // |rest| <= ln 2 / 2; the fit is off by 2^-26.1.
    let series = e.polynomial(
        rest,
        &[
            0.001_387_069_6,
            0.008_366_272,
            0.041_667_435,
            0.166_665_47,
            0.499_999_97,
        ],
    );
    let fraction = e.fma(e.mul(rest, rest), series, rest);
    let half = e.shift_left(e.bits(count), 23);
    let half = e.float_of(e.int_add(half, e.int(0.5_f32.to_bits())));
    let result = e.fma(half, fraction, e.sub(half, e.float(0.5)));
    e.copysign(e.add(result, result), a)
}

/// log(1 + f) for -1/3 <= f <= 1/3; the fit is off by 2^-27.7.
fn log_near_1<A: Arithmetic>(e: A, f: A::Float) -> A::Float {
    let series = e.polynomial(
        f,
        &[
            -0.128_742_62,
            0.139_867_07,
            -0.121_883_82,
            0.140_053_4,
            -0.166_801_8,
            0.200_104_44,
            -0.249_998_05,
            0.333_332_15,
            -0.5,
        ],
    );
    e.fma(e.mul(f, f), series, f)
}

/// The exponent of a and the natural logarithm of its mantissa.
fn log_parts<A: Arithmetic>(e: A, a: A::Float) -> (A::Float, A::Float) {
    let tiny = e.less(a, e.float(f32::MIN_POSITIVE));
    let normal = e.select(tiny, e.mul(a, e.float(8_388_608.0)), a);
    let bits = e.bits(normal);
    let high = e.int_and(e.int_sub(bits, e.int(TWO_THIRDS)), e.int(EXPONENT));
    let mantissa = e.float_of(e.int_sub(bits, high));
    let shift = e.select(tiny, e.float(-23.0), e.float(0.0));
    let exponent = e.fma(e.signed_to_float(high), e.float(1.0 / 8_388_608.0), shift);
    (exponent, log_near_1(e, e.sub(mantissa, e.float(1.0))))
}

/// `result` where a is positive and finite; elsewhere what every logarithm has: -infinity,
/// infinity or NaN.
fn log_special<A: Arithmetic>(e: A, a: A::Float, result: A::Float) -> A::Float {
    let ordinary = e.below(e.int_sub(e.bits(a), e.int(1)), e.int(LARGEST));
    e.select(ordinary, result, e.lg2(a))
}

fn log<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let (exponent, mantissa) = log_parts(e, a);
    log_special(e, a, e.fma(exponent, e.float(LN_2), mantissa))
}

fn log2<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let (exponent, mantissa) = log_parts(e, a);
    log_special(e, a, e.fma(mantissa, e.float(LOG2_E), exponent))
}

fn log10<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let (exponent, mantissa) = log_parts(e, a);
    // The rest of log10 2 matters where the two parts nearly cancel.
    let low = e.mul(exponent, e.float(-1.432_099e-8));
    let low = e.fma(mantissa, e.float(LOG10_E), low);
    log_special(e, a, e.fma(exponent, e.float(LOG10_2), low))
}

fn log1p<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let sum = e.add(a, e.float(1.0));
    let high = e.int_sub(e.bits(sum), e.int(TWO_THIRDS));
    let high = e.int_and(high, e.int(EXPONENT));
    // (1 + a) / 2^k - 1 from a itself: the sum has lost its low bits. 4 / 2^k is normal.
    let scaled = e.float_of(e.int_sub(e.bits(a), high));
    let four = e.float_of(e.int_sub(e.int(4.0_f32.to_bits()), high));
    let f = e.add(scaled, e.fma(e.float(0.25), four, e.float(-1.0)));
    let exponent = e.mul(e.signed_to_float(high), e.float(1.0 / 8_388_608.0));
    let result = e.fma(exponent, e.float(LN_2), log_near_1(e, f));
    e.copysign(log_special(e, sum, result), a)
}

fn rsqrt<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    e.rsqrt(a)
}

fn tanh<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let size = e.abs(a);
    let power = e.ex2_ftz(e.mul(size, e.float(2.0 * LOG2_E)));
    let inverse = e.rcp_ftz(e.add(power, e.float(1.0)));
    let far = e.fma(inverse, e.float(-2.0), e.float(1.0));
    // tanh a / a - 1 by a²; the fit is off by 2^-28.4.
    let square = e.mul(a, a);
    let series = e.polynomial(
        square,
        &[
            -0.005_897_966_7,
            0.020_798_625,
            -0.053_784_717,
            0.133_319_36,
            -0.333_333,
        ],
    );
    let near = e.fma(e.mul(series, square), size, size);
    let result = e.select(e.at_least(size, e.float(0.6)), far, near);
    e.copysign(result, a)
}

fn erf<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let size = e.abs(a);
    // erf a / a - 1 by a²; the fit is off by 2^-29.9.
    let series = e.polynomial(
        e.mul(a, a),
        &[
            7.996_65e-5,
            -0.000_804_976_97,
            0.005_192_405,
            -0.026_855_731,
            0.112_836_26,
            -0.376_126_3,
            0.128_379_17,
        ],
    );
    let near = e.fma(series, size, size);
    // log2(1 - erf a) from 0.93 to 4, behind which the result is 1; off by 2^-29.3.
    let power = e.polynomial(
        e.minimum(size, e.float(4.0)),
        &[
            0.000_281_018_35,
            -0.004_374_149_3,
            0.032_001_674,
            -0.149_806_53,
            -0.919_413_9,
            -1.626_800_2,
            -0.000_304_599_12,
        ],
    );
    let far = e.sub(e.float(1.0), e.ex2_ftz(power));
    let result = e.select(e.at_least(size, e.float(0.93)), far, near);
    e.copysign(result, a)
}
