//! `cvt` of pairs: two f32 into one register, pairs of 16-bit floats to and from pairs of narrower
//! ones, and `cvt.pack`.

use super::{Decoded, Form, IEEE, Result, Type};
use crate::{
    formats::narrow::{
        BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, Format, Modifiers, Rounding, bf16_to_f32,
        f16_to_f32, f32_to_e2m1, f32_to_e2m3, f32_to_e3m2, f32_to_e4m3, f32_to_e5m2, f32_to_ue8m0,
        ue8m0_to_f32,
    },
    isa::{
        decode::Decoder,
        half::{Kind, nearest},
        lanes::{binary, binary_of, ternary, unary_of},
    },
    syntax::ast::ScalarType,
};

/// Two values in one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    F16,
    Bf16,
    E4m3,
    E5m2,
    E2m1,
    E2m3,
    E3m2,
    Ue8m0,
}

impl Pair {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "f16x2" => Self::F16,
            "bf16x2" => Self::Bf16,
            "e4m3x2" => Self::E4m3,
            "e5m2x2" => Self::E5m2,
            "e2m1x2" => Self::E2m1,
            "e2m3x2" => Self::E2m3,
            "e3m2x2" => Self::E3m2,
            "ue8m0x2" => Self::Ue8m0,
            _ => return None,
        })
    }

    /// Bits from one element to the next: six-bit values have a byte each.
    fn pitch(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::E2m1 => 4,
            _ => 8,
        }
    }

    pub(super) fn scalar(self) -> ScalarType {
        match self.pitch() {
            16 => ScalarType::B32,
            8 => ScalarType::B16,
            _ => ScalarType::B8,
        }
    }

    fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }

    /// The value of an element.
    fn decoder(self) -> fn(u64) -> f32 {
        match self {
            Self::F16 => |x| f16_to_f32(x as u16),
            Self::Bf16 => |x| bf16_to_f32(x as u16),
            Self::E4m3 => |x| E4M3.decode(x as u32),
            Self::E5m2 => |x| E5M2.decode(x as u32),
            Self::E2m1 => |x| E2M1.decode(x as u32),
            Self::E2m3 => |x| E2M3.decode(x as u32),
            Self::E3m2 => |x| E3M2.decode(x as u32),
            Self::Ue8m0 => |x| ue8m0_to_f32(x as u8),
        }
    }
}

type Encoder = Box<dyn Fn(f32) -> u64 + Send + Sync>;

/// How a value becomes an element of `to`.
fn encoder(d: &Decoder<'_>, form: Form, to: Pair) -> Result<Encoder> {
    let modifiers = form.modifiers();
    if to.is_half() {
        form.allow(d, &["rounding", "relu", "satfinite"])?;
        let rounding = form.rounding(d, &IEEE)?;
        if matches!(rounding, Rounding::Down | Rounding::Up) {
            return Err(d.error("rounds a pair with .rn or .rz"));
        }
        let format: &'static Format = if to == Pair::F16 { &F16 } else { &BF16 };
        return Ok(Box::new(move |x| {
            u64::from(format.encode(x.into(), rounding, modifiers))
        }));
    }
    if to == Pair::Ue8m0 {
        form.allow(d, &["rounding", "satfinite"])?;
        let rounding = form.rounding(d, &[Rounding::TowardZero, Rounding::Up])?;
        let up = rounding == Rounding::Up;
        return Ok(Box::new(move |x| {
            f32_to_ue8m0(x.to_bits(), up, modifiers.satfinite).into()
        }));
    }
    form.allow(d, &["rounding", "relu", "satfinite"])?;
    form.rounding(d, &[Rounding::NearestEven])?;
    if !form.satfinite {
        return Err(d.error("needs .satfinite"));
    }
    let encode = match to {
        Pair::E4m3 => f32_to_e4m3,
        Pair::E5m2 => f32_to_e5m2,
        Pair::E2m3 => f32_to_e2m3,
        Pair::E3m2 => f32_to_e3m2,
        _ => f32_to_e2m1,
    };
    let relu = form.relu;
    Ok(Box::new(move |x| encode(x.to_bits(), relu).into()))
}

