//! Selection: `selp`, `slct` (PTX ISA 9.1, section 9.7.6).

use super::{
    Execute,
    decode::{DecodeError, Decoder, Dst, Pred, Src},
    float::flush,
    lanes::ternary,
};
use crate::{
    machine::step::{Flow, Step},
    report::Fault,
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;
type Decoded = Result<Box<dyn Execute>>;

/// `selp`.
#[derive(Debug)]
struct Select {
    dst: Dst,
    a: Src,
    b: Src,
    choice: Pred,
    /// Bits of the type.
    mask: u64,
}

impl Execute for Select {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let choice = step.pred(self.choice);
        let a = step.row(self.a);
        let b = step.row(self.b);
        let mut out = [0; 32];
        for lane in 0..32 {
            let all = 0u64.wrapping_sub(u64::from(choice >> lane & 1));
            out[lane] = (a[lane] & all | b[lane] & !all) & self.mask;
        }
        step.write(self.dst, &out);
        Ok(Flow::Next)
    }
}

fn word(d: &mut Decoder<'_>) -> Result<ScalarType> {
    let ty = d.scalar_type()?;
    let packed = matches!(
        ty,
        ScalarType::F16x2 | ScalarType::Bf16x2 | ScalarType::F32x2
    );
    match ty.bits() {
        16 | 32 | 64 if !packed && ty != ScalarType::Tf32 => Ok(ty),
        _ => Err(d.error("does not exist for this type")),
    }
}

pub(super) fn decode_selp(d: &mut Decoder<'_>) -> Decoded {
    let ty = word(d)?;
    d.expect_operands(4..=4)?;
    Ok(Box::new(Select {
        dst: d.dst(0, ty)?,
        a: d.src(1, ty)?,
        b: d.src(2, ty)?,
        choice: d.pred(3)?,
        mask: u64::MAX >> (64 - ty.bits()),
    }))
}

/// `slct`: by the sign of the third operand; -0 is not negative, NaN chooses the second.
pub(super) fn decode_slct(d: &mut Decoder<'_>) -> Decoded {
    let ftz = d.flag("ftz");
    let ty = word(d)?;
    let by = d.scalar_type()?;
    if ftz && by != ScalarType::F32 {
        return Err(d.error(".ftz needs .f32"));
    }
    macro_rules! select {
        ($t:ident) => {
            match by {
                ScalarType::S32 => ternary(d, |a: $t, b: $t, c: i32| if c >= 0 { a } else { b }),
                ScalarType::F32 => ternary(d, move |a: $t, b: $t, c: f32| {
                    let c = if ftz { flush(c) } else { c };
                    if c >= 0.0 { a } else { b }
                }),
                _ => Err(d.error("chooses by .s32 or .f32")),
            }
        };
    }
    match ty.bits() {
        16 => select!(u16),
        32 => select!(u32),
        _ => select!(u64),
    }
}
