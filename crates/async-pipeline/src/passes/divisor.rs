//! What is known to divide an index.

use async_pipeline_sys::ir::Value;

/// Larger powers than this are of no use to anybody.
const MOST: i64 = 1 << 20;
/// Deeper expressions are taken to be odd.
const DEPTH: u32 = 32;

/// The largest power of two, up to 2^20, that is known to divide an index or integer.
pub(crate) fn power_of_two(value: Value) -> i64 {
    divisor(value, DEPTH)
}

fn divisor(value: Value, depth: u32) -> i64 {
    if depth == 0 {
        return 1;
    }
    if let Some(constant) = value.constant_int() {
        return of_constant(constant);
    }
    let of = |value| divisor(value, depth - 1);
    if let Some((block, 0)) = value.as_block_argument()
        && let Some(looped) = block.parent().filter(|parent| parent.is("scf.for"))
    {
        return of(looped.operand(0)).min(of(looped.operand(2)));
    }
    let Some(op) = value.defining_op() else {
        return 1;
    };
    let each = || op.operands().into_iter().map(of);
    match op.name() {
        "arith.addi" | "arith.subi" | "arith.minsi" | "arith.minui" | "arith.maxsi"
        | "arith.maxui" => each().min().unwrap_or(1),
        "arith.muli" => each().fold(1, |all, one| (all * one).min(MOST)),
        "arith.select" => each().skip(1).min().unwrap_or(1),
        "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" => {
            of(op.operand(0))
        }
        _ => 1,
    }
}

fn of_constant(constant: i64) -> i64 {
    match constant {
        0 => MOST,
        other => (1_i64 << other.trailing_zeros().min(20)).min(MOST),
    }
}

/// Whether an index is known not to be negative.
pub(crate) fn is_not_negative(value: Value) -> bool {
    not_negative(value, DEPTH)
}

fn not_negative(value: Value, depth: u32) -> bool {
    if depth == 0 {
        return false;
    }
    if let Some(constant) = value.constant_int() {
        return constant >= 0;
    }
    let is = |value| not_negative(value, depth - 1);
    if let Some((block, 0)) = value.as_block_argument()
        && let Some(looped) = block.parent().filter(|parent| parent.is("scf.for"))
    {
        return is(looped.operand(0));
    }
    let Some(op) = value.defining_op() else {
        return false;
    };
    match op.name() {
        "gpu.block_id" | "gpu.thread_id" | "gpu.grid_dim" | "memref.dim" => true,
        "arith.addi" | "arith.muli" | "arith.divui" | "arith.remui" | "arith.minsi"
        | "arith.ceildivui" | "arith.divsi" | "arith.remsi" => op.operands().into_iter().all(is),
        "arith.maxsi" => op.operands().into_iter().any(is),
        "arith.select" => op.operands().into_iter().skip(1).all(is),
        _ => false,
    }
}
