//! Element types, and what fits into them.

use crate::{
    interpreter::{float_to_int, signed, truncate},
    program::{FloatType, ScalarType},
};
use async_pipeline_sys::ir::Type;
use std::fmt;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// An integer of 1 to 64 bits.
    Int(u32),
    /// A 64-bit index.
    Index,
    /// IEEE double precision.
    F64,
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    BF16,
    /// 8 bits, 3 of them fraction; no infinities, largest 448.
    F8E4M3FN,
    /// 8 bits, 2 of them fraction; largest 57344.
    F8E5M2,
}

impl Element {
    /// Reads the name of a type, such as `f16` or `i32`.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "index" => Element::Index,
            "f64" => Element::F64,
            "f32" => Element::F32,
            "f16" => Element::F16,
            "bf16" => Element::BF16,
            "f8E4M3FN" => Element::F8E4M3FN,
            "f8E5M2" => Element::F8E5M2,
            _ => Element::Int(
                name.strip_prefix('i')?
                    .parse()
                    .ok()
                    .filter(|bits| (1..=64).contains(bits))?,
            ),
        })
    }

    pub(crate) fn of(ty: Type) -> Option<Self> {
        Self::parse(&ty.to_string())
    }

    /// Whether it is a float type.
    pub fn is_float(self) -> bool {
        !matches!(self, Element::Int(_) | Element::Index)
    }

    /// Whether arithmetic is done in it; 8-bit floats are stored, multiplied and converted.
    pub fn computes(self) -> bool {
        !matches!(self, Element::F8E4M3FN | Element::F8E5M2)
    }

    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Element::Int(bits) => bits,
            Element::Index | Element::F64 => 64,
            Element::F32 => 32,
            Element::F16 | Element::BF16 => 16,
            Element::F8E4M3FN | Element::F8E5M2 => 8,
        }
    }

    /// The nearest value of a float type, ties to even. Beyond its largest value f16,
    /// bf16 and f32 are infinite, 8-bit floats stay at the largest.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Element::F32 => f64::from(value as f32),
            Element::F16 => nearest(value, 10, -14, 65504.0, f64::INFINITY),
            Element::BF16 => {
                let largest = f64::from(f32::from_bits(0x7f7f_0000));
                nearest(value, 7, -126, largest, f64::INFINITY)
            }
            Element::F8E4M3FN => nearest(value, 3, -6, 448.0, 448.0),
            Element::F8E5M2 => nearest(value, 2, -14, 57344.0, 57344.0),
            Element::F64 | Element::Int(_) | Element::Index => value,
        }
    }

    /// What a value of an array becomes when it is put into memory. Unlike [`round`], it
    /// keeps the infinities of f8E5M2.
    ///
    /// [`round`]: Element::round
    pub(super) fn admit(self, value: f64) -> f64 {
        match self {
            Element::F8E5M2 if value.is_infinite() => value,
            _ => self.round(value),
        }
    }

    /// The bits of an integer, from a number; what does not fit stays at the limit.
    pub(super) fn integer_from(self, value: f64) -> u64 {
        match self {
            Element::Int(1) => u64::from(value != 0.0),
            _ => float_to_int(value, self.bits(), true),
        }
    }

    /// The number that an integer's bits mean: with a sign, but `i1` is 0 or 1.
    pub(super) fn integer_to(self, bits: u64) -> f64 {
        match self {
            Element::Int(1) => truncate(bits, 1) as f64,
            _ => signed(bits, self.bits()) as f64,
        }
    }

    /// Bits of an integer type that a number occupies.
    pub(super) fn truncate(self, bits: u64) -> u64 {
        truncate(bits, self.bits())
    }

    /// The type in which the printed form of constants is read.
    pub(super) fn scalar_type(self) -> ScalarType {
        match self {
            Element::Int(bits) => ScalarType::Int(bits),
            Element::Index => ScalarType::Index,
            Element::F64 => ScalarType::Float(FloatType::F64),
            Element::F16 => ScalarType::Float(FloatType::F16),
            Element::BF16 => ScalarType::Float(FloatType::BF16),
            // Printed 8-bit floats are short decimals, which f32 has too.
            Element::F32 | Element::F8E4M3FN | Element::F8E5M2 => ScalarType::Float(FloatType::F32),
        }
    }
}

