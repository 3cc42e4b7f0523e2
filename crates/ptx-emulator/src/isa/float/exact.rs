//! Sums, products, quotients and roots without rounding, to be rounded once in any direction.
//!
//! The host rounds to nearest only. What PTX wants rounded otherwise is computed here on integers;
//! it is rare, so that speed does not matter.

use crate::formats::narrow::{Format, Modifiers, Rounding};

/// A result before rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::isa) enum Exact {
    /// NaN, infinity or zero: nothing to round.
    Special(f64),
    /// `significand * 2^exponent`, not zero. If the value lies between two integers of this
    /// scale, the significand is the odd one of them; there are always enough bits below the
    /// place where a format rounds.
    Finite {
        /// Whether it is below zero.
        negative: bool,
        /// Not zero.
        significand: u128,
        /// Power of two.
        exponent: i32,
    },
}

/// How the last bit comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Rounded(Rounding),
    /// Set if anything was cut off: rounding the result again, to at least two bits less, rounds
    /// as if it were the exact value.
    Odd,
}

const SPECIAL_FIELD: u64 = 0x7ff << 52;

fn split(x: f64) -> (bool, u128, i32) {
    let bits = x.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = u128::from(bits & ((1 << 52) - 1));
    if field == 0 {
        (bits >> 63 == 1, fraction, -1074)
    } else {
        (bits >> 63 == 1, fraction | 1 << 52, field - 1075)
    }
}

/// Shifts the highest bit to bit 125: room for a carry and a sign.
fn normalise(significand: u128, exponent: i32) -> (u128, i32) {
    let shift = significand.leading_zeros() as i32 - 2;
    (significand << shift, exponent - shift)
}

/// Shifts right; a lost bit sets the lowest.
fn shift_sticky(significand: u128, shift: u32) -> u128 {
    match significand.checked_shr(shift) {
        Some(kept) => kept | u128::from(kept << shift != significand),
        None => u128::from(significand != 0),
    }
}

fn zero(negative: bool) -> Exact {
    Exact::Special(if negative { -0.0 } else { 0.0 })
}

impl Exact {
    fn new(negative: bool, significand: u128, exponent: i32) -> Self {
        if significand == 0 {
            return zero(negative);
        }
        Self::Finite {
            negative,
            significand,
            exponent,
        }
    }

    /// An integer.
    pub(in crate::isa) fn integer(value: i128) -> Self {
        Self::new(value < 0, value.unsigned_abs(), 0)
    }

    /// The sum of finite values. An exact zero from unlike signs is -0 if rounding goes down.
    fn plus(self, other: Self, rounding: Rounding) -> Self {
        let (
            Self::Finite {
                negative,
                significand,
                exponent,
            },
            Self::Finite {
                negative: other_negative,
                significand: other_significand,
                exponent: other_exponent,
            },
        ) = (self, other)
        else {
            return match (self, other) {
                (Self::Special(a), Self::Special(b)) => {
                    let both = a.is_sign_negative() && b.is_sign_negative();
                    let either = a.is_sign_negative() || b.is_sign_negative();
                    zero(both || either && rounding == Rounding::Down)
                }
                (Self::Special(_), finite) | (finite, _) => finite,
            };
        };
        let x = (negative, normalise(significand, exponent));
        let y = (other_negative, normalise(other_significand, other_exponent));
        let (big, small) = if x.1.1 >= y.1.1 { (x, y) } else { (y, x) };
        let (negative, (large, exponent)) = big;
        let added = shift_sticky(small.1.0, exponent.abs_diff(small.1.1));
        if negative == small.0 {
            return Self::new(negative, large + added, exponent);
        }
        if large == added {
            return zero(rounding == Rounding::Down);
        }
        Self::new(negative != (added > large), large.abs_diff(added), exponent)
    }

