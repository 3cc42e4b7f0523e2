//! Float formats as bits.

use super::FloatType;

impl FloatType {
    /// The value of an encoding.
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            FloatType::F16 => decode_small(bits, 5, 10),
            FloatType::BF16 => f64::from(f32::from_bits((bits as u32 & 0xffff) << 16)),
            FloatType::F32 => f64::from(f32::from_bits(bits as u32)),
            FloatType::F64 => f64::from_bits(bits),
        }
    }

    /// The nearest encoding of a value, ties to even.
    pub fn encode(self, value: f64) -> u64 {
        match self {
            FloatType::F16 => encode_small(value, 5, 10),
            FloatType::BF16 => encode_small(value, 8, 7),
            FloatType::F32 => u64::from((value as f32).to_bits()),
            FloatType::F64 => value.to_bits(),
        }
    }
}

fn decode_small(bits: u64, exponent_bits: u32, mantissa_bits: u32) -> f64 {
    let field = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    let mantissa = (bits & ((1 << mantissa_bits) - 1)) as f64;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = if field == (1 << exponent_bits) - 1 {
        if mantissa == 0.0 {
            f64::INFINITY
        } else {
            f64::NAN
        }
    } else if field == 0 {
        mantissa * 2_f64.powi(1 - bias - mantissa_bits as i32)
    } else {
        (mantissa + 2_f64.powi(mantissa_bits as i32))
            * 2_f64.powi(field as i32 - bias - mantissa_bits as i32)
    };
    let negative = (bits >> (exponent_bits + mantissa_bits)) & 1 == 1;
    if negative { -magnitude } else { magnitude }
}

fn encode_small(value: f64, exponent_bits: u32, mantissa_bits: u32) -> u64 {
    let infinity = ((1_u64 << exponent_bits) - 1) << mantissa_bits;
    let sign = u64::from(value.is_sign_negative()) << (exponent_bits + mantissa_bits);
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | infinity | (1 << (mantissa_bits - 1));
    }
    let lowest = 2 - (1 << (exponent_bits - 1)); // the exponent of the smallest normal number
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(lowest);
    // Counts units in the last place: exact, since only the exponent changes.
    let units = magnitude * 2_f64.powi(mantissa_bits as i32 - exponent);
    if units >= 2_f64.powi(mantissa_bits as i32 + 2) {
        return sign | infinity;
    }
    // The hidden bit of a normal number adds one to the exponent field; a carry does too.
    let bits = (((exponent - lowest) as u64) << mantissa_bits) + units.round_ties_even() as u64;
    sign | bits.min(infinity)
}

#[cfg(test)]
mod tests {
    use super::FloatType::{BF16, F16, F32};

    #[test]
    fn half_precision_round_trips_and_rounds_to_even() {
        for bits in 0..=0xffff_u64 {
            let value = F16.decode(bits);
            if !value.is_nan() {
                assert_eq!(F16.encode(value), bits, "{bits:#x}");
            }
        }
        assert_eq!(F16.encode(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(F16.encode(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(F16.encode(65520.0), 0x7c00);
        assert_eq!(F16.encode(65519.0), 0x7bff);
        assert_eq!(F16.encode(f64::INFINITY), 0x7c00);
        assert!(F16.decode(F16.encode(f64::NAN)).is_nan());
    }

    #[test]
    fn bfloat_round_trips_and_single_precision_is_exact() {
        for bits in 0..=0xffff_u64 {
            let value = BF16.decode(bits);
            if !value.is_nan() {
                assert_eq!(BF16.encode(value), bits, "{bits:#x}");
            }
        }
        assert_eq!(F32.decode(F32.encode(0.1)), f64::from(0.1_f32));
    }
}
