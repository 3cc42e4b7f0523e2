//! `mma.sync`: matrix products of one warp, from registers to registers (PTX ISA 9.1, "Matrix
//! fragments for mma.m16n8k…"; places and arithmetic measured on an H200).

use super::{
    Convergence, Execute,
    decode::{DecodeError, Decoder, Dst, Src},
    matrix::{need_whole_warp, sync_aligned},
};
use crate::{
    formats::{
        dot::{Rule, accumulate_integers, accumulate_tile},
        tile::Element,
        warp_tile::{
            Accumulator, operand_a, operand_b, read_floats, read_integers, write_floats,
            write_integers,
        },
    },
    machine::{
        step::{Flow, Step},
        warp::Row,
    },
    report::Fault,
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// A type of an operand or accumulator, by its modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Operand(Element),
    F32,
    S32,
}

/// The type of this name; `f16` is an [`Element`] here even where it is an accumulator.
pub(super) fn type_from_name(name: &str) -> Option<Type> {
    Some(match name {
        "f16" => Type::Operand(Element::F16),
        "bf16" => Type::Operand(Element::Bf16),
        "tf32" => Type::Operand(Element::Tf32),
        "e4m3" => Type::Operand(Element::E4m3),
        "e5m2" => Type::Operand(Element::E5m2),
        "s8" => Type::Operand(Element::S8),
        "u8" => Type::Operand(Element::U8),
        "f32" => Type::F32,
        "s32" => Type::S32,
        _ => return None,
    })
}

/// The accumulator of this type.
pub(super) fn accumulator(ty: Type) -> Option<Accumulator> {
    match ty {
        Type::F32 => Some(Accumulator::F32),
        Type::S32 => Some(Accumulator::S32),
        Type::Operand(Element::F16) => Some(Accumulator::F16),
        Type::Operand(_) => None,
    }
}

/// The register type of an accumulator.
pub(super) fn register_type(kind: Accumulator) -> ScalarType {
    match kind {
        Accumulator::F32 => ScalarType::F32,
        Accumulator::S32 => ScalarType::S32,
        Accumulator::F16 => ScalarType::B32,
    }
}

/// Whether the instruction exists for these operands: (a, b, accumulator, K).
fn exists(a: Element, b: Element, kind: Accumulator, depth: usize) -> bool {
    use Element::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    match (a, b) {
        (F16, F16) => {
            matches!(kind, Accumulator::F16 | Accumulator::F32) && matches!(depth, 8 | 16)
        }
        (Bf16, Bf16) => kind == Accumulator::F32 && matches!(depth, 8 | 16),
        (Tf32, Tf32) => kind == Accumulator::F32 && matches!(depth, 4 | 8),
        (S8 | U8, S8 | U8) => kind == Accumulator::S32 && matches!(depth, 16 | 32),
        (E4m3 | E5m2, E4m3 | E5m2) => kind == Accumulator::F32 && depth == 32,
        _ => false,
    }
}

#[derive(Debug)]
struct Mma {
    a_element: Element,
    b_element: Element,
    kind: Accumulator,
    saturate: bool,
    d: Vec<Dst>,
    a: Vec<Src>,
    b: Vec<Src>,
    c: Vec<Src>,
}

/// A reader of a fragment's registers.
pub(super) fn reader<'s>(
    step: &'s Step<'_>,
    srcs: &'s [Src],
) -> impl Fn(usize, usize) -> u32 + use<'s> {
    let rows: Vec<&Row> = srcs.iter().map(|&src| step.row(src)).collect();
    move |register, lane| rows[register][lane] as u32
}

/// Writes a fragment's registers as `results` calls for it.
pub(super) fn write_fragment(
    step: &mut Step<'_>,
    dsts: &[Dst],
    results: impl FnOnce(&mut dyn FnMut(usize, usize, u32)),
) {
    let mut rows: Vec<Row> = vec![[0; 32]; dsts.len()];
    results(&mut |register, lane, bits| rows[register][lane] = bits.into());
    for (dst, row) in dsts.iter().zip(&rows) {
        step.write(*dst, row);
    }
}

impl Mma {
    fn rule(&self) -> Rule {
        match self.a_element {
            Element::E4m3 | Element::E5m2 => Rule::MMA_SYNC_EIGHT_BIT,
            _ => Element::hopper_rule(self.a_element, self.b_element),
        }
    }
}

impl Execute for Mma {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        let a = operand_a(self.a_element, self.a.len(), reader(step, &self.a));
        let b = operand_b(self.b_element, self.b.len(), reader(step, &self.b));
        let depth = a.depth;
        if self.kind == Accumulator::S32 {
            let mut c = read_integers(8, reader(step, &self.c));
            accumulate_integers(self.saturate, &a.values, &b.values, &mut c, 16, 8, depth);
            write_fragment(step, &self.d, |write| write_integers(8, &c, write));
        } else {
            let mut c = read_floats(self.kind, 8, reader(step, &self.c));
            accumulate_tile(self.rule(), &a.values, &b.values, &mut c, 16, 8, depth);
            write_fragment(step, &self.d, |write| write_floats(self.kind, 8, &c, write));
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

pub(super) fn decode_mma(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    sync_aligned(d)?;
    let depth = match d.need_one_of(&["m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"])? {
        "m16n8k4" => 4,
        "m16n8k8" => 8,
        "m16n8k16" => 16,
        _ => 32,
    };
    d.need("row")?;
    d.need("col")?;
    let saturate = d.flag("satfinite");
    let mut next = |what| {
        let ty = d.parse_modifier(type_from_name);
        ty.ok_or_else(|| d.error(format!("the type of {what} is missing or not supported")))
    };
    let (of_d, of_a, of_b, of_c) = (next("d")?, next("a")?, next("b")?, next("c")?);
    let operands = match (of_a, of_b, accumulator(of_d)) {
        (Type::Operand(a), Type::Operand(b), Some(kind)) if exists(a, b, kind, depth) => {
            Some((a, b, kind))
        }
        _ => None,
    };
    let Some((a_element, b_element, kind)) = operands else {
        return Err(d.error("this combination of shape and types is not supported"));
    };
    if of_c != of_d {
        return Err(d.error("different types of c and d are not supported"));
    }
    if saturate && kind != Accumulator::S32 {
        return Err(d.error(".satfinite is for integers only"));
    }
    d.expect_operands(4..=4)?;
    let b_registers = depth / (4 * b_element.per_register());
    let ty = register_type(kind);
    Ok(Box::new(Mma {
        a_element,
        b_element,
        kind,
        saturate,
        d: d.dsts(0, ty, Some(kind.registers(8)))?,
        a: d.srcs(1, ScalarType::B32, Some(2 * b_registers))?,
        b: d.srcs(2, ScalarType::B32, Some(b_registers))?,
        c: d.srcs(3, ty, Some(kind.registers(8)))?,
    }))
}

#[cfg(test)]
pub(in crate::isa) mod tests;
