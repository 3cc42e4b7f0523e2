//! `nanosleep` and `setmaxnreg`.

use super::{Convergence, Execute, decode::{DecodeError, Decoder}};
use crate::{
    machine::step::{Flow, Step},
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// `nanosleep`: somebody else's turn.
#[derive(Debug)]
struct Sleep;

impl Execute for Sleep {
    fn execute(&self, _: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        Ok(Flow::Yield(None))
    }
}

pub(super) fn decode_nanosleep(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    d.need("u32")?;
    d.expect_operands(1..=1)?;
    d.src(0, ScalarType::U32)?;
    Ok(Box::new(Sleep))
}

/// `setmaxnreg`: registers move between warpgroups. How many a thread has at launch is ptxas's
/// choice and not in the PTX, so whether an `inc` would block for ever cannot be said here; what
/// can be said is whether the number is one that hardware takes.
#[derive(Debug)]
struct SetRegisters {
    count: u32,
    increase: bool,
}

impl Execute for SetRegisters {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        let owned = step.warp.registers;
        // The first one of a warp may start from anything.
        if owned != 0 {
            let wrong_way = if self.increase { self.count < owned } else { self.count > owned };
            if wrong_way {
                return Err(Fault::new(
                    Kind::InvalidOperand,
                    format!(
                        "the warp has {owned} registers per thread, which setmaxnreg.{} cannot change to {}",
                        if self.increase { "inc" } else { "dec" },
                        self.count
                    ),
                ));
            }
        }
        step.warp.registers = self.count;
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

pub(super) fn decode_setmaxnreg(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let increase = d.need_one_of(&["inc", "dec"])? == "inc";
    d.need("sync")?;
    d.need("aligned")?;
    d.need("u32")?;
    d.expect_operands(1..=1)?;
    let count = d.immediate(0)?;
    if !(24..=256).contains(&count) || count % 8 != 0 {
        return Err(d.error(format!(
            "the number of registers is 24 to 256 in steps of 8, got {count}"
        )));
    }
    Ok(Box::new(SetRegisters {
        count: count as u32,
        increase,
    }))
}