/// Conversions in which one side is a pair. The first of two sources goes to the upper element
/// (measured on an H200); otherwise elements keep their order.
pub(super) fn decode(d: &mut Decoder<'_>, form: Form, to: Type, from: Type) -> Decoded {
    let Type::Packed(to) = to else {
        return Err(d.error("has no single result of a pair"));
    };
    let pitch = to.pitch();
    match from {
        Type::F32 => {
            let encode = encoder(d, form, to)?;
            d.expect_operands(3..=3)?;
            let dst = d.dst(0, to.scalar())?;
            let (a, b) = (d.src(1, ScalarType::F32)?, d.src(2, ScalarType::F32)?);
            let plain =
                form.rounding == Some(Rounding::NearestEven) && !(form.relu || form.satfinite);
            let pair = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
            match to {
                Pair::F16 if plain => {
                    return Ok(binary_of(dst, a, b, move |a: f32, b: f32| {
                        pair(nearest(Kind::F16, a), nearest(Kind::F16, b))
                    }));
                }
                Pair::Bf16 if plain => {
                    return Ok(binary_of(dst, a, b, move |a: f32, b: f32| {
                        pair(nearest(Kind::Bf16, a), nearest(Kind::Bf16, b))
                    }));
                }
                _ => {}
            }
            Ok(binary_of(dst, a, b, move |a: f32, b: f32| {
                encode(a) << pitch | encode(b)
            }))
        }
        Type::Packed(from) if from.is_half() && !to.is_half() => {
            let encode = encoder(d, form, to)?;
            if to == Pair::Ue8m0 && from == Pair::F16 {
                return Err(d.error("does not exist for these types"));
            }
            let (decode, from_pitch) = (from.decoder(), from.pitch());
            one_source(d, to, from, move |a| {
                encode(decode(a >> from_pitch)) << pitch | encode(decode(a))
            })
        }
        Type::Packed(from) if to.is_half() && !from.is_half() => {
            if (to == Pair::Bf16) != (from == Pair::Ue8m0) {
                return Err(d.error("does not exist for these types"));
            }
            form.allow(d, &["rounding", "relu"])?;
            form.rounding(d, &[Rounding::NearestEven])?;
            let format: &'static Format = if to == Pair::F16 { &F16 } else { &BF16 };
            let (decode, from_pitch) = (from.decoder(), from.pitch());
            let modifiers = Modifiers {
                relu: form.relu,
                satfinite: false,
            };
            let convert = move |x: u64| {
                let value = f64::from(decode(x));
                u64::from(format.encode(value, Rounding::NearestEven, modifiers))
            };
            let element = (1 << from_pitch) - 1;
            one_source(d, to, from, move |a| {
                convert(a >> from_pitch & element) << pitch | convert(a & element)
            })
        }
        _ => Err(d.error("does not exist for these types")),
    }
}

fn one_source(
    d: &mut Decoder<'_>,
    to: Pair,
    from: Pair,
    f: impl Fn(u64) -> u64 + Send + Sync + 'static,
) -> Decoded {
    d.expect_operands(2..=2)?;
    let dst = d.dst(0, to.scalar())?;
    let src = d.src(1, from.scalar())?;
    Ok(unary_of(dst, src, f))
}

/// `cvt.pack.sat`: two integers, saturated, below what was packed before.
pub(super) fn decode_pack(d: &mut Decoder<'_>) -> Decoded {
    d.need("sat")?;
    let names = ["u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"];
    let name = d.need_one_of(&names)?;
    d.need("s32")?;
    let bits: u32 = name[1..].parse().unwrap_or(16);
    let signed = name.starts_with('s');
    let (least, largest) = if signed {
        (-(1i32 << (bits - 1)), (1i32 << (bits - 1)) - 1)
    } else {
        (0, (1i32 << bits) - 1)
    };
    let element = (1u32 << bits) - 1;
    let pack = move |a: i32, b: i32| {
        let cut = |x: i32| x.clamp(least, largest).cast_unsigned() & element;
        cut(a) << bits | cut(b)
    };
    if bits == 16 {
        return binary(d, pack);
    }
    d.need("b32")?;
    ternary(d, move |a: i32, b: i32, c: u32| {
        c << (2 * bits) | pack(a, b)
    })
}
