//! Sine and cosine of every f32: the argument is reduced exactly, by Payne and Hanek's method.

use super::arithmetic::Arithmetic;

/// 32 zeros and the first bits of 2/π behind the point.
const TWO_BY_PI: [u32; 8] = [
    0,
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
];
const SIGN: u32 = 1 << 31;

/// The nearest number of quarter turns in `size`, modulo 4, and the angle that is left, from
/// -π/4 to π/4.
///
/// size = m · 2^(e - 150) with 24 bits of m. Bits of 2/π whose product with that is a
/// multiple of 4 do not matter: of the rest the first 96 are taken.
fn quarters<A: Arithmetic>(e: A, size: A::Float) -> (A::Int, A::Float) {
    let bits = e.bits(size);
    let mantissa = e.int_or(e.int_and(bits, e.int(0x007f_ffff)), e.int(0x0080_0000));
    // Below 0.5 the result is not used.
    let first = e.int_sub(e.shift_right(bits, 23), e.int(120));
    let before = [32, 64, 96, 128].map(|end| e.below(first, e.int(end)));
    let words: [A::Int; 4] = std::array::from_fn(|word| {
        let last = e.int(TWO_BY_PI[word + 4]);
        (0..4).rev().fold(last, |later, skipped| {
            e.choose_int(before[skipped], e.int(TWO_BY_PI[word + skipped]), later)
        })
    });
    let window: [A::Int; 3] =
        std::array::from_fn(|word| e.funnel(words[word], words[word + 1], first));
    let (_, carry) = e.multiply(mantissa, window[2], e.int(0));
    let (low, carry) = e.multiply(mantissa, window[1], carry);
    let (high, _) = e.multiply(mantissa, window[0], carry);
    // Two bits of quarter turns; the first bit behind them rounds.
    let count = e.shift_right(e.int_add(high, e.int(1 << 29)), 30);
    let rest = e.quarter_turn(high, low);
    let small = e.less(size, e.float(0.5));
    (
        e.choose_int(small, e.int(0), count),
        e.select(small, size, rest),
    )
}

/// Sine, or with `ahead` 1 cosine, of `size`; the sign bit of the result is changed by `sign`.
fn turned<A: Arithmetic>(e: A, a: A::Float, ahead: u32, sign: A::Int) -> A::Float {
    let size = e.abs(a);
    let (count, rest) = quarters(e, size);
    let count = e.int_add(count, e.int(ahead));
    let square = e.mul(rest, rest);
    // sin r / r - 1 by r²; the fit is off by 2^-27.9.
    let sine = e.polynomial(square, &[-0.000_195_178_98, 0.008_332_187, -0.166_666_55]);
    let sine = e.fma(e.mul(sine, square), rest, rest);
    // cos r - 1 + r²/2 by r⁴; the fit is off by 2^-33.
    let cosine = e.polynomial(
        square,
        &[2.443_233_6e-5, -0.001_388_731, 0.041_666_646, -0.5],
    );
    let cosine = e.fma(cosine, square, e.float(1.0));
    let even = e.below(e.int_and(count, e.int(1)), e.int(1));
    let half_turn = e.shift_left(e.int_and(count, e.int(2)), 30);
    let result = e.bits(e.select(even, sine, cosine));
    let result = e.float_of(e.int_xor(e.int_xor(result, half_turn), sign));
    // Infinity less itself is NaN.
    e.select(e.less(size, e.float(f32::INFINITY)), result, e.sub(a, a))
}

pub(super) fn sin<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    let sign = e.int_and(e.bits(a), e.int(SIGN));
    turned(e, a, 0, sign)
}

pub(super) fn cos<A: Arithmetic>(e: A, a: A::Float) -> A::Float {
    turned(e, a, 1, e.int(0))
}