/// Rounds to `fraction` bits behind the leading one; numbers below 2^`lowest` share its
/// exponent. Above `largest` it is `beyond`.
fn nearest(value: f64, fraction: i32, lowest: i32, largest: f64, beyond: f64) -> f64 {
    if value.is_nan() {
        return value;
    }
    let exponent = (((value.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(lowest);
    if exponent >= 1023 {
        return beyond.copysign(value);
    }
    let unit = f64::from_bits(((exponent - fraction + 1023) as u64) << 52);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() > largest {
        return beyond.copysign(value);
    }
    rounded
}

/// An integer as a double that every narrower float type rounds as it would round the
/// integer: what is lost is remembered in the last bit.
pub(super) fn sticky(magnitude: u64) -> f64 {
    let bits = 64 - magnitude.leading_zeros();
    if bits <= 53 {
        return magnitude as f64;
    }
    let lost = bits - 53;
    let kept = magnitude >> lost;
    let inexact = u64::from(kept << lost != magnitude);
    (kept | inexact) as f64 * (1_u64 << lost) as f64
}

/// `a * b + c`, exact but for what a double cannot hold; that is remembered in the last
/// bit. `a * b` must be exact.
pub(super) fn sticky_fma(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    if !sum.is_finite() {
        return sum;
    }
    // Knuth's two-sum: `lost` is exact.
    let part = sum - product;
    let lost = (product - (sum - part)) + (c - part);
    if lost == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Int(bits) => write!(f, "i{bits}"),
            Element::Index => f.write_str("index"),
            Element::F64 => f.write_str("f64"),
            Element::F32 => f.write_str("f32"),
            Element::F16 => f.write_str("f16"),
            Element::BF16 => f.write_str("bf16"),
            Element::F8E4M3FN => f.write_str("f8E4M3FN"),
            Element::F8E5M2 => f.write_str("f8E5M2"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_types_round_as_the_encoder_does() {
        for (element, format) in [
            (Element::F16, FloatType::F16),
            (Element::BF16, FloatType::BF16),
        ] {
            for bits in 0..=0xffff_u64 {
                let value = format.decode(bits);
                if value.is_nan() {
                    continue;
                }
                assert_eq!(element.round(value).to_bits(), value.to_bits(), "{value}");
                for factor in [1.0 + 1e-3, 1.0 + 1.0 / 2048.0, 1.0 + 1.0 / 256.0, 0.999] {
                    let near = value * factor;
                    let expected = format.decode(format.encode(near));
                    assert_eq!(element.round(near), expected, "{element} {near}");
                }
            }
        }
    }

    #[test]
    fn eight_bit_floats_saturate() {
        let e4m3 = |value| Element::F8E4M3FN.round(value);
        let e5m2 = |value| Element::F8E5M2.round(value);
        assert_eq!((e4m3(1e9), e4m3(f64::NEG_INFINITY)), (448.0, -448.0));
        assert_eq!((e5m2(f64::INFINITY), e5m2(-60000.0)), (57344.0, -57344.0));
        // Ties: 1.0625 lies between 1 and 1.125, 2^-10 between 0 and 2^-9.
        assert_eq!((e4m3(1.0625), e4m3(1.1875)), (1.0, 1.25));
        assert_eq!(e4m3(2_f64.powi(-10)), 0.0);
        assert_eq!(e4m3(2_f64.powi(-9)), 2_f64.powi(-9));
        assert!(e4m3(f64::NAN).is_nan());
        assert!(Element::F8E5M2.admit(f64::INFINITY).is_infinite());
    }

    #[test]
    fn nothing_is_rounded_twice() {
        // Just above a tie of bf16, by less than a double can hold.
        let integer = (1_u64 << 62) + (1 << 54) + 1;
        assert_eq!(
            Element::BF16.round(sticky(integer)),
            (1_u64 << 62) as f64 + (1_u64 << 55) as f64
        );
        let tie = 1.0 + 1.0 / 2048.0;
        let tiny = 2_f64.powi(-80);
        assert_eq!(
            Element::F16.round(sticky_fma(tie, 1.0, tiny)),
            1.0 + 1.0 / 1024.0
        );
        assert_eq!(Element::F16.round(sticky_fma(tie, 1.0, -tiny)), 1.0);
        assert_eq!(Element::F16.round(sticky_fma(-tie, 1.0, tiny)), -1.0);
        assert_eq!(sticky_fma(2.0, 3.0, 4.0), 10.0);
    }

    #[test]
    fn names_are_read_back() {
        for name in [
            "i1", "i64", "index", "f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2",
        ] {
            assert_eq!(Element::parse(name).expect("is one").to_string(), name);
        }
        for name in ["", "i", "i0", "i65", "f80", "si32"] {
            assert_eq!(Element::parse(name), None, "{name}");
        }
    }
}
