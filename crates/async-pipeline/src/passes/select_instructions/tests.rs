//! The expansions on numbers: every bound of the table over all exponents, with exact
//! instructions and with the worst that PTX ISA 9.1 allows.

use super::{
    arithmetic::Arithmetic,
    emit::QUARTER_TURN,
    functions::{FUNCTIONS, Function},
};
use crate::tile_interpreter::table::{self, Apply};

/// Computes expansions; `error` is where approximate instructions are in their range, from
/// -1 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    error: f64,
}

/// Subnormal numbers are 0.
fn flush(value: f32) -> f32 {
    if value.is_subnormal() {
        return 0_f32.copysign(value);
    }
    value
}

impl Plain {
    fn off(self, exact: f64, bits: f64) -> f32 {
        (exact * (1.0 + self.error * (-bits).exp2())) as f32
    }
}

impl Arithmetic for Plain {
    type Float = f32;
    type Int = u32;
    type Flag = bool;

    fn float(self, value: f32) -> f32 {
        value
    }

    fn int(self, value: u32) -> u32 {
        value
    }

    fn add(self, a: f32, b: f32) -> f32 {
        a + b
    }

    fn sub(self, a: f32, b: f32) -> f32 {
        a - b
    }

    fn mul(self, a: f32, b: f32) -> f32 {
        a * b
    }

    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    fn abs(self, a: f32) -> f32 {
        a.abs()
    }

    fn copysign(self, a: f32, b: f32) -> f32 {
        a.copysign(b)
    }

    fn minimum(self, a: f32, b: f32) -> f32 {
        if a.is_nan() { a } else { a.min(b) }
    }

    fn maximum(self, a: f32, b: f32) -> f32 {
        if a.is_nan() { a } else { a.max(b) }
    }

    fn fma_sat(self, a: f32, b: f32, c: f32) -> f32 {
        let sum = a.mul_add(b, c);
        if sum.is_nan() {
            0.0
        } else {
            sum.clamp(0.0, 1.0)
        }
    }

    fn ex2(self, a: f32) -> f32 {
        self.off(f64::from(a).exp2(), 22.0)
    }

    fn ex2_ftz(self, a: f32) -> f32 {
        flush(self.ex2(flush(a)))
    }

    fn lg2(self, a: f32) -> f32 {
        a.log2()
    }

    fn rcp_ftz(self, a: f32) -> f32 {
        flush(self.off(1.0 / f64::from(flush(a)), 23.0))
    }

    fn rsqrt(self, a: f32) -> f32 {
        self.off(1.0 / f64::from(a).sqrt(), 22.9)
    }

    fn bits(self, a: f32) -> u32 {
        a.to_bits()
    }

    fn float_of(self, a: u32) -> f32 {
        f32::from_bits(a)
    }

    fn int_add(self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    fn int_sub(self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }

    fn int_and(self, a: u32, b: u32) -> u32 {
        a & b
    }

    fn int_or(self, a: u32, b: u32) -> u32 {
        a | b
    }

    fn int_xor(self, a: u32, b: u32) -> u32 {
        a ^ b
    }

    fn choose_int(self, condition: bool, yes: u32, no: u32) -> u32 {
        if condition { yes } else { no }
    }

    fn shift_right(self, a: u32, count: u32) -> u32 {
        a >> count
    }

    fn funnel(self, high: u32, low: u32, count: u32) -> u32 {
        let both = u64::from(high) << 32 | u64::from(low);
        (both << (count & 31) >> 32) as u32
    }

    fn multiply(self, a: u32, b: u32, c: u32) -> (u32, u32) {
        let sum = u64::from(a) * u64::from(b) + u64::from(c);
        (sum as u32, (sum >> 32) as u32)
    }

    fn quarter_turn(self, high: u32, low: u32) -> f32 {
        let both = u64::from(high) << 32 | u64::from(low);
        ((both << 2).cast_signed() as f64 * QUARTER_TURN) as f32
    }

    fn shift_left(self, a: u32, count: u32) -> u32 {
        a << count
    }

    fn signed_to_float(self, a: u32) -> f32 {
        a.cast_signed() as f32
    }

    fn at_least(self, a: f32, b: f32) -> bool {
        a >= b
    }

    fn less(self, a: f32, b: f32) -> bool {
        a < b
    }

    fn below(self, a: u32, b: u32) -> bool {
        a < b
    }

    fn select(self, condition: bool, yes: f32, no: f32) -> f32 {
        if condition { yes } else { no }
    }
}

/// Distance in units in the last place of the exact value, or why the result is wrong.
pub(super) fn distance(result: f32, exact: f64) -> Result<f64, &'static str> {
    let rounded = exact as f32;
    let largest = f64::from(f32::MAX);
    if rounded.is_nan() || result.is_nan() {
        return match rounded.is_nan() && result.is_nan() {
            true => Ok(0.0),
            false => Err("NaN"),
        };
    }
    if rounded.is_sign_negative() != result.is_sign_negative() {
        return Err("the sign");
    }
    if exact.is_infinite() {
        return if result == rounded {
            Ok(0.0)
        } else {
            Err("an infinity")
        };
    }
    // Overflow counts as the first number that f32 lacks.
    let value = if result.is_infinite() {
        128_f64.exp2().copysign(exact)
    } else {
        f64::from(result)
    };
    let bounded = exact.clamp(-2.0 * largest, 2.0 * largest);
    let exponent = bounded
        .abs()
        .max(f64::from(f32::MIN_POSITIVE))
        .log2()
        .floor()
        .min(127.0);
    let reference = if bounded.abs() > 128_f64.exp2() && result.is_infinite() {
        value
    } else {
        bounded
    };
    Ok((value - reference).abs() / (exponent - 23.0).exp2())
}

