use proptest::prelude::*;

use super::*;
use crate::formats::narrow::{BF16, F32};

const NEAREST: Rounding = Rounding::NearestEven;

/// Any pattern, and often ones whose exponents are close.
fn number() -> impl Strategy<Value = f64> {
    let close = (any::<bool>(), 1000u64..1060, any::<u64>()).prop_map(|(negative, field, bits)| {
        f64::from_bits(u64::from(negative) << 63 | field << 52 | bits >> 12)
    });
    prop_oneof![any::<u64>().prop_map(f64::from_bits), close]
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// The three directed roundings enclose the one to nearest as closely as can be.
fn directed_fit(value: impl Fn(Rounding) -> Exact) {
    let round = |rounding| value(rounding).to_f64(rounding);
    let (down, nearest, up) = (round(Rounding::Down), round(NEAREST), round(Rounding::Up));
    let toward_zero = round(Rounding::TowardZero);
    if nearest.is_nan() {
        return;
    }
    assert!(
        down <= nearest && nearest <= up,
        "{down:e} {nearest:e} {up:e}"
    );
    assert!(up == down || up == down.next_up(), "{down:e} {up:e}");
    let expected = if nearest.is_sign_negative() { up } else { down };
    assert_eq!(toward_zero, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn rounding_to_nearest_is_the_host_s(a in number(), b in number(), c in number()) {
        prop_assert!(same(add(a, b, NEAREST).to_f64(NEAREST), a + b));
        prop_assert!(same(mul(a, b).to_f64(NEAREST), a * b));
        prop_assert!(same(fma(a, b, c, NEAREST).to_f64(NEAREST), a.mul_add(b, c)));
        prop_assert!(same(div(a, b).to_f64(NEAREST), a / b));
        prop_assert!(same(sqrt(a).to_f64(NEAREST), a.sqrt()));
        let near = a * b;
        prop_assert!(same(fma(a, b, -near, NEAREST).to_f64(NEAREST), a.mul_add(b, -near)));
    }

    #[test]
    fn directed_roundings_enclose_the_value(a in number(), b in number(), c in number()) {
        directed_fit(|rounding| add(a, b, rounding));
        directed_fit(|_| mul(a, b));
        directed_fit(|rounding| fma(a, b, c, rounding));
        directed_fit(|_| div(a, b));
        directed_fit(|_| sqrt(a));
    }

    /// f32 operations through f64 rounded to odd are the host's, which round once.
    #[test]
    fn narrower_formats_are_rounded_once(a in any::<u32>(), b in any::<u32>(), c in any::<u32>()) {
        let [a, b, c] = [a, b, c].map(f32::from_bits);
        let [x, y, z] = [a, b, c].map(f64::from);
        let to = |value: Exact| {
            f64::from(f32::from_bits(value.to(&F32, NEAREST, Modifiers::default())))
        };
        prop_assert!(same(to(add(x, y, NEAREST)), (a + b).into()));
        prop_assert!(same(to(fma(x, y, z, NEAREST)), a.mul_add(b, c).into()));
        prop_assert!(same(to(div(x, y)), (a / b).into()));
        prop_assert!(same(to(sqrt(x)), a.sqrt().into()));
    }

    #[test]
    fn integers_round_as_the_host_rounds_them(value in any::<i64>(), shift in 0u32..64) {
        let value = value >> shift;
        let exact = Exact::integer(value.into());
        prop_assert_eq!(exact.to_f64(NEAREST), value as f64);
        let bits = exact.to(&F32, NEAREST, Modifiers::default());
        prop_assert_eq!(f32::from_bits(bits), value as f32);
        directed_fit(|_| exact);
    }
}

#[test]
fn a_zero_from_unlike_signs_is_negative_only_when_rounding_down() {
    for (a, b) in [(1.0, -1.0), (0.0, -0.0), (-0.0, 0.0)] {
        assert!(same(add(a, b, Rounding::Down).to_f64(Rounding::Down), -0.0));
        assert!(same(add(a, b, Rounding::Up).to_f64(Rounding::Up), 0.0));
    }
    assert!(same(
        add(-0.0, -0.0, Rounding::Up).to_f64(Rounding::Up),
        -0.0
    ));
    assert!(same(
        add(-0.0, 1e-320, Rounding::Up).to_f64(Rounding::Up),
        1e-320
    ));
}

/// A tie of the narrow format with something far below it: rounding through f64 to nearest would
/// lose it.
#[test]
fn what_is_cut_off_still_decides_ties() {
    let tie = 1.0 + 2f64.powi(-8);
    let round = |c| add(tie, c, NEAREST).to(&BF16, NEAREST, Modifiers::default());
    assert_eq!(round(0.0), 0x3f80);
    assert_eq!(round(2f64.powi(-100)), 0x3f81);
    assert_eq!(round(-(2f64.powi(-100))), 0x3f80);
}

#[test]
fn overflow_goes_where_the_rounding_leads() {
    let (most, infinity) = (f64::MAX, f64::INFINITY);
    let twice = |rounding| add(most, most, rounding).to_f64(rounding);
    assert_eq!(twice(NEAREST), infinity);
    assert_eq!(twice(Rounding::Up), infinity);
    assert_eq!(twice(Rounding::Down), most);
    assert_eq!(twice(Rounding::TowardZero), most);
}
