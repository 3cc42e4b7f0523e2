//! `mov` in all its forms, and `activemask`.

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Moving, Src},
    lanes::{Lane, binary_of, unary, unary_of},
    logic::copy_predicate,
    memory::cut,
};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::{Operand, ScalarType},
};

type Decoded = Result<Box<dyn Execute>, DecodeError>;

/// A special register that changes. A step of the machine is a nanosecond and a clock cycle.
#[derive(Debug)]
struct ReadClock {
    dst: Dst,
    which: Moving,
    bits: u32,
}

impl Execute for ReadClock {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let time = step.machine.time();
        let value = match self.which {
            Moving::Clock | Moving::GlobaltimerLo => time & 0xffff_ffff,
            Moving::ClockHi | Moving::GlobaltimerHi => time >> 32,
            Moving::Clock64 | Moving::Globaltimer => time,
        };
        let value = cut(value, self.bits);
        step.write_with(self.dst, |_| value);
        Ok(Flow::Next)
    }
}

/// `{a, b, …}` into one register: `a` lowest.
#[derive(Debug)]
struct Pack {
    dst: Dst,
    elements: Vec<Src>,
    /// Of an element.
    bits: u32,
}

impl Execute for Pack {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let mut low = [0; 32];
        let mut high = [0; 32];
        for (index, src) in self.elements.iter().enumerate() {
            let row = step.row(*src);
            let shift = self.bits * index as u32;
            let target = if shift < 64 { &mut low } else { &mut high };
            for lane in 0..32 {
                target[lane] |= cut(row[lane], self.bits) << (shift % 64);
            }
        }
        step.write(self.dst, &low);
        if self.bits as usize * self.elements.len() == 128 {
            for lane in step.lanes() {
                step.set_high(self.dst, lane, high[lane]);
            }
        }
        Ok(Flow::Next)
    }
}

/// The same backwards.
#[derive(Debug)]
struct Unpack {
    elements: Vec<Dst>,
    src: Src,
    bits: u32,
}

impl Execute for Unpack {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let low = *step.row(self.src);
        let mut high = [0; 32];
        if self.bits as usize * self.elements.len() == 128 {
            high = std::array::from_fn(|lane| step.get_high(self.src, lane));
        }
        for (index, dst) in self.elements.iter().enumerate() {
            let shift = self.bits * index as u32;
            let source = if shift < 64 { &low } else { &high };
            step.write_with(*dst, |lane| cut(source[lane] >> (shift % 64), self.bits));
        }
        Ok(Flow::Next)
    }
}

/// `mov.b128` from register to register.
#[derive(Debug)]
struct Copy128 {
    dst: Dst,
    src: Src,
}

impl Execute for Copy128 {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        for lane in step.lanes() {
            let (low, high) = (step.get(self.src, lane), step.get_high(self.src, lane));
            step.set(self.dst, lane, low);
            step.set_high(self.dst, lane, high);
        }
        Ok(Flow::Next)
    }
}

/// The type of an element when `count` of them make up `ty`.
fn element(d: &Decoder<'_>, ty: ScalarType, count: usize) -> Result<ScalarType, DecodeError> {
    if !matches!(
        ty,
        ScalarType::B16 | ScalarType::B32 | ScalarType::B64 | ScalarType::B128
    ) {
        return Err(d.error("vectors are for .b16 to .b128"));
    }
    Ok(match ty.bits() as usize / count.max(1) {
        8 if count * 8 == ty.bits() as usize => ScalarType::B8,
        16 if count * 16 == ty.bits() as usize => ScalarType::B16,
        32 if count * 32 == ty.bits() as usize => ScalarType::B32,
        64 if count * 64 == ty.bits() as usize => ScalarType::B64,
        _ => return Err(d.error(format!("{count} elements do not make up its type"))),
    })
}

/// The register behind `mov`'s wide side; 128 bits have no constants.
fn wide_source(d: &mut Decoder<'_>, ty: ScalarType) -> Result<Src, DecodeError> {
    if ty == ScalarType::B128 && !matches!(d.operand(1)?, Operand::Register(_)) {
        return Err(d.error("needs a register of 128 bits"));
    }
    d.src(1, ty)
}

pub(super) fn decode_mov(d: &mut Decoder<'_>) -> Decoded {
    let ty = d.scalar_type()?;
    d.expect_operands(2..=2)?;
    if ty == ScalarType::Pred {
        return copy_predicate(d, false);
    }
    match (d.operand(0)?, d.operand(1)?) {
        (Operand::Vector(_), Operand::Vector(_)) => {
            return Err(d.error("one side has to be a single register"));
        }
        (_, Operand::Vector(elements)) => {
            let part = element(d, ty, elements.len())?;
            if let [low, high] = elements.as_slice()
                && part == ScalarType::B32
            {
                let dst = d.dst(0, ty)?;
                let (low, high) = (d.src_of(low, part)?, d.src_of(high, part)?);
                return Ok(binary_of(dst, low, high, |low: u32, high: u32| {
                    u64::from(high) << 32 | u64::from(low)
                }));
            }
            return Ok(Box::new(Pack {
                dst: d.dst(0, ty)?,
                elements: d.srcs(1, part, None)?,
                bits: part.bits(),
            }));
        }
        (Operand::Vector(elements), _) => {
            let part = element(d, ty, elements.len())?;
            return Ok(Box::new(Unpack {
                elements: d.dsts(0, part, None)?,
                src: wide_source(d, ty)?,
                bits: part.bits(),
            }));
        }
        (_, Operand::Special(name)) => {
            if let Some(which) = Moving::from_name(name) {
                return Ok(Box::new(ReadClock {
                    dst: d.dst(0, ty)?,
                    which,
                    bits: ty.bits(),
                }));
            }
        }
        _ => {}
    }
    match ty.bits() {
        16 => unary_as::<u16>(d, ty),
        32 => unary_as::<u32>(d, ty),
        64 => unary_as::<u64>(d, ty),
        128 => Ok(Box::new(Copy128 {
            dst: d.dst(0, ty)?,
            src: wide_source(d, ty)?,
        })),
        _ => Err(d.error("does not exist for this type")),
    }
}

/// A copy; the type decides how a constant is read.
fn unary_as<T: Lane>(d: &mut Decoder<'_>, ty: ScalarType) -> Decoded {
    if matches!(
        ty,
        ScalarType::F16
            | ScalarType::F16x2
            | ScalarType::Bf16
            | ScalarType::Bf16x2
            | ScalarType::F32x2
            | ScalarType::Tf32
    ) {
        return Err(d.error("does not exist for this type"));
    }
    if ty.is_float() {
        let (dst, src) = (d.dst(0, ty)?, d.src(1, ty)?);
        return Ok(unary_of(dst, src, |a: T| a));
    }
    unary(d, |a: T| a)
}

/// `activemask`.
#[derive(Debug)]
struct ActiveMask {
    dst: Dst,
}

impl Execute for ActiveMask {
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault> {
        let mask = u64::from(step.mask);
        step.write_with(self.dst, |_| mask);
        Ok(Flow::Next)
    }
}

pub(super) fn decode_activemask(d: &mut Decoder<'_>) -> Decoded {
    d.need("b32")?;
    d.expect_operands(1..=1)?;
    Ok(Box::new(ActiveMask {
        dst: d.dst(0, ScalarType::B32)?,
    }))
}
