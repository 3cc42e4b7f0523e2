//! Rules of the tile level: what every pass behind relies on.
//!
//! Takes kernels of any level and changes nothing. In a kernel of the tile level it checks
//! that no other level is mixed in, that control flow is structured, that storage stays
//! where it was made, and that every op on register values has a row in the table of the
//! tile interpreter, with elements and extents that registers can be laid out for.
//!
//! ```mlir
//! %t = gpu.thread_id x
//! // error: 'gpu.thread_id' op is not supported at the tile level, where one thread owns
//! //        whole tiles
//! ```

use super::{Failed, Options, Pass};
use crate::{
    diagnostics::{self, error, error_with_note},
    tile_interpreter::{Element, table},
};
use async_pipeline_sys::ir::{Op, Type, TypeKind, Value};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-verify-tiles",
    description: "Check the rules of the tile level, whose kernels one thread could run",
    options: &[],
    run,
};

/// Elements of the largest register value: 256 in each of 256 threads.
const MAX_ELEMENTS: i64 = 1 << 16;

/// Ops beside those of the table and of our dialect.
const STRUCTURE: &[&str] = &[
    "gpu.block_id",
    "gpu.grid_dim",
    "gpu.return",
    "memref.dim",
    "memref.load",
    "scf.for",
    "scf.if",
    "scf.yield",
];

fn run(module: Op, _: &Options<'_>) -> Result<(), Failed> {
    diagnostics::all(module.find("gpu.func"), kernel)
}

/// Whether an op belongs to the tile level: storage, and work that touches no slot.
pub(super) fn is_tile_level(op: Op) -> bool {
    let Some(name) = op.name().strip_prefix("async_pipeline.") else {
        return false;
    };
    name.starts_with("tile.") || (name.starts_with("work.") && !touches(op, TypeKind::Slot))
}

fn touches(op: Op, kind: TypeKind) -> bool {
    let mut values = op.operands().into_iter().chain(op.results());
    values.any(|value| value.ty().kind() == kind)
}

fn kernel(function: Op) -> Result<(), Failed> {
    let ops = function.walk();
    let Some(first) = ops.iter().copied().find(|op| is_tile_level(*op)) else {
        return Ok(());
    };
    if function.attr("gpu.kernel").is_none() {
        return Err(error_with_note(
            function,
            "expected a gpu.func with tile-level ops to be a `kernel`",
            first,
            "a tile-level op is here",
        ));
    }
    if let Some(roles) = ops.iter().copied().find(|op| op.is("async_pipeline.roles")) {
        // Accumulators and work on slots belong to the channel level too.
        let buffers = ops.iter().filter(|op| {
            is_tile_level(**op)
                && (touches(**op, TypeKind::Buffer) || op.is("async_pipeline.tile.alloc"))
        });
        return diagnostics::all(buffers, |op| {
            Err(error_with_note(
                *op,
                format!(
                    "'{}' op of the tile level is not supported in a kernel with roles",
                    op.name()
                ),
                roles,
                "the roles are here",
            ))
        });
    }
    diagnostics::all(ops, |op| check(op, function, first))
}

fn check(op: Op, function: Op, first: Op) -> Result<(), Failed> {
    let name = op.name();
    if is_tile_level(op) {
        let global = op
            .operands()
            .into_iter()
            .find(|value| value.ty().is_memref());
        global.map_or(Ok(()), |memref| of_the_kernel(op, memref, function))?;
        return all_types(op);
    }
    if name.starts_with("async_pipeline.") {
        return Err(error_with_note(
            op,
            format!("'{name}' op of a lower level is not supported beside tile-level ops"),
            first,
            "a tile-level op is here",
        ));
    }
    if STRUCTURE.contains(&name) {
        if op.attr("unsignedCmp").is_some() {
            return Err(error(
                op,
                "'scf.for' op that compares unsigned is not supported at the tile level",
            ));
        }
        if name.starts_with("memref.") {
            of_the_kernel(op, op.operand(0), function)?;
        }
        return all_types(op);
    }
    let Some(row) = table::find(name) else {
        let why = if name.starts_with("gpu.") {
            ", where one thread owns whole tiles"
        } else {
            ""
        };
        return Err(error(
            op,
            format!("'{name}' op is not supported at the tile level{why}"),
        ));
    };
    all_types(op)?;
    // The operand decides where there is one: conversions and comparisons start from it.
    let value = op.operands().last().copied().unwrap_or(op.result(0));
    match element(value.ty()) {
        Some(element) if !row.accepts(element) => Err(error(
            op,
            format!("'{name}' op is not supported on elements of {element}"),
        )),
        _ => Ok(()),
    }
}

