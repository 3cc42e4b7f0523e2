//! Conversions between floats and integers, and shifts, for values that do not fit.

use super::{
    arithmetic::Arithmetic,
    emit::{Emit, Lanes, NOT_EQUAL, ORDERED, UNSIGNED_AT_MOST},
    is_half, is_single,
};
use async_pipeline_sys::ir::{Builder, Op, Value};

/// A shift by the width or more leaves nothing but the sign; LLVM does not define it.
pub(super) fn shift(op: Op, lanes: Lanes) -> Option<Value> {
    let element = lanes.element();
    let width = match element.is_index() {
        true => 64,
        false => element.bit_width()?,
    };
    let (value, count) = (op.operand(0), op.operand(1));
    if count
        .constant_int()
        .is_some_and(|count| (0..i64::from(width)).contains(&count))
    {
        return None;
    }
    let emit = Emit::new(Builder::before(op), lanes);
    let most = emit.constant(element, &number(width, u128::from(width) - 1));
    if op.is("arith.shrsi") {
        let count = emit.op("arith.minui", &[count, most], element);
        return Some(emit.op("arith.shrsi", &[value, count], element));
    }
    let shifted = emit.op(op.name(), &[value, count], element);
    let zero = emit.constant(element, &number(width, 0));
    let fits = emit.compare(UNSIGNED_AT_MOST, count, most);
    Some(emit.choose(fits, shifted, zero))
}

/// `cvt.rzi` saturates to 32 and 64 bits. NaN becomes 0, but where 64 bits take part the
/// highest bit alone (PTX ISA 9.1, 9.7.9.21).
pub(super) fn from_float(op: Op, lanes: Lanes) -> Option<Value> {
    let emit = Emit::new(Builder::before(op), lanes);
    let bits = lanes.element().bit_width().filter(|bits| *bits <= 64)?;
    let source = Lanes::of(op.operand(0).ty())?.element();
    let double = source.to_string() == "f64";
    if !double && !is_single(source) && !is_half(source) {
        return None;
    }
    let signed = op.is("arith.fptosi");
    let wide = if bits > 32 { 64 } else { 32 };
    let value = emit.widen(op.operand(0));
    let (sign, from) = (if signed { 's' } else { 'u' }, if double { 64 } else { 32 });
    let text = format!("cvt.rzi.{sign}{wide}.f{from} $0, $1;");
    let constraints = format!(
        "={},{}",
        if wide == 64 { 'l' } else { 'r' },
        if double { 'd' } else { 'f' }
    );
    let ty = emit.int_type(wide);
    let mut result = emit.ptx(&text, &constraints, &[value], ty);
    if double || wide == 64 {
        let zero = emit.constant(ty, "0");
        let number = emit.compare(ORDERED, value, value);
        result = emit.choose(number, result, zero);
    }
    if bits == wide {
        return Some(result);
    }
    if signed {
        let (low, high) = (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1);
        let low = emit.constant(ty, &low.to_string());
        let high = emit.constant(ty, &high.to_string());
        result = emit.op("arith.maxsi", &[result, low], ty);
        result = emit.op("arith.minsi", &[result, high], ty);
    } else {
        let high = emit.constant(ty, &((1_u64 << bits) - 1).to_string());
        result = emit.op("arith.minui", &[result, high], ty);
    }
    Some(emit.op("arith.trunci", &[result], lanes.element()))
}

/// Integers to bf16 on a target without the instruction: LLVM goes through f32 and rounds
/// twice. Here f32 is cut, with the last bit set if anything was lost, so that rounding it
/// to bf16 sees on which side of a tie the number is.
pub(super) fn to_float(op: Op, lanes: Lanes) -> Option<Value> {
    let source = Lanes::of(op.operand(0).ty())?.element();
    let bits = source.bit_width().filter(|bits| *bits <= 64)?;
    // f32 holds 24 bits exactly.
    if lanes.element().to_string() != "bf16" || bits <= 24 {
        return None;
    }
    let emit = Emit::new(Builder::before(op), lanes);
    let signed = op.is("arith.sitofp");
    let (wide, letter) = if bits > 32 { (64, 'l') } else { (32, 'r') };
    let (sign, extend) = if signed {
        ('s', "arith.extsi")
    } else {
        ('u', "arith.extui")
    };
    let ty = emit.int_type(wide);
    let value = emit.cast((bits < wide).then_some(extend), op.operand(0), ty);
    let text = format!("cvt.rz.f32.{sign}{wide} $0, $1;");
    let cut = emit.ptx(&text, &format!("=f,{letter}"), &[value], emit.f32());
    let text = format!("cvt.rzi.{sign}{wide}.f32 $0, $1;");
    let back = emit.ptx(&text, &format!("={letter},f"), &[cut], ty);
    let word = emit.int_type(32);
    let lost = emit.op("arith.extui", &[emit.compare(NOT_EQUAL, back, value)], word);
    let odd = emit.op("arith.ori", &[emit.bits(cut), lost], word);
    let single = emit.float_of(odd);
    Some(emit.op("arith.truncf", &[single], lanes.element()))
}

/// How MLIR writes a number of a width.
fn number(width: u32, value: u128) -> String {
    match width {
        1 => (value != 0).to_string(),
        _ => value.to_string(),
    }
}
