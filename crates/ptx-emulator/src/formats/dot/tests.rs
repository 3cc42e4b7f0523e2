//! The accumulation rule as measured on an H200, and the quick path against a plain statement of the rule.

use super::*;
use crate::formats::narrow::{E4M3_VALUES, bf16_to_f32, f16_to_f32, tf32_operand};
use proptest::prelude::*;

const TINY_C: f32 = f32::from_bits(0x0001_16c2);

/// One result of one instruction whose other products are zero. The terms stand at places of K that `stride` tells apart.
fn one(rule: Rule, depth: usize, terms: &[(f32, f32)], c: f32) -> f32 {
    let (mut a, mut b) = (vec![0.0; depth], vec![0.0; depth]);
    for (k, &(x, y)) in terms.iter().enumerate() {
        (a[k], b[k]) = (x, y);
    }
    let mut sum = [c];
    accumulate_tile(rule, &a, &b, &mut sum, 1, 1, depth);
    sum[0]
}

fn power(exponent: i32) -> f32 {
    2f32.powi(exponent)
}

const EIGHT_BIT: Rule = Rule::wgmma_eight_bit(least_exponent::E5M2, least_exponent::E5M2);

#[test]
fn twenty_five_bits_below_the_largest_term_are_kept() {
    let big = (power(15), 1.0);
    let less = (-power(15), 1.0);
    assert_eq!(
        one(Rule::F16, 16, &[big, (power(-10), 1.0), less], 0.0),
        power(-10)
    );
    assert_eq!(
        one(Rule::F16, 16, &[big, (power(-11), 1.0), less], 0.0),
        0.0
    );
    for (units, kept) in [
        (1.0, 1.0),
        (1.5, 1.0),
        (1.75, 1.0),
        (3.5, 3.0),
        (0.5, 0.0),
        (0.75, 0.0),
        (-0.5, 0.0),
        (-0.75, 0.0),
        (-1.0, -1.0),
        (-1.5, -1.0),
        (-1.75, -1.0),
        (-3.5, -3.0),
    ] {
        let sum = one(Rule::F16, 16, &[big, (units * power(-10), 1.0), less], 0.0);
        assert_eq!(sum, kept * power(-10), "{units} units");
    }
}

/// P - P + 14 terms of half the lowest kept bit: each is cut on its own.
#[test]
fn terms_are_cut_one_by_one() {
    let mut terms = vec![(power(15), 1.0), (-power(15), 1.0)];
    terms.extend([(power(-11), 1.0); 14]);
    assert_eq!(one(Rule::F16, 16, &terms, 0.0), 0.0);
}

#[test]
fn sums_are_cut_toward_zero() {
    let add = |units: f32| one(Rule::F16, 16, &[(units * power(-13), power(-10))], 1.0);
    assert_eq!((add(0.5), add(0.75)), (1.0, 1.0));
    assert_eq!(
        (add(1.0), add(1.25), add(1.75)),
        (1.0 + power(-23), 1.0 + power(-23), 1.0 + power(-23))
    );
    assert_eq!(add(-0.25), 1.0 - power(-24));
    assert_eq!(add(-1.25), 1.0 - 3.0 * power(-24));
}

/// The product 1.5·1.5 counts with the sum of the exponents, not with its own exponent.
#[test]
fn exponents_of_products_are_not_normalised() {
    let terms = |low| [(1.5 * power(13), 1.5), (low, 1.0), (-1.5 * power(13), 1.5)];
    assert_eq!(one(Rule::F16, 16, &terms(power(-12)), 0.0), power(-12));
    assert_eq!(one(Rule::F16, 16, &terms(power(-13)), 0.0), 0.0);
}

#[test]
fn the_accumulator_is_a_term_like_the_others() {
    let p = power(15);
    let c = -(p + p * power(-13) + p * power(-23));
    assert_eq!(
        one(Rule::F16, 16, &[(p, 1.0)], c),
        -(p * power(-13) + p * power(-23))
    );
    assert_eq!(one(EIGHT_BIT, 32, &[(p, 1.0)], c), -p * power(-13));
    let small = 1.25 * p * power(-20);
    assert_eq!(one(Rule::F16, 16, &[(p, 1.0), (-p, 1.0)], small), small);
    assert_eq!(one(EIGHT_BIT, 32, &[(p, 1.0), (-p, 1.0)], small), 0.0);
    assert_eq!(one(EIGHT_BIT, 32, &[], TINY_C).to_bits(), 0x0001_1400);
    assert_eq!(one(EIGHT_BIT, 32, &[(power(-5), power(-9))], 1.0), 1.0);
}

