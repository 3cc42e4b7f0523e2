//! Bitwise logic on words and predicates, and `prmt` (PTX ISA 9.1, sections 9.7.8 and 9.7.9).

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Pred, PredDst, Src},
    lanes::{binary, for_integer, ternary, unary},
};
use crate::{
    machine::{
        step::{Flow, Step},
        warp::Row,
    },
    report::Fault,
    syntax::ast::{Operand, ScalarType},
};

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// Two predicates into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combine {
    And,
    Or,
    Xor,
}

impl Combine {
    /// Takes `.and`, `.or` or `.xor` if it is there.
    pub(super) fn take(d: &mut Decoder<'_>) -> Option<Self> {
        Some(match d.one_of(&["and", "or", "xor"])? {
            "and" => Self::And,
            "or" => Self::Or,
            _ => Self::Xor,
        })
    }

    /// For all lanes at once.
    pub(super) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
        }
    }
}

/// `and.pred`, `or.pred`, `xor.pred`.
#[derive(Debug)]
struct Predicates {
    dst: PredDst,
    a: Pred,
    b: Pred,
    combine: Combine,
}

impl Execute for Predicates {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let value = self.combine.apply(step.pred(self.a), step.pred(self.b));
        step.set_pred(self.dst, value);
        Ok(Flow::Next)
    }
}

/// `not.pred` and `mov.pred`.
#[derive(Debug)]
struct CopyPredicate {
    dst: PredDst,
    a: Pred,
    not: bool,
}

impl Execute for CopyPredicate {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let value = step.pred(self.a);
        step.set_pred(self.dst, if self.not { !value } else { value });
        Ok(Flow::Next)
    }
}

/// Decodes the operands of `not.pred` or, without `not`, `mov.pred`.
pub(super) fn copy_predicate(d: &mut Decoder<'_>, not: bool) -> Decoded {
    d.expect_operands(2..=2)?;
    Ok(Box::new(CopyPredicate {
        dst: d.pred_dst(0)?,
        a: d.pred(1)?,
        not,
    }))
}

fn logic(d: &mut Decoder<'_>, combine: Combine) -> Decoded {
    if d.flag("pred") {
        d.expect_operands(3..=3)?;
        return Ok(Box::new(Predicates {
            dst: d.pred_dst(0)?,
            a: d.pred(1)?,
            b: d.pred(2)?,
            combine,
        }));
    }
    let ty = d.scalar_type()?;
    for_integer!(d, ty, [B16 = u16, B32 = u32, B64 = u64], T => match combine {
        Combine::And => binary(d, |a: T, b: T| a & b),
        Combine::Or => binary(d, |a: T, b: T| a | b),
        Combine::Xor => binary(d, |a: T, b: T| a ^ b),
    })
}

pub(super) fn decode_and(d: &mut Decoder<'_>) -> Decoded {
    logic(d, Combine::And)
}

pub(super) fn decode_or(d: &mut Decoder<'_>) -> Decoded {
    logic(d, Combine::Or)
}

pub(super) fn decode_xor(d: &mut Decoder<'_>) -> Decoded {
    logic(d, Combine::Xor)
}

pub(super) fn decode_not(d: &mut Decoder<'_>) -> Decoded {
    if d.flag("pred") {
        return copy_predicate(d, true);
    }
    let ty = d.scalar_type()?;
    for_integer!(d, ty, [B16 = u16, B32 = u32, B64 = u64], T => unary(d, |a: T| !a))
}

/// `cnot`: C's `!`.
pub(super) fn decode_cnot(d: &mut Decoder<'_>) -> Decoded {
    let ty = d.scalar_type()?;
    for_integer!(d, ty, [B16 = u16, B32 = u32, B64 = u64], T => unary(d, |a: T| T::from(a == 0)))
}

/// Any function of three bits: bit `4a + 2b + c` of the table. Lanes innermost, for vectors.
fn lookup(step: &Step<'_>, operands: [Src; 3], table: u8) -> Row {
    let [a, b, c] = operands.map(|src| step.row(src));
    let mut out = [0; 32];
    for index in (0..8).filter(|index| table >> index & 1 == 1) {
        let inverted = |bit: u32| {
            if index >> bit & 1 == 1 {
                0
            } else {
                0xffff_ffff
            }
        };
        let (not_a, not_b, not_c) = (inverted(2), inverted(1), inverted(0));
        for lane in 0..32 {
            out[lane] |= (a[lane] ^ not_a) & (b[lane] ^ not_b) & (c[lane] ^ not_c);
        }
    }
    out.map(|value| value & 0xffff_ffff)
}