/// Descriptors of tensors are made from kernel arguments only.
fn of_the_kernel(op: Op, memref: Value, function: Op) -> Result<(), Failed> {
    let from = memref.as_block_argument().map(|(block, _)| block);
    if from.is_some() && from == function.body(0) {
        return Ok(());
    }
    let message = format!(
        "'{}' op expected a memref that is an argument of the kernel",
        op.name()
    );
    Err(match memref.defining_op() {
        Some(made) => error_with_note(op, message, made, "it is made here"),
        None => error(op, message),
    })
}

fn element(ty: Type) -> Option<Element> {
    Element::of(if ty.is_vector() { ty.element() } else { ty })
}

fn all_types(op: Op) -> Result<(), Failed> {
    let values = op.operands().into_iter().chain(op.results());
    let ours = is_tile_level(op);
    for value in values {
        let ty = value.ty();
        let wrong = match ty.kind() {
            TypeKind::Other if ty.is_vector() => vector(ty),
            TypeKind::Other if ty.is_memref() && (ours || op.name().starts_with("memref.")) => None,
            TypeKind::Other => scalar(ty),
            _ if ours => None,
            _ => Some(format!(
                "expected storage to be used by tile-level ops only, got {ty} here"
            )),
        };
        if let Some(wrong) = wrong {
            return Err(error(op, format!("'{}' op {wrong}", op.name())));
        }
    }
    Ok(())
}

/// What is wrong with a vector.
fn vector(ty: Type) -> Option<String> {
    if ty.is_scalable() {
        return Some(format!("expected vectors of fixed length, got {ty}"));
    }
    let shape = ty.static_shape();
    if !(1..=2).contains(&shape.len()) {
        return Some(format!("expected vectors of rank 1 or 2, got {ty}"));
    }
    if shape
        .iter()
        .any(|extent| !extent.cast_unsigned().is_power_of_two())
    {
        return Some(format!(
            "expected extents of vectors to be powers of two, got {ty}"
        ));
    }
    let elements = shape
        .iter()
        .fold(1_i64, |all, extent| all.saturating_mul(*extent));
    if elements > MAX_ELEMENTS {
        return Some(format!(
            "expected vectors of at most {MAX_ELEMENTS} elements, got {ty}"
        ));
    }
    match element(ty) {
        Some(Element::F64) | None => Some(format!(
            "expected vectors of i1, i8, i16, i32, i64, index, f16, bf16, f32, f8E4M3FN or f8E5M2, got {ty}"
        )),
        Some(Element::Int(bits)) if !is_width(bits) => Some(format!(
            "expected integers of 1, 8, 16, 32 or 64 bits, got {ty}"
        )),
        Some(_) => None,
    }
}

/// What is wrong with a scalar.
fn scalar(ty: Type) -> Option<String> {
    match element(ty) {
        Some(Element::Int(bits)) if !is_width(bits) => Some(format!(
            "expected integers of 1, 8, 16, 32 or 64 bits, got {ty}"
        )),
        Some(_) => None,
        None => Some(format!("expected scalars and vectors of them, got {ty}")),
    }
}

fn is_width(bits: u32) -> bool {
    matches!(bits, 1 | 8 | 16 | 32 | 64)
}