#[test]
fn specials_as_measured() {
    for rule in [Rule::F16, Rule::WIDE, EIGHT_BIT, Rule::MMA_SYNC_EIGHT_BIT] {
        let bits = |a, b, c| one(rule, 32, &[(a, b)], c).to_bits();
        let nan = 0x7fff_ffff;
        assert_eq!(bits(f32::NAN, 1.0, 0.0), nan, "{rule:?}");
        assert_eq!(bits(-0.0, 1.0, -0.0), 0);
        assert_eq!(bits(0.0, 0.0, -0.0), 0);
        assert_eq!(bits(1.0, 1.0, TINY_C), 0x3f80_0000);
        assert_eq!(bits(f32::INFINITY, 1.0, 0.0), 0x7f80_0000);
        assert_eq!(bits(f32::INFINITY, 0.0, 0.0), nan);
        assert_eq!(bits(f32::NEG_INFINITY, 1.0, f32::INFINITY), nan);
        assert_eq!(bits(1.0, 1.0, f32::NEG_INFINITY), 0xff80_0000);
    }
    assert_eq!(one(Rule::F16, 16, &[], TINY_C), TINY_C);
    let wide = |a, b, c| one(Rule::WIDE, 8, &[(a, b)], c).to_bits();
    assert_eq!(wide(bf16_to_f32(1), 1.0, 0.0), 0x0001_0000);
    // 1e-20 cut to bf16 (rounded) and to tf32.
    let short = |x: f32| f32::from_bits((x.to_bits() + 0x8000) & 0xffff_0000);
    assert_eq!(wide(short(1e-20), short(1e-20), 0.0), 0x0001_1712);
    let cut = |x: f32| tf32_operand(x.to_bits());
    assert_eq!(wide(cut(1e-20), cut(1e-20), 0.0), 0x0001_16b3);
    assert_eq!(wide(cut(3e38), 2.0, 0.0), 0x7f80_0000);
}

/// Sums that have more than 13 fraction bits before the last cut (measured on an H200: 45b41200 came out as 45b41000).
#[test]
fn eight_bit_wgmma_cuts_the_sum_too() {
    let e4m3 = Rule::wgmma_eight_bit(least_exponent::E4M3, least_exponent::E4M3);
    // 8192 + 8192 + 1: each term keeps 13 bits below 2^13, and their sum is 2^14 + 1.
    let a = [128.0, 128.0, 1.0];
    let b = [64.0, 64.0, 1.0];
    let mut c = [0.0];
    accumulate_tile(e4m3, &a, &b, &mut c, 1, 1, 3);
    assert_eq!(c, [16384.0]);
    let mut c = [0.0];
    accumulate_tile(Rule::F16, &a, &b, &mut c, 1, 1, 3);
    assert_eq!(c, [16385.0]);
}

/// Two f16 instructions, the second on the first's result, and the accumulator added to nearest.
#[test]
fn eight_bit_mma_sync_adds_in_two_halves() {
    let at = |places: &[(usize, f32, f32)], c: f32| {
        let (mut a, mut b) = (vec![0.0; 32], vec![0.0; 32]);
        for &(k, x, y) in places {
            (a[k], b[k]) = (x, y);
        }
        let mut sum = [c];
        accumulate_tile(Rule::MMA_SYNC_EIGHT_BIT, &a, &b, &mut sum, 1, 1, 32);
        sum[0]
    };
    let p = power(15);
    // The counterpart of P in the second half: between them stands a cut to f32, 23 bits below P.
    assert_eq!(
        at(&[(0, p, 1.0), (1, power(-8), 1.0), (2, -p, 1.0)], 0.0),
        power(-8)
    );
    assert_eq!(
        at(&[(0, p, 1.0), (1, power(-9), 1.0), (2, -p, 1.0)], 0.0),
        0.0
    );
    assert_eq!(
        at(&[(0, p, 1.0), (1, power(-10), 1.0), (4, -p, 1.0)], 0.0),
        power(-10)
    );
    assert_eq!(
        at(&[(0, p, 1.0), (1, power(-11), 1.0), (4, -p, 1.0)], 0.0),
        0.0
    );
    // Rounding of the last addition: 0.75 ulp goes up.
    assert_eq!(
        at(&[(0, 0.75 * power(-13), power(-10))], 1.0),
        1.0 + power(-23)
    );
    assert_eq!(at(&[(0, 0.5 * power(-13), power(-10))], 1.0), 1.0);
}

