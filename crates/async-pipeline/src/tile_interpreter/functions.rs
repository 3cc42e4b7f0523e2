//! Functions that are not in the standard library, or not with these special values.

fn ordered(a: f64, b: f64, greater: bool) -> f64 {
    // The sign of zero decides between equals.
    let first = if a == b {
        a.is_sign_positive() == greater
    } else {
        (a > b) == greater
    };
    if first { a } else { b }
}

pub(super) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    ordered(a, b, true)
}

pub(super) fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    ordered(a, b, false)
}

pub(super) fn maxnum(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => ordered(a, b, true),
    }
}

pub(super) fn minnum(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => ordered(a, b, false),
    }
}

pub(super) fn rsqrt(a: f64) -> f64 {
    // The root of -0 is -0, and 1 / -0 is -infinity, as `rsqrt` of PTX has it.
    1.0 / a.sqrt()
}

/// The error function: a series of positive terms, which loses no bits.
pub(super) fn erf(a: f64) -> f64 {
    if a.is_nan() {
        return a;
    }
    let x = a.abs();
    if x > 6.0 {
        return 1_f64.copysign(a);
    }
    let (mut sum, mut term, mut n) = (0.0, x, 0.0);
    while term > sum * 1e-17 {
        sum += term;
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
    }
    (std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum)
        .min(1.0)
        .copysign(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_right_to_15_digits() {
        // Abramowitz and Stegun, table 7.1, and values to 16 digits.
        for (x, expected) in [
            (0.0, 0.0),
            (0.1, 0.112_462_916_018_284_9),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.5, 0.999_999_256_901_627_7),
            (7.0, 1.0),
        ] {
            assert!((erf(x) - expected).abs() < 2e-15, "{x}: {}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
        assert_eq!(erf(f64::NEG_INFINITY), -1.0);
        assert!(erf(f64::NAN).is_nan());
    }

    #[test]
    fn minimum_and_maximum_know_nan_and_signed_zero() {
        let nan = f64::NAN;
        assert!(maximum(nan, 1.0).is_nan() && minimum(1.0, nan).is_nan());
        assert_eq!((maxnum(nan, 1.0), minnum(1.0, nan)), (1.0, 1.0));
        assert!(maxnum(nan, nan).is_nan());
        assert!(maximum(-0.0, 0.0).is_sign_positive() && maximum(0.0, -0.0).is_sign_positive());
        assert!(minnum(-0.0, 0.0).is_sign_negative() && minnum(0.0, -0.0).is_sign_negative());
        assert_eq!((maximum(1.0, 2.0), minimum(1.0, 2.0)), (2.0, 1.0));
    }
}
