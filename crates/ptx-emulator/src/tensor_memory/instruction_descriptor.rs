//! The 32-bit instruction descriptor of `tcgen05.mma` (PTX ISA 9.7.16.4.2).

use super::shapes::{CtaGroup, MmaKind};
use crate::formats::tile::Element;

/// The type of an element of D.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum AccumulatorType {
    F16,
    F32,
    S32,
}

/// The type of a scale factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScaleType {
    /// 4-bit exponent, 3-bit mantissa, no sign.
    Ue4m3,
    /// A power of two.
    Ue8m0,
}

/// Which scale factors an instruction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScaleSelect {
    /// Their type.
    pub ty: ScaleType,
    /// First byte of the 32-bit scale word of A, 0 to 3.
    pub a_id: u32,
    /// The same of B.
    pub b_id: u32,
}

/// A descriptor that does not describe an instruction of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InstructionDescriptorError {
    /// Bits that must be 0 for this kind.
    #[error(
        "instruction descriptor {word:#010x}: bits {reserved:#010x} must be 0 for kind::{}",
        kind.name()
    )]
    Reserved {
        /// The descriptor.
        word: u32,
        /// Those that are set.
        reserved: u32,
        /// The instruction's kind.
        kind: MmaKind,
    },
    /// The sparsity bit of an instruction that is not `.sp`.
    #[error("instruction descriptor {word:#010x}: the sparsity bit is set without .sp")]
    Sparse {
        /// The descriptor.
        word: u32,
    },
    /// A type code, or a combination of types, that the kind does not have.
    #[error(
        "instruction descriptor {word:#010x}: kind::{} has no type code {code} for {operand}",
        kind.name()
    )]
    Type {
        /// The descriptor.
        word: u32,
        /// A, B, D or the scale factors.
        operand: &'static str,
        /// The code.
        code: u32,
        /// The instruction's kind.
        kind: MmaKind,
    },
    /// M or N that the kind does not have.
    #[error(
        "instruction descriptor {word:#010x}: kind::{} with cta_group::{} has no shape M={m}, N={n}",
        kind.name(),
        group.count()
    )]
    Shape {
        /// The descriptor.
        word: u32,
        /// Rows of D.
        m: u32,
        /// Columns of D.
        n: u32,
        /// The instruction's kind.
        kind: MmaKind,
        /// The instruction's CTA group.
        group: CtaGroup,
    },
    /// An MN-major ("transposed") operand of a type that must be K-major.
    #[error("instruction descriptor {word:#010x}: {operand} of type {ty:?} must be K-major")]
    Transpose {
        /// The descriptor.
        word: u32,
        /// A or B.
        operand: &'static str,
        /// Its type.
        ty: Element,
    },
    /// Scale factors that the id cannot select.
    #[error("instruction descriptor {word:#010x}: scale factor id {id} does not exist here")]
    ScaleId {
        /// The descriptor.
        word: u32,
        /// The id.
        id: u32,
    },
}

/// A decoded descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstructionDescriptor {
    /// Rows of D; of both CTAs together with `cta_group::2`.
    pub m: u32,
    /// Columns of D.
    pub n: u32,
    /// Type of A.
    pub a: Element,
    /// Type of B.
    pub b: Element,
    /// Type of D.
    pub d: AccumulatorType,
    /// Whether A is negated.
    pub negate_a: bool,
    /// Whether B is negated.
    pub negate_b: bool,
    /// Whether A is MN-major in shared memory.
    pub a_mn_major: bool,
    /// Whether B is MN-major in shared memory.
    pub b_mn_major: bool,
    /// Whether integer sums saturate.
    pub saturate: bool,
    /// The scale factors of the block-scaled kinds.
    pub scale: Option<ScaleSelect>,
}

/// Bits that a dense instruction without `.ws` leaves 0; the fields of the kind are taken out.
fn reserved_bits(kind: MmaKind) -> u32 {
    let always = 0b11;
    match kind {
        MmaKind::I8 => always | 1 << 6 | 1 << 13 | 1 << 14 | 1 << 23 | 1 << 29 | 3 << 30,
        MmaKind::F16 | MmaKind::Tf32 | MmaKind::F8f6f4 => {
            always | 1 << 3 | 1 << 6 | 1 << 23 | 1 << 29 | 3 << 30
        }
        MmaKind::Mxf8f6f4 => always | 1 << 3 | 1 << 6 | 7 << 24 | 1 << 31,
        // Bit 31 asks for K = 96, which sm_103 has.
        MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => {
            always | 1 << 3 | 1 << 6 | 1 << 12 | 3 << 15 | 7 << 24 | 1 << 31
        }
    }
}

fn element_type(kind: MmaKind, code: u32) -> Option<Element> {
    Some(match (kind, code) {
        (MmaKind::F16, 0) => Element::F16,
        (MmaKind::F16, 1) => Element::Bf16,
        (MmaKind::Tf32, 2) => Element::Tf32,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 0) => Element::E4m3,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 1) => Element::E5m2,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 3) => Element::E2m3,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 4) => Element::E3m2,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 5) => Element::E2m1,
        (MmaKind::I8, 0) => Element::U8,
        (MmaKind::I8, 1) => Element::S8,
        (MmaKind::Mxf4 | MmaKind::Mxf4nvf4, 1) => Element::E2m1Packed,
        _ => return None,
    })
}