#[test]
fn integers_wrap_or_saturate() {
    let run = |saturate, value: f32, start| {
        let (a, b) = ([value; 32], [255.0; 32]);
        let mut c = [start];
        accumulate_integers(saturate, &a, &b, &mut c, 1, 1, 32);
        c[0]
    };
    assert_eq!(run(false, 255.0, 7), 32 * 255 * 255 + 7);
    assert_eq!(run(false, 255.0, i32::MAX), (32 * 255 * 255 - 1) + i32::MIN);
    assert_eq!(run(true, 255.0, i32::MAX - 5), i32::MAX);
    assert_eq!(run(true, -128.0, i32::MIN + 5), i32::MIN);
}

#[test]
fn short_slices_and_empty_shapes_do_nothing() {
    let mut c = [1.0; 4];
    accumulate_tile(Rule::F16, &[1.0; 3], &[1.0; 3], &mut c, 2, 2, 4);
    accumulate_tile(Rule::F16, &[], &[], &mut c, 2, 2, 0);
    accumulate_tile(Rule::MMA_SYNC_EIGHT_BIT, &[1.0], &[1.0], &mut c, 0, 9, 7);
    accumulate_integers(true, &[], &[], &mut [], 3, 3, 3);
    assert_eq!(c, [1.0; 4]);
}

/// The rule once more, from its text: terms as an integer and the exponent of its unit, cut by integer division.
fn stated(rule: Rule, terms: &[(f32, f32)], c: f32) -> f32 {
    fn parts(x: f32, least: i32) -> (i128, i32, i32) {
        let bits = x.to_bits();
        let field = (bits >> 23 & 255) as i32;
        let fraction = i128::from(bits & 0x7f_ffff);
        let (integer, unit) = if field == 0 {
            (fraction, -149)
        } else {
            (fraction | 1 << 23, field - 150)
        };
        let sign = if bits >> 31 == 1 { -1 } else { 1 };
        (sign * integer, unit, (field - 127).max(least))
    }
    let mut items: Vec<(i128, i32, i32)> = vec![];
    for &(a, b) in terms {
        let (a, a_unit, a_exponent) = parts(a, rule.least_a);
        let (b, b_unit, b_exponent) = parts(b, rule.least_b);
        items.push((a * b, a_unit + b_unit, a_exponent + b_exponent));
    }
    items.push(parts(c, -126));
    items.retain(|item| item.0 != 0);
    let Some(largest) = items.iter().map(|item| item.2).max() else {
        return 0.0;
    };
    let lowest = largest - rule.kept_bits;
    let total: i128 = items
        .iter()
        .map(|&(integer, unit, _)| match unit - lowest {
            up @ 0.. => integer << up,
            down @ -126..0 => integer / (1i128 << -down),
            _ => 0,
        })
        .sum();
    let magnitude = total.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let leading = 127 - magnitude.leading_zeros() as i32;
    let exponent = (lowest + leading).max(-126);
    let cut = match exponent - 23 - lowest {
        down @ 1.. => magnitude >> down.min(127),
        up => magnitude << -up,
    };
    let field = if cut >> 23 == 0 { 0 } else { exponent + 127 };
    let bits = if field >= 255 {
        0x7f80_0000
    } else {
        (field as u32) << 23 | cut as u32 & 0x7f_ffff
    };
    // 8-bit floats of `wgmma` keep 13 fraction bits of the sum, all others 23.
    let kept = if rule.kept_bits == 13 { !0x3ff } else { !0 };
    f32::from_bits(bits & kept | u32::from(total < 0) << 31)
}

