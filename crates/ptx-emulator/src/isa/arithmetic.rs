//! Opcodes that exist for integers and for floating-point numbers: sorted here by their type.

use super::{
    Execute,
    decode::{DecodeError, Decoder},
    float, half, integer,
};
use crate::syntax::ast::ScalarType;

type Result<T> = std::result::Result<T, DecodeError>;
type Decoded = Result<Box<dyn Execute>>;

/// What an operation works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Integer(ScalarType),
    /// `.u16x2` or `.s16x2`; whether signed.
    Integers16(bool),
    /// `.f32`, `.f64`, `.f32x2`.
    Float(ScalarType),
    /// `.f16`, `.bf16` and pairs of them.
    Half(ScalarType),
}

fn numbers(d: &mut Decoder<'_>) -> Result<Numbers> {
    if let Some(pair) = d.one_of(&["u16x2", "s16x2"]) {
        return Ok(Numbers::Integers16(pair == "s16x2"));
    }
    let ty = d.scalar_type()?;
    Ok(match ty {
        ScalarType::F32 | ScalarType::F64 | ScalarType::F32x2 => Numbers::Float(ty),
        ScalarType::F16 | ScalarType::F16x2 | ScalarType::Bf16 | ScalarType::Bf16x2 => {
            Numbers::Half(ty)
        }
        _ => Numbers::Integer(ty),
    })
}

fn no_pairs(d: &Decoder<'_>) -> Decoded {
    Err(d.error("is not supported for pairs of 16-bit integers"))
}

pub(super) fn decode_add(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::add(d, ty),
        Numbers::Integers16(_) => integer::add_16x2(d),
        Numbers::Float(ty) => float::add(d, ty, false),
        Numbers::Half(ty) => half::add(d, ty, false),
    }
}

pub(super) fn decode_sub(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::sub(d, ty),
        Numbers::Integers16(_) => no_pairs(d),
        Numbers::Float(ty) => float::add(d, ty, true),
        Numbers::Half(ty) => half::add(d, ty, true),
    }
}

pub(super) fn decode_mul(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::mul(d, ty),
        Numbers::Integers16(_) => no_pairs(d),
        Numbers::Float(ty) => float::mul(d, ty),
        Numbers::Half(ty) => half::mul(d, ty),
    }
}

pub(super) fn decode_mad(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::mad(d, ty),
        Numbers::Float(ty) if ty != ScalarType::F32x2 => float::fma(d, ty),
        _ => Err(d.error("does not exist for this type")),
    }
}

pub(super) fn decode_fma(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Float(ty) => float::fma(d, ty),
        Numbers::Half(ty) => half::fma(d, ty),
        _ => Err(d.error("does not exist for integers")),
    }
}

pub(super) fn decode_div(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::div(d, ty),
        Numbers::Float(ty) => float::div(d, ty),
        _ => Err(d.error("does not exist for this type")),
    }
}

pub(super) fn decode_neg(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::neg(d, ty),
        Numbers::Integers16(_) => no_pairs(d),
        Numbers::Float(ty) => float::neg(d, ty),
        Numbers::Half(ty) => half::neg(d, ty),
    }
}

pub(super) fn decode_abs(d: &mut Decoder<'_>) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::abs(d, ty),
        Numbers::Integers16(_) => no_pairs(d),
        Numbers::Float(ty) => float::abs(d, ty),
        Numbers::Half(ty) => half::abs(d, ty),
    }
}

fn extreme(d: &mut Decoder<'_>, max: bool) -> Decoded {
    match numbers(d)? {
        Numbers::Integer(ty) => integer::extreme(d, ty, max),
        Numbers::Integers16(signed) => integer::extreme_16x2(d, signed, max),
        Numbers::Float(ty) => float::extreme(d, ty, max),
        Numbers::Half(ty) => half::extreme(d, ty, max),
    }
}

pub(super) fn decode_min(d: &mut Decoder<'_>) -> Decoded {
    extreme(d, false)
}

pub(super) fn decode_max(d: &mut Decoder<'_>) -> Decoded {
    extreme(d, true)
}
