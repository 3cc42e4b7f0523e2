//! 8-bit floats: two at a time, as the instructions have it.

use super::{
    Failed,
    emit::{Emit, Lanes},
    is_half, is_single,
};
use crate::diagnostics::error;
use async_pipeline_sys::ir::{Builder, Op, Type, Value};
use ptx_model::target::Target;

/// The name in PTX.
fn format(ty: Type) -> Option<&'static str> {
    match ty.to_string().as_str() {
        "f8E4M3FN" => Some("e4m3"),
        "f8E5M2" => Some("e5m2"),
        _ => None,
    }
}

fn available(op: Op, target: Target) -> Result<(), Failed> {
    match target {
        Target::Sm80 => Err(error(
            op,
            format!(
                "'{}' op: {target} has no conversion of 8-bit floats",
                op.name()
            ),
        )),
        _ => Ok(()),
    }
}

/// To an 8-bit float; what is too large becomes the largest value.
pub(super) fn truncate(op: Op, lanes: Lanes, target: Target) -> Result<Option<Value>, Failed> {
    let source = Lanes::of(op.operand(0).ty()).map(Lanes::element);
    let (Some(name), Some(source)) = (format(lanes.element()), source) else {
        return Ok(None);
    };
    if !is_single(source) && !is_half(source) {
        return Ok(None);
    }
    available(op, target)?;
    let emit = Emit::new(Builder::before(op), lanes);
    let text = format!("cvt.rn.satfinite.{name}x2.f32 $0, $1, $2;");
    let scalars = emit.scalars(emit.widen(op.operand(0)));
    let pairs: Vec<Value> = scalars
        .chunks(2)
        .map(|pair| {
            // The first operand goes to the upper byte.
            let operands = [pair[pair.len() - 1], pair[0]];
            emit.instruction(&text, "=h,f,f", &operands, emit.int_type(16))
        })
        .collect();
    let bytes = bytes(emit, lanes, &pairs);
    Ok(Some(emit.op("arith.bitcast", &[bytes], lanes.element())))
}

/// The bytes of pairs as lanes.
fn bytes(emit: Emit, lanes: Lanes, pairs: &[Value]) -> Value {
    let byte = emit.int_type(8);
    let context = byte.context();
    let low = |pair: Value| {
        let builder = emit.builder();
        builder
            .op("arith.trunci")
            .operands(&[pair])
            .results(&[byte])
            .value()
    };
    let Some(length) = lanes.length() else {
        return low(pairs[0]);
    };
    let whole = context.vector(pairs.len() as i64 * 2, byte);
    let all = emit
        .builder()
        .op("vector.bitcast")
        .operands(&[emit.vector(pairs)])
        .results(&[whole])
        .value();
    if length % 2 == 0 {
        return all;
    }
    emit.builder()
        .op("vector.extract_strided_slice")
        .operands(&[all])
        .results(&[context.vector(length, byte)])
        .attr("offsets", context.array_attr(&[context.i64_attr(0)]))
        .attr("sizes", context.array_attr(&[context.i64_attr(length)]))
        .attr("strides", context.array_attr(&[context.i64_attr(1)]))
        .value()
}

/// From an 8-bit float: f16 holds every value.
pub(super) fn extend(op: Op, lanes: Lanes, target: Target) -> Result<Option<Value>, Failed> {
    let source = Lanes::of(op.operand(0).ty()).map(Lanes::element);
    let Some(name) = source.and_then(format) else {
        return Ok(None);
    };
    let element = lanes.element();
    if !is_single(element) && !is_half(element) {
        return Ok(None);
    }
    available(op, target)?;
    let emit = Emit::new(Builder::before(op), lanes);
    let (byte, word, pair) = (emit.int_type(8), emit.int_type(16), emit.int_type(32));
    let text = format!("cvt.rn.f16x2.{name}x2 $0, $1;");
    // One value in each word, its upper byte unused: lanes stay lanes.
    let bytes = emit.op("arith.bitcast", &[op.operand(0)], byte);
    let words = emit.op("arith.extui", &[bytes], word);
    let pairs = emit.ptx(&text, "=r,h", &[words], pair);
    let halves = emit.op("arith.trunci", &[pairs], word);
    let half = emit.parse("f16");
    let result = emit.op("arith.bitcast", &[halves], half);
    Ok(Some(match element.to_string().as_str() {
        "f16" => result,
        "f32" => emit.op("arith.extf", &[result], element),
        _ => {
            let single = emit.op("arith.extf", &[result], emit.f32());
            emit.op("arith.truncf", &[single], element)
        }
    }))
}