    fn to_f64_bits(self, last: Last) -> f64 {
        let (negative, significand, exponent) = match self {
            Self::Special(value) => return value,
            Self::Finite {
                negative,
                significand,
                exponent,
            } => (negative, significand, exponent),
        };
        let leading = 127 - significand.leading_zeros() as i32 + exponent;
        let quantum = (leading - 52).max(-1074);
        let shift = quantum - exponent;
        let (kept, exact, up) = if shift <= 0 {
            (significand << (-shift).min(127), true, false)
        } else {
            let kept = significand.checked_shr(shift.cast_unsigned()).unwrap_or(0);
            let rest = if shift < 128 {
                significand - (kept << shift)
            } else {
                significand
            };
            let half = 1u128
                .checked_shl(shift.cast_unsigned() - 1)
                .unwrap_or(u128::MAX);
            let up = match last {
                Last::Odd => false,
                Last::Rounded(Rounding::NearestEven) => {
                    rest > half || rest == half && kept & 1 == 1
                }
                Last::Rounded(Rounding::NearestAway) => rest >= half,
                Last::Rounded(Rounding::TowardZero) => false,
                Last::Rounded(Rounding::Down) => negative && rest != 0,
                Last::Rounded(Rounding::Up) => !negative && rest != 0,
            };
            (kept, rest == 0, up)
        };
        let sign = u64::from(negative) << 63;
        let scale = u64::from((quantum + 1074).cast_unsigned());
        let magnitude = if scale >= 0x7ff {
            SPECIAL_FIELD
        } else {
            // The implied one in `kept` steps the exponent field up by one; a subnormal has none.
            (scale << 52) + kept as u64 + u64::from(up)
        };
        if magnitude >= SPECIAL_FIELD {
            let outward = match last {
                Last::Rounded(Rounding::NearestEven | Rounding::NearestAway) => true,
                Last::Rounded(Rounding::Down) => negative,
                Last::Rounded(Rounding::Up) => !negative,
                Last::Rounded(Rounding::TowardZero) | Last::Odd => false,
            };
            return f64::from_bits(sign | (SPECIAL_FIELD - u64::from(!outward)));
        }
        let odd = u64::from(last == Last::Odd && !exact);
        f64::from_bits(sign | magnitude | odd)
    }

    /// Rounds to f64.
    pub(in crate::isa) fn to_f64(self, rounding: Rounding) -> f64 {
        self.to_f64_bits(Last::Rounded(rounding))
    }

    /// Rounds to a narrower format.
    pub(in crate::isa) fn to(
        self,
        format: &Format,
        rounding: Rounding,
        modifiers: Modifiers,
    ) -> u32 {
        format.encode(self.to_f64_bits(Last::Odd), rounding, modifiers)
    }
}

fn finite(x: f64) -> Exact {
    let (negative, significand, exponent) = split(x);
    Exact::new(negative, significand, exponent)
}

/// `a + b`.
pub(in crate::isa) fn add(a: f64, b: f64, rounding: Rounding) -> Exact {
    if !a.is_finite() || !b.is_finite() {
        return Exact::Special(a + b);
    }
    finite(a).plus(finite(b), rounding)
}

/// `a * b`.
pub(in crate::isa) fn mul(a: f64, b: f64) -> Exact {
    if !a.is_finite() || !b.is_finite() {
        return Exact::Special(a * b);
    }
    let ((a_negative, a, a_exponent), (b_negative, b, b_exponent)) = (split(a), split(b));
    Exact::new(a_negative != b_negative, a * b, a_exponent + b_exponent)
}

/// `a * b + c`.
pub(in crate::isa) fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> Exact {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return Exact::Special(a.mul_add(b, c));
    }
    mul(a, b).plus(finite(c), rounding)
}

/// `a / b`.
pub(in crate::isa) fn div(a: f64, b: f64) -> Exact {
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return Exact::Special(a / b);
    }
    let ((a_negative, a, a_exponent), (b_negative, b, b_exponent)) = (split(a), split(b));
    let (a, a_exponent) = normalise(a, a_exponent);
    let quotient = (a / b) | u128::from(a % b != 0);
    Exact::new(a_negative != b_negative, quotient, a_exponent - b_exponent)
}

/// The square root.
pub(in crate::isa) fn sqrt(a: f64) -> Exact {
    if !a.is_finite() || a <= 0.0 {
        return Exact::Special(a.sqrt());
    }
    let (_, significand, exponent) = split(a);
    let (mut significand, mut exponent) = normalise(significand, exponent);
    if exponent % 2 != 0 {
        significand <<= 1;
        exponent -= 1;
    }
    let root = significand.isqrt();
    let inexact = root * root != significand;
    Exact::new(false, root | u128::from(inexact), exponent / 2)
}

#[cfg(test)]
mod tests;
