//! Verifiers of the tensor core and tensor memory.

use super::{Verified, barrier::stage, in_range, int_attr};
use async_pipeline_sys::{
    hooks::Located,
    ir::{Op, Type, TypeKind, Value},
};

/// Bytes of K that one instruction takes, in every kind (PTX ISA 9.1, 9.7.16.2.1).
pub(crate) const K_BYTES: i64 = 32;

pub(super) fn verify(op: Op, name: &str) -> Verified {
    match name {
        "tcgen05.alloc" => {
            one_warp(op)?;
            let columns = int_attr(op, "columns");
            if !(32..=512).contains(&columns) || columns.count_ones() != 1 {
                return Err(format!(
                    "expected columns to be a power of two from 32 to 512, got {columns}"
                )
                .into());
            }
            place(op)
        }
        "tcgen05.address" => {
            place(op)?;
            allocated(op)
        }
        "tcgen05.slice" => columns(op.operand(0), op.operand(1), op.result(0).ty().columns()),
        "tcgen05.relinquish" => one_warp(op),
        "tcgen05.dealloc" => {
            one_warp(op)?;
            match op.operand(0).defining_op() {
                Some(slice) if slice.is("async_pipeline.tcgen05.slice") => Err(Located {
                    message: "expected a whole allocation, got a slice of one".into(),
                    note: Some((slice, "the slice is here".into())),
                }),
                _ => range(op.operand(0)),
            }
        }
        "tcgen05.mma" => mma(op),
        "tcgen05.commit" => stage(op, op.operand(0), op.operand(1)),
        "tcgen05.ld" => access(op, op.result(0).ty(), op.operand(0), op.operand(1)),
        "tcgen05.st" => access(op, op.operand(0).ty(), op.operand(1), op.operand(2)),
        "tcgen05.wait_ld" | "tcgen05.wait_st" => whole_warp(op),
        _ => Ok(()),
    }
}

/// Every lane of a warp comes here.
fn whole_warp(op: Op) -> Verified {
    match op.ancestor("async_pipeline.role") {
        Some(role) if role.attr("elected").is_some() => Err(Located {
            message: "expected to stand outside an elected role, which one lane runs".into(),
            note: Some((role, "the role is here".into())),
        }),
        _ => Ok(()),
    }
}

/// One warp of the CTA comes here, as far as roles tell.
fn one_warp(op: Op) -> Verified {
    whole_warp(op)?;
    match op.ancestor("async_pipeline.role") {
        Some(role) if int_attr(role, "warps") != 1 => Err(Located {
            message: format!(
                "expected to stand in a role of one warp, got one of {}",
                int_attr(role, "warps")
            ),
            note: Some((role, "the role is here".into())),
        }),
        _ => Ok(()),
    }
}

/// Where an address is kept.
fn place(op: Op) -> Verified {
    let buffer = op.operand(0);
    let tile = buffer.ty().fields()[0];
    let word = tile.static_shape() == [1] && tile.element() == tile.context().i32();
    if !word {
        return Err(format!(
            "expected a buffer of 1xi32, which holds an address, got {}",
            buffer.ty()
        )
        .into());
    }
    stage(op, buffer, op.operand(1))
}

/// Whoever allocates into the slot allocates as many columns as the type says.
fn allocated(op: Op) -> Verified {
    let columns = op.result(0).ty().columns();
    let mut found = false;
    for (alloc, _) in op.operand(0).uses() {
        if !alloc.is("async_pipeline.tcgen05.alloc") {
            continue;
        }
        let other = match (
            alloc.operand(1).constant_int(),
            op.operand(1).constant_int(),
        ) {
            (Some(there), Some(here)) => there != here,
            _ => false,
        };
        if other {
            continue;
        }
        if int_attr(alloc, "columns") != columns {
            return Err(Located {
                message: format!(
                    "expected as many columns as are allocated, {}, got {columns}",
                    int_attr(alloc, "columns")
                ),
                note: Some((alloc, "allocated here".into())),
            });
        }
        found = true;
    }
    if found {
        Ok(())
    } else {
        Err("expected a tcgen05.alloc into the same slot".into())
    }
}

/// Which range it is is known while compiling: nothing passes ranges on.
fn range(value: Value) -> Verified {
    match value.defining_op() {
        Some(made)
            if made.is("async_pipeline.tcgen05.address")
                || made.is("async_pipeline.tcgen05.slice") =>
        {
            Ok(())
        }
        Some(made) => Err(Located {
            message: format!(
                "expected a range made by tcgen05.address, got one made by {}",
                made.name()
            ),
            note: Some((made, "made here".into())),
        }),
        None => Err("expected a range made by tcgen05.address, got an argument".into()),
    }
}