fn finite(x: f32) -> f32 {
    if x.is_finite() { x } else { 1.0 }
}

/// Values of a format, with zeros, equal magnitudes and far apart exponents common enough to matter.
fn values(decode: fn(u16) -> f32) -> impl Strategy<Value = f32> {
    prop_oneof![
        1 => Just(0.0),
        4 => any::<u16>().prop_map(move |bits| finite(decode(bits))),
        4 => (-8i8..9).prop_map(f32::from),
        4 => (any::<u16>(), 0..8u32).prop_map(move |(bits, octaves)| {
            let bits = finite(decode(bits)).to_bits();
            f32::from_bits(bits & 0x807f_ffff | (124 + octaves) << 23)

        }),
    ]
}

fn tile(decode: fn(u16) -> f32, depth: usize) -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
    let any = move |rows: usize| prop::collection::vec(values(decode), rows * depth);
    // Integers alone take the way without cuts; a few bits of fraction make sums leave it.
    let small = move |rows: usize| {
        let value =
            (-8i8..9, 0..4i32).prop_map(|(integer, shift)| f32::from(integer) * power(-shift));
        prop::collection::vec(value, rows * depth)
    };
    prop_oneof![
        (any(3), any(11)),
        (small(3), small(11)),
        (small(3), any(11))
    ]
}

fn accumulators() -> impl Strategy<Value = Vec<f32>> {
    let one = prop_oneof![
        Just(0.0),
        any::<u32>().prop_map(|bits| finite(f32::from_bits(bits))),
        (-100i8..100).prop_map(f32::from),
        -4.0f32..4.0,
    ];
    let small = (-2000i16..2000, 0..8i32).prop_map(|(c, shift)| f32::from(c) * power(-shift));
    prop_oneof![
        prop::collection::vec(one, 33),
        prop::collection::vec(prop_oneof![Just(0.0), Just(-0.0), small], 33),
    ]
}

fn agrees(
    rule: Rule,
    depth: usize,
    a: &[f32],
    b: &[f32],
    start: &[f32],
) -> Result<(), TestCaseError> {
    let mut c = start.to_vec();
    accumulate_tile(rule, a, b, &mut c, 3, 11, depth);
    for row in 0..3 {
        for column in 0..11 {
            let at = row * 11 + column;
            let (x, y) = (&a[row * depth..][..depth], &b[column * depth..][..depth]);
            let terms: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
            let expected = stated(rule, &terms, start[at]);
            prop_assert_eq!(
                c[at].to_bits(),
                expected.to_bits(),
                "{:?} {:?} {}",
                rule,
                terms,
                start[at]
            );
            prop_assert_eq!(dot(rule, x, y, start[at]).to_bits(), expected.to_bits());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn f16_tiles_follow_the_rule((a, b) in tile(f16_to_f32, 16), c in accumulators()) {
        agrees(Rule::F16, 16, &a, &b, &c)?;
    }

    #[test]
    fn bf16_tiles_follow_the_rule((a, b) in tile(bf16_to_f32, 16), c in accumulators()) {
        agrees(Rule::WIDE, 16, &a, &b, &c)?;
    }

    #[test]
    fn tf32_tiles_follow_the_rule(
        (a, b) in tile(|bits| tf32_operand(u32::from(bits) << 16 | 0x6000), 8),
        c in accumulators(),
    ) {
        agrees(Rule::WIDE, 8, &a, &b, &c)?;
    }

    #[test]
    fn eight_bit_tiles_follow_the_rule(
        (a, b) in tile(|bits| E4M3_VALUES[usize::from(bits & 0xff)], 32),
        c in accumulators(),
    ) {
        let rule = Rule::wgmma_eight_bit(least_exponent::E4M3, least_exponent::E4M3);
        agrees(rule, 32, &a, &b, &c)?;
        agrees(Rule::wide(least_exponent::E4M3, least_exponent::E4M3), 32, &a, &b, &c)?;
    }
}
