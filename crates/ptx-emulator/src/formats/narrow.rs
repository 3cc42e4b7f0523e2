//! Conversions between f32 and the narrow floating-point formats, on bits.
//!
//! Rules of PTX ISA 9.1 section `cvt`; what the text leaves open (NaN patterns, what `.rna` does to specials) was measured on
//! an H200 and is repeated as tests. Sources and results are bit patterns, right-aligned in the smallest unsigned type that
//! holds them; decoders give an `f32`, in which every narrow value is exact.

/// How a value between two neighbours of the target format is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// `.rn`: to the nearest, ties to even.
    NearestEven,
    /// `.rna`: to the nearest, ties away from zero.
    NearestAway,
    /// `.rz`: toward zero.
    TowardZero,
    /// `.rm`: toward negative infinity.
    Down,
    /// `.rp`: toward positive infinity.
    Up,
}

/// The modifiers of a conversion that change its result beside the rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// `.relu`: negative results and -0 become +0; NaN stays NaN.
    pub relu: bool,
    /// `.satfinite`: results beyond the largest finite value, infinities included, become that value.
    pub satfinite: bool,
}

/// The layout of a floating-point format of at most 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent field.
    pub exponent_bits: u32,
    /// Bits of the mantissa field, without the implied one.
    pub mantissa_bits: u32,
    /// Exponent bias.
    pub bias: i32,
    /// Pattern of the largest finite value, sign bit clear.
    pub max_finite: u32,
    /// Pattern of +infinity, where the format has one.
    pub infinity: Option<u32>,
    /// Pattern written for every NaN, where the format has one.
    pub nan: Option<u32>,
    /// Whether the format has a sign bit, just above the exponent.
    pub signed: bool,
}

const fn format(exponent_bits: u32, mantissa_bits: u32, bias: i32, max_finite: u32) -> Format {
    Format {
        exponent_bits,
        mantissa_bits,
        bias,
        max_finite,
        infinity: None,
        nan: None,
        signed: true,
    }
}

const fn with_nan(format: Format, infinity: Option<u32>, nan: u32) -> Format {
    Format {
        infinity,
        nan: Some(nan),
        ..format
    }
}

/// IEEE single precision.
pub const F32: Format = with_nan(
    format(8, 23, 127, 0x7f7f_ffff),
    Some(0x7f80_0000),
    0x7fff_ffff,
);
/// IEEE half precision.
pub const F16: Format = with_nan(format(5, 10, 15, 0x7bff), Some(0x7c00), 0x7fff);
/// The upper half of an f32.
pub const BF16: Format = with_nan(format(8, 7, 127, 0x7f7f), Some(0x7f80), 0x7fff);
/// 1.4.3, no infinity, NaN where all magnitude bits are one; max 448.
pub const E4M3: Format = with_nan(format(4, 3, 7, 0x7e), None, 0x7f);
/// 1.5.2 in the IEEE manner; max 57344.
pub const E5M2: Format = with_nan(format(5, 2, 15, 0x7b), Some(0x7c), 0x7f);
/// Six bits, 1.2.3, finite values only; max 7.5.
pub const E2M3: Format = format(2, 3, 1, 0x1f);
/// Six bits, 1.3.2, finite values only; max 28.
pub const E3M2: Format = format(3, 2, 3, 0x1f);
/// Four bits, 1.2.1, finite values only; max 6.
pub const E2M1: Format = format(2, 1, 1, 0x07);
/// The unsigned form of [`E4M3`], a scale factor; bit 7 is zero.
pub const UE4M3: Format = Format {
    signed: false,
    ..with_nan(format(4, 3, 7, 0x7e), None, 0x7f)
};