fn accumulator_type(kind: MmaKind, code: u32) -> Option<AccumulatorType> {
    Some(match (kind, code) {
        (MmaKind::F16 | MmaKind::F8f6f4, 0) => AccumulatorType::F16,
        (MmaKind::F16 | MmaKind::F8f6f4 | MmaKind::Tf32, 1) => AccumulatorType::F32,
        (MmaKind::I8, 2) => AccumulatorType::S32,
        _ => return None,
    })
}

impl InstructionDescriptor {
    /// Takes the descriptor of a dense instruction without `.ws` apart.
    pub fn decode(
        word: u32,
        kind: MmaKind,
        group: CtaGroup,
    ) -> Result<Self, InstructionDescriptorError> {
        let field = |low: u32, bits: u32| (word >> low) & ((1 << bits) - 1);
        let flag = |bit: u32| field(bit, 1) != 0;
        if flag(2) {
            return Err(InstructionDescriptorError::Sparse { word });
        }
        let reserved = word & reserved_bits(kind);
        if reserved != 0 {
            return Err(InstructionDescriptorError::Reserved {
                word,
                reserved,
                kind,
            });
        }
        let typed = |operand, code| {
            element_type(kind, code).ok_or(InstructionDescriptorError::Type {
                word,
                operand,
                code,
                kind,
            })
        };
        let (a, b) = (typed("A", field(7, 3))?, typed("B", field(10, 3))?);
        let d = if kind.is_block_scaled() {
            AccumulatorType::F32
        } else {
            accumulator_type(kind, field(4, 2)).ok_or(InstructionDescriptorError::Type {
                word,
                operand: "D",
                code: field(4, 2),
                kind,
            })?
        };
        // A sum of bf16 products is not offered in f16, and A and B of kind::f16 are of one type.
        let mixed =
            kind == MmaKind::F16 && (a != b || (a, d) == (Element::Bf16, AccumulatorType::F16));
        if mixed {
            return Err(InstructionDescriptorError::Type {
                word,
                operand: if a == b { "D" } else { "B" },
                code: field(if a == b { 4 } else { 10 }, if a == b { 2 } else { 3 }),
                kind,
            });
        }
        let (m, n) = (field(24, 5) << 4, field(17, 6) << 3);
        let m = if kind.is_block_scaled() {
            field(27, 2) << 7
        } else {
            m
        };
        if !kind.allows_m(group, m) || !kind.allows_n(group, n) {
            return Err(InstructionDescriptorError::Shape {
                word,
                m,
                n,
                kind,
                group,
            });
        }
        let descriptor = Self {
            m,
            n,
            a,
            b,
            d,
            negate_a: flag(13),
            negate_b: flag(14),
            a_mn_major: flag(15),
            b_mn_major: flag(16),
            saturate: kind == MmaKind::I8 && flag(3),
            scale: scale_select(word, kind)?,
        };
        descriptor.check_majorness(word, kind, group)?;
        Ok(descriptor)
    }

    fn check_majorness(
        &self,
        word: u32,
        kind: MmaKind,
        group: CtaGroup,
    ) -> Result<(), InstructionDescriptorError> {
        let narrow = |ty| matches!(ty, Element::E2m3 | Element::E3m2 | Element::E2m1);
        for (operand, ty, mn_major) in [
            ("A", self.a, self.a_mn_major),
            ("B", self.b, self.b_mn_major),
        ] {
            if mn_major && narrow(ty) {
                return Err(InstructionDescriptorError::Transpose { word, operand, ty });
            }
        }
        // A transposed B of bytes goes in units of 16 columns per CTA.
        let step = 16 * group.count();
        if self.b_mn_major && kind.element_bits() == 8 && !self.n.is_multiple_of(step) {
            return Err(InstructionDescriptorError::Shape {
                word,
                m: self.m,
                n: self.n,
                kind,
                group,
            });
        }
        Ok(())
    }
}

fn scale_select(
    word: u32,
    kind: MmaKind,
) -> Result<Option<ScaleSelect>, InstructionDescriptorError> {
    if !kind.is_block_scaled() {
        return Ok(None);
    }
    let (a_id, b_id) = ((word >> 29) & 3, (word >> 4) & 3);
    let ty = if (word >> 23) & 1 == 1 {
        ScaleType::Ue8m0
    } else {
        ScaleType::Ue4m3
    };
    if ty == ScaleType::Ue4m3 && kind != MmaKind::Mxf4nvf4 {
        return Err(InstructionDescriptorError::Type {
            word,
            operand: "the scale factors",
            code: 0,
            kind,
        });
    }
    // Two or four bytes are used at once in the 4-bit kinds.
    if kind != MmaKind::Mxf8f6f4
        && let Some(&id) = [a_id, b_id].iter().find(|id| **id % 2 == 1)
    {
        return Err(InstructionDescriptorError::ScaleId { word, id });
    }
    Ok(Some(ScaleSelect { ty, a_id, b_id }))
}

#[cfg(test)]
mod tests;
