//! Verifiers of matrix products in registers.

use super::{Verified, barrier::stage, int_attr, tensor::rows_and_depth};
use async_pipeline_sys::{
    hooks::Located,
    ir::{Op, Value},
};

/// `mma.sync`
pub(super) fn product(op: Op) -> Verified {
    whole_warps(op)?;
    let (accumulator, a, b) = (op.operand(0), op.operand(1), op.operand(3));
    match accumulator.defining_op() {
        Some(made) if made.is("async_pipeline.tile.accumulator") => {}
        _ => return Err("expected an accumulator from tile.accumulator".into()),
    }
    for (name, buffer, slot) in [("A", a, op.operand(2)), ("B", b, op.operand(4))] {
        operand(name, buffer)?;
        stage(op, buffer, slot)?;
    }
    let element = |value: Value| value.ty().fields()[0].element();
    if element(a) != element(b) {
        return Err(format!(
            "expected equal element types, got {} and {}",
            element(a),
            element(b)
        )
        .into());
    }
    let (m, k) = rows_and_depth(op, a, "transpose_a");
    // Of B, rows and K are the other way round.
    let (k_of_b, n) = rows_and_depth(op, b, "transpose_b");
    let tile = accumulator.ty().fields()[0].static_shape();
    if tile != [m, n] || k != k_of_b {
        return Err(format!(
            "expected shapes MxN += MxK * KxN, got {}x{} += {m}x{k} * {k_of_b}x{n}",
            tile[0], tile[1]
        )
        .into());
    }
    Ok(())
}

/// `ldmatrix`
pub(super) fn load(op: Op) -> Verified {
    whole_warps(op)?;
    let count = op.result_count();
    if !matches!(count, 1 | 2 | 4) {
        return Err(format!("expected 1, 2 or 4 words, got {count}").into());
    }
    if op
        .results()
        .iter()
        .any(|word| word.ty() != op.context().i32())
    {
        return Err("expected words of i32".into());
    }
    let tile = op.operand(0).ty().fields()[0];
    if op.attr("transpose").is_some() && tile.element().byte_width() != Some(2) {
        return Err(format!(
            "expected elements of 16 bits to transpose, got {}",
            tile.element()
        )
        .into());
    }
    if int_attr(op, "plus") % 16 != 0 {
        return Err(format!(
            "expected `plus` to be a multiple of 16 bytes, got {}",
            int_attr(op, "plus")
        )
        .into());
    }
    stage(op, op.operand(0), op.operand(1))
}

fn whole_warps(op: Op) -> Verified {
    match op.ancestor("async_pipeline.role") {
        Some(role) if role.attr("elected").is_some() => Err(Located {
            message: "expected to stand outside an elected role, which one lane runs".into(),
            note: Some((role, "the role is here".into())),
        }),
        _ => Ok(()),
    }
}

fn operand(name: &str, buffer: Value) -> Verified {
    let ty = buffer.ty();
    let tile = ty.fields()[0];
    if tile.static_shape().len() != 2 {
        return Err(format!("expected {name} of rank 2, got {ty}").into());
    }
    if !matches!(tile.element().to_string().as_str(), "f16" | "bf16" | "f32") {
        return Err(format!(
            "expected {name} of f16, bf16 or f32, got {}",
            tile.element()
        )
        .into());
    }
    if ty.swizzle() == 0 {
        return Err(format!("expected {name} with a swizzle, got {ty}").into());
    }
    Ok(())
}