impl Format {
    /// Bits of one value, sign included.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.exponent_bits + self.mantissa_bits + self.signed as u32
    }

    /// The value of a pattern, exactly. Bits above the format are ignored; every NaN decodes to the one pattern `7fffffff`.
    #[must_use]
    pub const fn decode(&self, pattern: u32) -> f32 {
        let magnitude_bits = self.exponent_bits + self.mantissa_bits;
        let magnitude = pattern & ((1 << magnitude_bits) - 1);
        let sign = if self.signed && pattern >> magnitude_bits & 1 != 0 {
            1 << 31
        } else {
            0
        };
        if magnitude > self.max_finite {
            if let Some(infinity) = self.infinity
                && infinity == magnitude
            {
                return f32::from_bits(sign | F32_INFINITY);
            }
            return f32::from_bits(F32_NAN);
        }
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let exponent = magnitude >> self.mantissa_bits;
        let significand = if exponent == 0 {
            mantissa
        } else {
            mantissa | 1 << self.mantissa_bits
        };
        let biased = if exponent == 0 { 1 } else { exponent as i32 };
        // An integer of at most 24 bits times a power of two. f64 holds every step; the result fits f32 for every format here.
        let scale = power_of_two(biased - self.bias - self.mantissa_bits as i32);
        let value = (significand as f64 * scale) as f32;
        f32::from_bits(value.to_bits() | sign)
    }

    /// The pattern of `value` in this format.
    ///
    /// A NaN becomes the format's NaN without a sign, or the largest value where the format has none (PTX ISA, `cvt`). An
    /// overflow becomes infinity where the rounding leads there and the format has one, the largest finite value otherwise.
    /// For an unsigned format the magnitude is taken.
    #[must_use]
    pub fn encode(&self, value: f64, rounding: Rounding, modifiers: Modifiers) -> u32 {
        if value.is_nan() {
            return self.nan.unwrap_or(self.max_finite);
        }
        let negative = value.is_sign_negative();
        if modifiers.relu && negative {
            return 0;
        }
        let sign = if negative && self.signed {
            1 << (self.exponent_bits + self.mantissa_bits)
        } else {
            0
        };
        sign | self.encode_magnitude(value.abs(), negative, rounding, modifiers.satfinite)
    }

    fn encode_magnitude(
        &self,
        magnitude: f64,
        negative: bool,
        rounding: Rounding,
        satfinite: bool,
    ) -> u32 {
        let beyond = match self.infinity {
            Some(infinity) if !satfinite => infinity,
            _ => self.max_finite,
        };
        if magnitude.is_infinite() {
            return beyond;
        }
        if magnitude == 0.0 {
            return 0;
        }
        let (significand, exponent) = decompose(magnitude);
        let leading = 63 - significand.leading_zeros() as i32 + exponent;
        let lowest = 1 - self.bias - self.mantissa_bits as i32;
        let quantum = (leading - self.mantissa_bits as i32).max(lowest);
        let steps = shift_rounded(significand, quantum - exponent, negative, rounding);
        // `steps` carries the implied one, so adding it lets a carry out of the mantissa step up the exponent; a subnormal has
        // quantum == lowest and no implied one, which is its encoding as well.
        let pattern = u64::from((quantum - lowest).cast_unsigned()) << self.mantissa_bits;
        let pattern = pattern.saturating_add(steps);
        if pattern <= u64::from(self.max_finite) {
            return pattern as u32;
        }
        let outward = match rounding {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::TowardZero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        if outward { beyond } else { self.max_finite }
    }
}

const F32_INFINITY: u32 = 0x7f80_0000;
const F32_NAN: u32 = 0x7fff_ffff;

/// 2 to a power in the normal range of f64.
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A finite non-zero magnitude as an integer of at most 53 bits and the exponent of its unit.
fn decompose(magnitude: f64) -> (u64, i32) {
    let bits = magnitude.to_bits();
    let field = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if field == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, field - 1075)
    }
}

/// `significand / 2^shift`, rounded to an integer; a negative shift multiplies.
fn shift_rounded(significand: u64, shift: i32, negative: bool, rounding: Rounding) -> u64 {
    if shift <= 0 {
        // The target has at most 24 bits, so what is shifted up had fewer.
        return significand << (-shift).min(63);
    }
    let (kept, rest, half) = if shift > 62 {
        // More than one bit below the half: only "non-zero" matters.
        (0, 1, 2)
    } else {
        let kept = significand >> shift;
        (kept, significand - (kept << shift), 1u64 << (shift - 1))
    };
    let up = match rounding {
        Rounding::NearestEven => rest > half || rest == half && kept & 1 == 1,
        Rounding::NearestAway => rest >= half,
        Rounding::TowardZero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
    };
    kept + u64::from(up)
}