/// Bits of every exponent, both signs: `step` apart, with all special values.
fn inputs(step: usize) -> impl Iterator<Item = f32> {
    let special = [
        0.0,
        1.0,
        -1.0,
        0.6,
        1.333_333,
        0.666_666,
        0.93,
        4.0,
        89.0,
        -20.0,
        -104.0,
        88.722_84,
        -87.336_54,
        128.0,
        -126.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        1e-45,
    ];
    let near = special.into_iter().flat_map(|value: f32| {
        (0..9)
            .map(move |off: u32| f32::from_bits(value.to_bits().wrapping_add(off).wrapping_sub(4)))
    });
    let all = (0..=u32::MAX).step_by(step).map(f32::from_bits);
    // Where e^a nears overflow, and the parts of a logarithm nearly cancel: every float.
    let dense = [(88.0_f32, 88.73_f32), (1.333_2, 1.333_6)];
    let dense = dense
        .into_iter()
        .flat_map(|(low, high)| (low.to_bits()..high.to_bits()).map(f32::from_bits));
    near.flat_map(|value| [value, -value])
        .chain(dense)
        .chain(all)
}

fn exact(function: &Function) -> fn(f64) -> f64 {
    match table::find(function.name).map(|row| row.apply) {
        Some(Apply::Float1(exact)) => exact,
        _ => panic!("{} has no meaning", function.name),
    }
}

/// The largest distance with instructions so far off.
fn largest(function: &Function, error: f64, step: usize) -> (f64, f32) {
    let exact = exact(function);
    inputs(step).fold((0.0, 0.0), |largest, input| {
        let result = (function.compute)(Plain { error }, &[input]);
        let distance = distance(result, exact(input.into())).unwrap_or_else(|what| {
            panic!(
                "{}({input:e}) is {result:e}: {what} is wrong",
                function.name
            )
        });
        if distance > largest.0 {
            (distance, input)
        } else {
            largest
        }
    })
}

const STEP: usize = 1511;

#[test]
fn bounds_of_the_table_hold_and_say_little_more() {
    let wrong: Vec<String> = FUNCTIONS
        .iter()
        .filter_map(|function| {
            let (measured, input) = largest(function, 0.0, STEP);
            let [low, high] = [-1.0, 1.0].map(|error| largest(function, error, STEP));
            let (most, at) = if low.0 > high.0 { low } else { high };
            let tight = |found: f64, bound: f64| found <= bound && found > bound - 0.3;
            let holds = tight(measured, function.ulps) && tight(most, function.most_ulps);
            (!holds).then(|| {
                let name = function.name;
                format!("{name}: {measured:.3} ulp of {input:e}, at most {most:.3} of {at:e}")
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn functions_are_in_the_order_of_names() {
    for pair in FUNCTIONS.windows(2) {
        assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
    }
}