/// `count` columns from `at` on are in the range.
fn columns(of: Value, at: Value, count: i64) -> Verified {
    range(of)?;
    let all = of.ty().columns();
    let first = at.constant_int().unwrap_or(0);
    if first < 0 || count > all || first > all - count {
        return Err(
            format!("expected {count} columns from column {first} on to be in {all}").into(),
        );
    }
    Ok(())
}

fn access(op: Op, vector: Type, of: Value, at: Value) -> Verified {
    whole_warp(op)?;
    let shape = vector.shape();
    let element = vector.element();
    let word = element == vector.context().i32() || element.to_string() == "f32";
    match (shape.as_slice(), word) {
        ([Some(count)], true)
            if !vector.is_scalable() && (1..=128).contains(count) && count.count_ones() == 1 =>
        {
            columns(of, at, *count)
        }
        _ => Err(format!(
            "expected a vector of i32 or f32 whose length is a power of two from 1 to 128, got {vector}"
        )
        .into()),
    }
}

/// A kind of `tcgen05.mma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    /// Its name in PTX.
    pub(crate) kind: &'static str,
    /// The number of the element type in the instruction descriptor (PTX ISA 9.1, 9.7.16.4.2).
    pub(crate) code: i64,
}

/// Kind and number of an element type of A or B.
pub(crate) fn operand(element: Type) -> Option<Operand> {
    let (kind, code) = match element.to_string().as_str() {
        "f16" => ("f16", 0),
        "bf16" => ("f16", 1),
        "f32" => ("tf32", 2),
        "f8E4M3FN" => ("f8f6f4", 0),
        "f8E5M2" => ("f8f6f4", 1),
        _ => return None,
    };
    Some(Operand { kind, code })
}

fn mma(op: Op) -> Verified {
    let (d, at) = (op.operand(0), op.operand(1));
    let (a, b) = (op.operand(2), op.operand(4));
    for (name, tile, slot) in [("A", a, op.operand(3)), ("B", b, op.operand(5))] {
        shared_operand(name, tile.ty())?;
        let transposed = op
            .attr(&format!("transpose_{}", name.to_lowercase()))
            .is_some();
        if transposed && tile.ty().fields()[0].element().byte_width() == Some(4) {
            return Err(format!(
                "expected no transpose on {name} of f32, which the tensor core reads along K only"
            )
            .into());
        }
        stage(op, tile, slot)?;
    }
    let element = |value: Value| value.ty().fields()[0].element();
    let (of_a, of_b) = (element(a), element(b));
    let mixed = of_a != of_b && !(is_f8(of_a) && is_f8(of_b));
    if mixed {
        return Err(format!("expected equal element types, got {of_a} and {of_b}").into());
    }
    let (m, k) = rows_and_depth(op, a, "transpose_a");
    let (n, k_of_b) = rows_and_depth(op, b, "transpose_b");
    if k != k_of_b {
        return Err(format!("expected A and B of one K, got {k} and {k_of_b}").into());
    }
    let step = K_BYTES / of_a.byte_width().unwrap_or(K_BYTES);
    if k % step != 0 {
        return Err(format!("expected K to be a multiple of {step}, got {k}").into());
    }
    // With 64 rows only half of the lanes would hold a sum, and `tcgen05.ld` reads all.
    if m != 128 {
        return Err(format!("expected A of 128 rows, got {m}").into());
    }
    in_range("rows of B", n, 16..=256)?;
    if n % 16 != 0 {
        return Err(format!("expected rows of B to be a multiple of 16, got {n}").into());
    }
    columns(d, at, n)
}

/// Rows and K of an operand, whichever way it is stored.
pub(crate) fn rows_and_depth(op: Op, operand: Value, transpose: &str) -> (i64, i64) {
    let shape = operand.ty().fields()[0].static_shape();
    match op.attr(transpose) {
        Some(_) => (shape[1], shape[0]),
        None => (shape[0], shape[1]),
    }
}

fn is_f8(element: Type) -> bool {
    operand(element).is_some_and(|operand| operand.kind == "f8f6f4")
}

fn shared_operand(name: &str, buffer: Type) -> Verified {
    debug_assert_eq!(buffer.kind(), TypeKind::Buffer);
    let tile = buffer.fields()[0];
    let element = tile.element();
    if operand(element).is_none() {
        return Err(format!(
            "expected {name} of f16, bf16, f32, f8E4M3FN or f8E5M2, got {element}"
        )
        .into());
    }
    if tile.static_shape().len() != 2 {
        return Err(format!("expected {name} of rank 2, got {buffer}").into());
    }
    if buffer.swizzle() == 0 {
        return Err(format!("expected {name} with a swizzle, got {buffer}").into());
    }
    Ok(())
}