/// f32 bits → f16 bits (`cvt.*.f16.f32`).
#[must_use]
pub fn f32_to_f16(x: u32, rounding: Rounding, modifiers: Modifiers) -> u16 {
    F16.encode(f64::from(f32::from_bits(x)), rounding, modifiers) as u16
}

/// f32 bits → bf16 bits (`cvt.*.bf16.f32`).
#[must_use]
pub fn f32_to_bf16(x: u32, rounding: Rounding, modifiers: Modifiers) -> u16 {
    BF16.encode(f64::from(f32::from_bits(x)), rounding, modifiers) as u16
}

/// f64 bits → f16 bits.
#[must_use]
pub fn f64_to_f16(x: u64, rounding: Rounding, modifiers: Modifiers) -> u16 {
    F16.encode(f64::from_bits(x), rounding, modifiers) as u16
}

/// f64 bits → bf16 bits.
#[must_use]
pub fn f64_to_bf16(x: u64, rounding: Rounding, modifiers: Modifiers) -> u16 {
    BF16.encode(f64::from_bits(x), rounding, modifiers) as u16
}

/// f64 bits → f32 bits, in any rounding; NaN becomes `7fffffff`.
#[must_use]
pub fn f64_to_f32(x: u64, rounding: Rounding, modifiers: Modifiers) -> u32 {
    F32.encode(f64::from_bits(x), rounding, modifiers)
}

/// `cvt.rn.satfinite{.relu}` to one of the formats that know no other form: e4m3, e5m2, e2m3, e3m2, e2m1.
fn f32_to_small(format: &Format, x: u32, relu: bool) -> u8 {
    let modifiers = Modifiers {
        relu,
        satfinite: true,
    };
    format.encode(
        f64::from(f32::from_bits(x)),
        Rounding::NearestEven,
        modifiers,
    ) as u8
}

/// f32 bits → e4m3 (`.rn.satfinite`). An f16 source is widened first, which is exact.
#[must_use]
pub fn f32_to_e4m3(x: u32, relu: bool) -> u8 {
    f32_to_small(&E4M3, x, relu)
}

/// f32 bits → e5m2 (`.rn.satfinite`).
#[must_use]
pub fn f32_to_e5m2(x: u32, relu: bool) -> u8 {
    f32_to_small(&E5M2, x, relu)
}

/// f32 bits → e2m3 (`.rn.satfinite`), in the low six bits.
#[must_use]
pub fn f32_to_e2m3(x: u32, relu: bool) -> u8 {
    f32_to_small(&E2M3, x, relu)
}

/// f32 bits → e3m2 (`.rn.satfinite`), in the low six bits.
#[must_use]
pub fn f32_to_e3m2(x: u32, relu: bool) -> u8 {
    f32_to_small(&E3M2, x, relu)
}

/// f32 bits → e2m1 (`.rn.satfinite`), in the low four bits.
#[must_use]
pub fn f32_to_e2m1(x: u32, relu: bool) -> u8 {
    f32_to_small(&E2M1, x, relu)
}

/// f32 bits → ue8m0 (`cvt.{rz,rp}{.satfinite}.ue8m0x2.f32`): the exponent of the magnitude, NaN → ff.
///
/// `up` is `.rp`. Without `satfinite` what exceeds 2^127 becomes ff (host path of CUDA's `__nv_cvt_float_to_e8m0`).
#[must_use]
pub fn f32_to_ue8m0(x: u32, up: bool, satfinite: bool) -> u8 {
    let magnitude = x & 0x7fff_ffff;
    if magnitude > F32_INFINITY {
        return 0xff;
    }
    // Pattern 00 is 2^-127, the f32 subnormal 00400000: whatever is smaller becomes it too.
    let inexact =
        magnitude & 0x007f_ffff != 0 && magnitude > 0x0040_0000 && magnitude < F32_INFINITY;
    let exponent = (magnitude >> 23) + u32::from(up && inexact);
    if satfinite && exponent == 0xff {
        0xfe
    } else {
        exponent as u8
    }
}

