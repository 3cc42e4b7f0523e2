//! Elementwise math → instructions that the back end selects.
//!
//! Needs: elementwise ops of `arith` and `math` on scalars and vectors of rank 1. Leaves:
//! the functions of the table in `functions.rs` on f32, f16 and bf16 as `arith`,
//! `math.fma` and single PTX instructions; conversions and shifts with what
//! `docs/reference/tile-semantics.md` says about values that do not fit. Everything else
//! stays as it is, f64 too, and `async-pipeline-verify-lowered` refuses what has no
//! instruction.
//!
//! ```text
//! %y = math.rsqrt %x : f16
//! ```
//! becomes
//! ```text
//! %0 = arith.extf %x : f16 to f32
//! %1 = llvm.inline_asm "rsqrt.approx.f32 $0, $1;", "=f,f" %0 : (f32) -> f32
//! %y = arith.truncf %1 : f32 to f16
//! ```
//!
//! Inline PTX here has no side effects, so that it is merged and dropped like any op.

mod arithmetic;
mod emit;
mod functions;
mod integers;
mod narrow;
mod page;
#[cfg(test)]
mod tests;
mod trigonometry;

pub use page::render_markdown;

use super::{Failed, Options, Pass, options::TARGET};
use crate::diagnostics;
use async_pipeline_sys::ir::{Builder, Op, Type, Value};
use emit::{Emit, Lanes};
use functions::Function;
use ptx_model::target::Target;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-select-instructions",
    description: "Turn elementwise math into instructions that the back end selects",
    options: &[TARGET],
    run,
};

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let target = diagnostics::option(module, options.target())?;
    diagnostics::all(module.walk(), |op| rewrite(op, target))
}

fn rewrite(op: Op, target: Target) -> Result<(), Failed> {
    let name = op.name();
    if !(name.starts_with("arith.") || name.starts_with("math.")) || op.result_count() != 1 {
        return Ok(());
    }
    // Of other types nothing is known here.
    let Some(lanes) = Lanes::of(op.result(0).ty()) else {
        return Ok(());
    };
    let value = match name {
        "arith.shli" | "arith.shrui" | "arith.shrsi" => integers::shift(op, lanes),
        "arith.fptosi" | "arith.fptoui" => integers::from_float(op, lanes),
        "arith.sitofp" | "arith.uitofp" if target == Target::Sm80 => integers::to_float(op, lanes),
        "arith.truncf" => narrow::truncate(op, lanes, target)?,
        "arith.extf" => narrow::extend(op, lanes, target)?,
        _ => functions::find(name).and_then(|function| call(op, lanes, function)),
    };
    if let Some(value) = value {
        op.replace(&[value]);
    }
    Ok(())
}

/// Lanes that are computed together. Op after op on a long vector would keep a register of
/// each intermediate value per lane, so that values spill.
const TOGETHER: usize = 8;

/// A function of the table, in f32 whatever the operands are.
fn call(op: Op, lanes: Lanes, function: &Function) -> Option<Value> {
    let element = lanes.element();
    let single = is_single(element);
    if !single && !is_half(element) || single && function.native {
        return None;
    }
    let compute = |emit: Emit, operands: &[Value]| {
        let arguments: Vec<Value> = operands.iter().map(|value| emit.widen(*value)).collect();
        let result = (function.emit)(emit, &arguments);
        emit.cast((!single).then_some("arith.truncf"), result, element)
    };
    let emit = Emit::new(Builder::before(op), lanes);
    let length = lanes.length().unwrap_or(1);
    if length <= TOGETHER as i64 {
        return Some(compute(emit, &op.operands()));
    }
    let columns: Vec<Vec<Value>> = op
        .operands()
        .into_iter()
        .map(|value| emit.scalars(value))
        .collect();
    let mut results = Vec::new();
    for first in (0..length as usize).step_by(TOGETHER) {
        let end = (first + TOGETHER).min(length as usize);
        let pieces: Vec<Value> = columns
            .iter()
            .map(|column| emit.vector(&column[first..end]))
            .collect();
        let piece = Emit::new(Builder::before(op), Lanes::of(pieces[0].ty())?);
        results.extend(piece.scalars(compute(piece, &pieces)));
    }
    Some(emit.vector(&results))
}

fn is_single(ty: Type) -> bool {
    ty.to_string() == "f32"
}

fn is_half(ty: Type) -> bool {
    matches!(ty.to_string().as_str(), "f16" | "bf16")
}
