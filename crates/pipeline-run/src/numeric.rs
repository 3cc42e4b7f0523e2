//! Values of every element type as `f64` and back.
//!
//! Rounding is done here in one step from `f64`, to nearest even. Going through `f32` first would
//! round twice, and an exact comparison would then report differences that are our own.

use ptx_model::manifest::ElementType;

/// A binary floating-point format narrower than `f32`.
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// Whether the top exponent holds infinities and NaNs, as in IEEE 754. The alternative has a
    /// single NaN pattern, all ones.
    ieee: bool,
    /// Whether values beyond the range become the largest finite one, not infinity. PTX converts
    /// to 8-bit floats only in that way.
    saturates: bool,
}

const F16: Format = Format {
    exponent_bits: 5,
    mantissa_bits: 10,
    ieee: true,
    saturates: false,
};
const BF16: Format = Format {
    exponent_bits: 8,
    mantissa_bits: 7,
    ieee: true,
    saturates: false,
};
const E4M3: Format = Format {
    exponent_bits: 4,
    mantissa_bits: 3,
    ieee: false,
    saturates: true,
};
const E5M2: Format = Format {
    exponent_bits: 5,
    mantissa_bits: 2,
    ieee: true,
    saturates: true,
};

impl Format {
    fn bias(&self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn infinity(&self) -> u32 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    /// The pattern of the largest finite value.
    fn largest(&self) -> u32 {
        if self.ieee {
            self.infinity() - 1
        } else {
            (1 << (self.exponent_bits + self.mantissa_bits)) - 2
        }
    }

    fn nan(&self) -> u32 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    fn decode(&self, bits: u32) -> f64 {
        let magnitude = bits & self.nan();
        let sign = if bits > magnitude { -1.0 } else { 1.0 };
        if magnitude > self.largest() {
            let infinite = self.ieee && magnitude == self.infinity();
            return if infinite {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        let exponent = (magnitude >> self.mantissa_bits).cast_signed();
        let fraction = magnitude & ((1 << self.mantissa_bits) - 1);
        let implicit = u32::from(exponent > 0) << self.mantissa_bits;
        let scale = exponent.max(1) - self.bias() - self.mantissa_bits.cast_signed();
        sign * f64::from(fraction + implicit) * 2f64.powi(scale)
    }

    fn encode(&self, value: f64) -> u32 {
        let sign_bit = u32::from(value.is_sign_negative());
        let sign = sign_bit << (self.exponent_bits + self.mantissa_bits);
        if value.is_nan() {
            return self.nan();
        }
        let overflow = if self.saturates {
            self.largest()
        } else {
            self.infinity()
        };
        let size = value.abs();
        if size.is_infinite() {
            return sign | overflow;
        }
        // The exponent as `f64` stores it; zeros and subnormals of `f64` give one far below every
        // narrow format's smallest and are raised to it.
        let stored = i32::try_from(size.to_bits() >> 52).unwrap_or(i32::MAX);
        let exponent = (stored - 1023).max(1 - self.bias());
        let quantum = 2f64.powi(exponent - self.mantissa_bits.cast_signed());
        let steps = (size / quantum).round_ties_even();
        // With the exponent's smallest value this also gives the subnormals, and a carry out of
        // the mantissa moves on to the next exponent by itself.
        let base = i64::from(exponent + self.bias()) << self.mantissa_bits;
        #[expect(clippy::cast_possible_truncation)] // At most 2^(mantissa_bits + 1).
        let pattern = base + steps as i64 - (1 << self.mantissa_bits);
        match u32::try_from(pattern) {
            Ok(pattern) if pattern <= self.largest() => sign | pattern,
            _ => sign | overflow,
        }
    }
}

fn round_to_tf32(value: f32) -> f32 {
    if !value.is_finite() {
        return value;
    }
    let bits = value.to_bits();
    let tie_to_even = (bits >> 13) & 1;
    f32::from_bits((bits + 0xfff + tie_to_even) & !0x1fff)
}

/// The first `N` bytes, with zeros where there are fewer.
fn take<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    for (to, from) in taken.iter_mut().zip(bytes) {
        *to = *from;
    }
    taken
}

/// The value of an element stored in `bytes`, which holds at least its size.
///
/// 64-bit integers beyond 2^53 lose their low bits.
pub fn decode(element: ElementType, bytes: &[u8]) -> f64 {
    let byte = || u32::from(take::<1>(bytes)[0]);
    let half = || u32::from(u16::from_le_bytes(take(bytes)));
    match element {
        ElementType::F16 => F16.decode(half()),
        ElementType::Bf16 => BF16.decode(half()),
        ElementType::F8E4M3FN => E4M3.decode(byte()),
        ElementType::F8E5M2 => E5M2.decode(byte()),
        ElementType::F32 | ElementType::Tf32 => f64::from(f32::from_le_bytes(take(bytes))),
        ElementType::F64 => f64::from_le_bytes(take(bytes)),
        ElementType::I8 => f64::from(i8::from_le_bytes(take(bytes))),
        ElementType::I16 => f64::from(i16::from_le_bytes(take(bytes))),
        ElementType::I32 => f64::from(i32::from_le_bytes(take(bytes))),
        ElementType::I64 => i64::from_le_bytes(take(bytes)) as f64,
    }
}

/// The bytes of `value` rounded to the element type; the element's size of them count.
///
/// Floats round to nearest even; integers cut toward zero and saturate, NaN gives 0.
#[expect(clippy::cast_possible_truncation)] // Rounding is what this function is for.
pub fn encode(element: ElementType, value: f64) -> [u8; 8] {
    match element {
        ElementType::F16 => take(&F16.encode(value).to_le_bytes()),
        ElementType::Bf16 => take(&BF16.encode(value).to_le_bytes()),
        ElementType::F8E4M3FN => take(&E4M3.encode(value).to_le_bytes()),
        ElementType::F8E5M2 => take(&E5M2.encode(value).to_le_bytes()),
        ElementType::F32 => take(&(value as f32).to_le_bytes()),
        ElementType::Tf32 => take(&round_to_tf32(value as f32).to_le_bytes()),
        ElementType::F64 => value.to_le_bytes(),
        ElementType::I8 => take(&(value as i8).to_le_bytes()),
        ElementType::I16 => take(&(value as i16).to_le_bytes()),
        ElementType::I32 => take(&(value as i32).to_le_bytes()),
        ElementType::I64 => (value as i64).to_le_bytes(),
    }
}

/// The distance between 1 and the next value; 0 for integers.
pub fn epsilon(element: ElementType) -> f64 {
    match element {
        ElementType::F64 => f64::EPSILON,
        ElementType::F32 => f64::from(f32::EPSILON),
        ElementType::F16 | ElementType::Tf32 => 2f64.powi(-10),
        ElementType::Bf16 => 2f64.powi(-7),
        ElementType::F8E4M3FN => 2f64.powi(-3),
        ElementType::F8E5M2 => 2f64.powi(-2),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(element: ElementType, value: f64) -> u64 {
        u64::from_le_bytes(encode(element, value))
    }

    #[test]
    fn known_patterns() {
        let cases = [
            (ElementType::F16, 1.0, 0x3c00),
            (ElementType::F16, -2.5, 0xc100),
            (ElementType::F16, 65504.0, 0x7bff),
            (ElementType::F16, 65519.99, 0x7bff),
            (ElementType::F16, 65520.0, 0x7c00),
            (ElementType::F16, 2f64.powi(-24), 0x0001),
            (ElementType::F16, 2f64.powi(-25), 0x0000),
            (ElementType::F16, 2f64.powi(-14), 0x0400),
            (ElementType::F16, -0.0, 0x8000),
            (ElementType::Bf16, 1.0, 0x3f80),
            (ElementType::Bf16, f64::NEG_INFINITY, 0xff80),
            (ElementType::F8E4M3FN, 448.0, 0x7e),
            (ElementType::F8E4M3FN, 1e9, 0x7e),
            (ElementType::F8E4M3FN, 2f64.powi(-10), 0x00),
            (ElementType::F8E4M3FN, 1.0625, 0x38),
            (ElementType::F8E4M3FN, f64::NAN, 0x7f),
            (ElementType::F8E5M2, 57344.0, 0x7b),
            (ElementType::F8E5M2, f64::NEG_INFINITY, 0xfb),
            (ElementType::I8, -1.9, 0xff),
            (ElementType::I8, 300.0, 0x7f),
            (ElementType::I32, f64::NAN, 0),
            (
                ElementType::Tf32,
                f64::from(f32::from_bits(0x3f80_3000)),
                0x3f80_4000,
            ),
            (
                ElementType::Tf32,
                f64::from(f32::from_bits(0x3f80_1000)),
                0x3f80_0000,
            ),
        ];
        for (element, value, pattern) in cases {
            assert_eq!(bits(element, value), pattern, "{element} {value}");
        }
    }

    /// 1 + 2^-11 + 2^-40 is just above the tie between 1 and the next `f16`; rounding to `f32` on
    /// the way would make it the tie and give 1.
    #[test]
    fn rounds_once() {
        let value = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(bits(ElementType::F16, value), 0x3c01);
    }

    #[test]
    fn every_narrow_pattern_survives() {
        for element in [ElementType::F16, ElementType::Bf16] {
            for pattern in 0..=u16::MAX {
                let value = decode(element, &pattern.to_le_bytes());
                let back = encode(element, value);
                assert!(
                    value.is_nan() || back[..2] == pattern.to_le_bytes(),
                    "{pattern:x}"
                );
            }
        }
        for (element, infinity) in [
            (ElementType::F8E4M3FN, None),
            (ElementType::F8E5M2, Some(0x7c)),
        ] {
            for pattern in 0..=u8::MAX {
                let value = decode(element, &[pattern]);
                let saturated = infinity.is_some_and(|infinity| pattern & 0x7f == infinity);
                let same = encode(element, value)[0] == pattern;
                assert!(same || value.is_nan() || saturated, "{element} {pattern:x}");
            }
        }
    }
}