/// `lop3.and`/`.or`: also whether the result is not 0, combined with a predicate.
#[derive(Debug)]
struct LookupTest {
    dst: Dst,
    predicate: PredDst,
    operands: [Src; 3],
    table: u8,
    combine: Combine,
    with: Pred,
}

impl Execute for LookupTest {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let out = lookup(step, self.operands, self.table);
        let mut nonzero = 0;
        for (lane, value) in out.iter().enumerate() {
            nonzero |= u32::from(*value != 0) << lane;
        }
        let predicate = self.combine.apply(nonzero, step.pred(self.with));
        step.write(self.dst, &out);
        step.set_pred(self.predicate, predicate);
        Ok(Flow::Next)
    }
}

pub(super) fn decode_lop3(d: &mut Decoder<'_>) -> Decoded {
    let combine = Combine::take(d);
    d.need("b32")?;
    let table = d.immediate(4)?;
    let Ok(table) = u8::try_from(table) else {
        return Err(d.error(format!("needs a table of 8 bits, got {table}")));
    };
    let Some(combine) = combine else {
        d.expect_operands(5..=5)?;
        return Ok(Box::new(Lookup {
            dst: d.dst(0, ScalarType::B32)?,
            operands: operands(d)?,
            table,
        }));
    };
    if combine == Combine::Xor {
        return Err(d.error(".xor is not supported here"));
    }
    d.expect_operands(6..=6)?;
    let Operand::Pair(dst, predicate) = d.operand(0)? else {
        return Err(d.error("needs a register and a predicate to write to"));
    };
    Ok(Box::new(LookupTest {
        dst: d.dst_of(dst, ScalarType::B32)?,
        predicate: d.pred_dst_of(predicate)?,
        operands: operands(d)?,
        table,
        combine,
        with: d.pred(5)?,
    }))
}

fn operands(d: &mut Decoder<'_>) -> Result<[Src; 3], DecodeError> {
    let ty = ScalarType::B32;
    Ok([d.src(1, ty)?, d.src(2, ty)?, d.src(3, ty)?])
}

/// `lop3` without a test.
#[derive(Debug)]
struct Lookup {
    dst: Dst,
    operands: [Src; 3],
    table: u8,
}

impl Execute for Lookup {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let out = lookup(step, self.operands, self.table);
        step.write(self.dst, &out);
        Ok(Flow::Next)
    }
}

/// The byte that `prmt` puts at place `i`, as a selector: bits 0-2 an index into `{b, a}`, bit 3
/// whether its sign is spread.
#[inline(always)]
fn selector(mode: Permute, i: u32, c: u32) -> u32 {
    let n = c & 3;
    match mode {
        Permute::Free => c >> (4 * i) & 15,
        Permute::Forward4 => n + i,
        Permute::Backward4 => n.wrapping_sub(i) & 7,
        Permute::Replicate8 => n,
        Permute::EdgeClampLeft => i.max(n),
        Permute::EdgeClampRight => i.min(n),
        Permute::Replicate16 => (i & 1) + 2 * (n & 1),
    }
}

/// The modes of `prmt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Permute {
    Free,
    Forward4,
    Backward4,
    Replicate8,
    EdgeClampLeft,
    EdgeClampRight,
    Replicate16,
}

#[inline(always)]
fn permute(mode: Permute, a: u32, b: u32, c: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut result = 0;
    for i in 0..4 {
        let selector = selector(mode, i, c);
        let mut byte = (bytes >> (8 * (selector & 7))) as u8;
        if selector & 8 != 0 {
            byte = (byte.cast_signed() >> 7).cast_unsigned();
        }
        result |= u32::from(byte) << (8 * i);
    }
    result
}

pub(super) fn decode_prmt(d: &mut Decoder<'_>) -> Decoded {
    d.need("b32")?;
    let mode = match d.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) {
        None => Permute::Free,
        Some("f4e") => Permute::Forward4,
        Some("b4e") => Permute::Backward4,
        Some("rc8") => Permute::Replicate8,
        Some("ecl") => Permute::EdgeClampLeft,
        Some("ecr") => Permute::EdgeClampRight,
        Some(_) => Permute::Replicate16,
    };
    if mode == Permute::Free {
        return ternary(d, |a, b, c| permute(Permute::Free, a, b, c));
    }
    ternary(d, move |a, b, c| permute(mode, a, b, c))
}