/// f32 bits → tf32, an f32 pattern whose low 13 bits are zero. Specials follow the measured behaviour:
/// `.rna` works on the bits and does not round a NaN, which can become infinity and, with `.satfinite`, a finite value; the other roundings
/// give 7fffe000 for every NaN.
#[must_use]
pub fn f32_to_tf32(x: u32, rounding: Rounding, modifiers: Modifiers) -> u32 {
    const DROPPED: u32 = 0x1fff;
    if rounding == Rounding::NearestAway {
        let is_nan = x & 0x7fff_ffff > F32_INFINITY;
        let half = if is_nan { 0 } else { 0x1000 };
        let rounded = x.wrapping_add(half) & !DROPPED;
        let saturate = modifiers.satfinite && rounded & F32_INFINITY == F32_INFINITY;
        let result = if saturate { rounded - 0x2000 } else { rounded };
        return if modifiers.relu && result >> 31 == 1 && !is_nan {
            0
        } else {
            result
        };
    }
    if x & 0x7fff_ffff > F32_INFINITY {
        return 0x7fff_e000;
    }
    let negative = x >> 31 == 1;
    if modifiers.relu && negative {
        return 0;
    }
    let magnitude = x & 0x7fff_ffff;
    let kept = magnitude & !DROPPED;
    let rest = magnitude & DROPPED;
    let up = match rounding {
        Rounding::NearestEven => rest > 0x1000 || rest == 0x1000 && kept & 0x2000 != 0,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
        Rounding::TowardZero | Rounding::NearestAway => false,
    };
    let result = if up { kept + 0x2000 } else { kept };
    let result = if modifiers.satfinite && result == F32_INFINITY {
        0x7f7f_e000
    } else {
        result
    };
    x & 0x8000_0000 | result
}

/// f16 bits → the value. Subnormals are exact; a NaN keeps its sign and payload, quieted as the host widens it.
#[must_use]
#[inline]
pub fn f16_to_f32(x: u16) -> f32 {
    let sign = u32::from(x & 0x8000) << 16;
    let magnitude = u32::from(x & 0x7fff) << 13;
    // Reading the fields as f32 leaves the exponent 112 too small, for subnormals too; the product is exact.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let special = magnitude >= 0x7c00 << 13;
    let bits = if special {
        magnitude | F32_INFINITY
    } else {
        scaled.to_bits()
    };
    f32::from_bits(sign | bits)
}

/// bf16 bits → the value.
#[must_use]
#[inline]
pub fn bf16_to_f32(x: u16) -> f32 {
    f32::from_bits(u32::from(x) << 16)
}

/// What the tensor cores make of a register holding a tf32 operand: the low 13 bits are ignored, so a NaN whose payload is
/// only there acts as infinity (measured on an H200).
#[must_use]
#[inline]
pub fn tf32_operand(x: u32) -> f32 {
    f32::from_bits(x & 0xffff_e000)
}

const fn table(format: &Format) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = format.decode(code as u32);
        code += 1;
    }
    values
}

/// The value of every e4m3 pattern.
pub static E4M3_VALUES: [f32; 256] = table(&E4M3);
/// The value of every e5m2 pattern.
pub static E5M2_VALUES: [f32; 256] = table(&E5M2);
/// The value of every e2m3 pattern; the upper two bits of the index do not matter.
pub static E2M3_VALUES: [f32; 256] = table(&E2M3);
/// The value of every e3m2 pattern; the upper two bits of the index do not matter.
pub static E3M2_VALUES: [f32; 256] = table(&E3M2);
/// The value of every e2m1 pattern; the upper four bits of the index do not matter.
pub static E2M1_VALUES: [f32; 256] = table(&E2M1);
/// The value of every ue4m3 pattern; the top bit of the index does not matter.
pub static UE4M3_VALUES: [f32; 256] = table(&UE4M3);

/// e4m3 → the value.
#[must_use]
#[inline]
pub fn e4m3_to_f32(x: u8) -> f32 {
    E4M3_VALUES[x as usize]
}

/// e5m2 → the value.
#[must_use]
#[inline]
pub fn e5m2_to_f32(x: u8) -> f32 {
    E5M2_VALUES[x as usize]
}

/// ue8m0 → the value, a power of two from 2^-127 to 2^127; ff is NaN.
#[must_use]
pub fn ue8m0_to_f32(x: u8) -> f32 {
    match x {
        0 => f32::from_bits(0x0040_0000),
        0xff => f32::from_bits(F32_NAN),
        exponent => f32::from_bits(u32::from(exponent) << 23),
    }
}

#[cfg(test)]
mod tests;
