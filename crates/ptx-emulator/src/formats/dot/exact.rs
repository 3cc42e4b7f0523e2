//! The accumulation rule for one result, for every input: the definition that the quick path has to agree with.

use super::{Rule, SPECIAL, ZERO, canonical, cut_to_f32, exponent};

/// The sum of the products of `a` and `b` and of `c` by `rule`, all at once. Handles specials and the whole exponent range.
pub(super) fn dot(rule: Rule, a: &[f32], b: &[f32], c: f32) -> f32 {
    let products = || a.iter().copied().zip(b.iter().copied());
    let special = products().any(|(a, b)| !a.is_finite() || !b.is_finite()) || !c.is_finite();
    if special {
        // Finite terms cannot change an infinite or undefined sum. f64 holds every product of two f32 without overflow.
        let sum = products().map(|(a, b)| f64::from(a) * f64::from(b));
        let sum = sum.filter(|product| !product.is_finite()).sum::<f64>();
        let sum = if c.is_finite() {
            sum
        } else {
            sum + f64::from(c)
        };
        return canonical(sum as f32);
    }
    let of_c = exponent(c, -126);
    let exponents = products()
        .map(|(a, b)| exponent(a, rule.least_a) + exponent(b, rule.least_b))
        .chain([of_c]);
    let largest = exponents.max().unwrap_or(ZERO);
    debug_assert!(largest < SPECIAL + ZERO, "specials are handled above");
    if largest < ZERO / 2 {
        return 0.0;
    }
    let unit = i32::from(largest) - rule.kept_bits;
    let total: i64 = products()
        .map(|(a, b)| cut(f64::from(a) * f64::from(b), unit))
        .chain([cut(f64::from(c), unit)])
        .sum();
    if total == 0 {
        return 0.0;
    }
    rule.cut_result(cut_to_f32(total as f64 * power_of_two(unit)))
}

/// `x / 2^unit`, cut toward zero. Less than 2^28 in magnitude, because `x` is below 2^(unit + 27). The product of two f32 is
/// exact in f64 (48 bits, exponent at least -298), and so is the division.
fn cut(x: f64, unit: i32) -> i64 {
    (x / power_of_two(unit)) as i64
}

/// 2 to a power between -277 and 229: what two f32 exponents and the kept bits can add up to.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((i64::from(power) + 1023) as u64) << 52)
}
