//! Which products exist, and what their operands are.

use std::sync::Arc;

use super::{
    multiply::{MultiplyAsync, Product},
    state::Registers,
};
use crate::{
    formats::{operand::Major, tile::Element, warp_tile::Accumulator},
    isa::{
        Execute,
        decode::{DecodeError, Decoder},
        mma::{self, Type},
    },
    syntax::ast::{Operand, ScalarType},
};

type Result<T> = std::result::Result<T, DecodeError>;

/// N and K of `m64nNkK`.
fn shape(name: &str) -> Option<(u32, u32)> {
    let (columns, depth) = name.strip_prefix("m64n")?.split_once('k')?;
    Some((columns.parse().ok()?, depth.parse().ok()?))
}

/// Whether the instruction exists for these types, apart from N: K has to be 32 bytes.
fn exists(a: Element, b: Element, kind: Accumulator) -> bool {
    use Element::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    match (a, b) {
        (F16, F16) => kind != Accumulator::S32,
        (Bf16, Bf16) | (Tf32, Tf32) | (E4m3 | E5m2, E4m3 | E5m2) => kind == Accumulator::F32,
        (S8 | U8, S8 | U8) => kind == Accumulator::S32,
        _ => false,
    }
}

/// An immediate that is one of two values; whether it is the second.
fn choice(d: &Decoder<'_>, index: usize, what: &str, values: [i64; 2]) -> Result<bool> {
    let value = d.immediate(index)?;
    match values.iter().position(|&allowed| allowed == value) {
        Some(position) => Ok(position == 1),
        None => Err(d.error(format!(
            "{what} has to be {} or {}, got {value}",
            values[0], values[1]
        ))),
    }
}

pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let (columns, depth) = d
        .parse_modifier(shape)
        .ok_or_else(|| d.error("needs a shape .m64n…k…"))?;
    let saturate = d.flag("satfinite");
    let mut next = |what| {
        let ty = d.parse_modifier(mma::type_from_name);
        ty.ok_or_else(|| d.error(format!("the type of {what} is missing or not supported")))
    };
    let (of_d, of_a, of_b) = (next("d")?, next("a")?, next("b")?);
    let operands = match (of_a, of_b, mma::accumulator(of_d)) {
        (Type::Operand(a), Type::Operand(b), Some(kind)) if exists(a, b, kind) => {
            Some((a, b, kind))
        }
        _ => None,
    };
    let Some((a_element, b_element, kind)) = operands else {
        return Err(d.error("this combination of types is not supported"));
    };
    let integers = kind == Accumulator::S32;
    let whole = columns.is_multiple_of(if integers { 16 } else { 8 });
    let narrow = integers && matches!(columns, 8 | 24);
    if !(8..=256).contains(&columns) || !(whole || narrow) || depth != 2 * a_element.per_chunk() {
        return Err(d.error("this shape does not exist for these types"));
    }
    if saturate && !integers {
        return Err(d.error(".satfinite is for integers only"));
    }
    let a_in_registers = matches!(d.operand(1)?, Operand::Vector(_));
    let may_transpose = matches!(a_element, Element::F16 | Element::Bf16);
    let count = match (integers, may_transpose, a_in_registers) {
        (true, ..) => 4,
        (false, false, _) => 6,
        (false, true, true) => 7,
        (false, true, false) => 8,
    };
    d.expect_operands(count..=count)?;
    let (mut negate_a, mut negate_b) = (false, false);
    if !integers {
        negate_a = choice(d, 4, "imm-scale-a", [1, -1])?;
        negate_b = choice(d, 5, "imm-scale-b", [1, -1])?;
    }
    let (mut a_major, mut b_major) = (Major::K, Major::K);
    if may_transpose {
        if !a_in_registers && choice(d, 6, "imm-trans-a", [0, 1])? {
            a_major = Major::Mn;
        }
        if choice(d, count - 1, "imm-trans-b", [0, 1])? {
            b_major = Major::Mn;
        }
    }
    let ty = mma::register_type(kind);
    let (a, a_registers) = if a_in_registers {
        (None, d.srcs(1, ScalarType::B32, Some(4))?)
    } else {
        (Some((d.src(1, ScalarType::B64)?, a_major)), Vec::new())
    };
    let registers = Registers {
        accumulators: d.dsts(0, ty, Some(kind.registers(columns as usize)))?,
        a: a_registers,
    };
    Ok(Box::new(MultiplyAsync(Arc::new(Product {
        kind,
        a_element,
        b_element,
        columns,
        depth,
        saturate,
        registers: Arc::new(registers),
        a,
        b: (d.src(2, ScalarType::B64)?, b_major),
        scale_d: d.pred(3)?,
        negate_a,
        negate_b,
    }))))
}
