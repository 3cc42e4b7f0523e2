//! Puts the hand-overs of a kernel into its one flow of control.

use super::{
    Part, Request,
    storage::{Accumulator, Ring, Storage, free_name, is_outside},
};
use crate::{
    build::{Build, Compare},
    diagnostics::{error, error_with_note},
    passes::Failed,
};
use async_pipeline_sys::ir::{Block, Builder, Op, Value};
use std::collections::HashMap;

/// Which part every op with an effect belongs to; the others serve whoever needs them.
pub(super) type Parts = HashMap<Op, Part>;

pub(super) fn insert(function: Op, storage: &Storage, request: &Request) -> Result<Parts, Failed> {
    let mut parts = Parts::new();
    for op in function.walk() {
        let part = match op.name() {
            "async_pipeline.work.copy" => Part::Load,
            "async_pipeline.work.mma" => Part::Product,
            "async_pipeline.work.store" => Part::Compute,
            _ => continue,
        };
        parts.insert(op, part);
    }
    let Some(entry) = function.body(0) else {
        return Ok(parts);
    };
    for ring in &storage.rings {
        hand_over(entry, ring, &mut parts)?;
    }
    if request.target.has_tcgen05() {
        for (index, accumulator) in storage.accumulators.iter().enumerate() {
            let taken = |name: &str| storage.rings.iter().any(|ring| ring.name == name);
            let name = free_name(format!("accumulator{index}"), taken);
            to_tensor_memory(entry, &name, accumulator, &mut parts)?;
        }
    }
    Ok(parts)
}

struct Takers {
    channel: Value,
    slot: async_pipeline_sys::ir::Type,
}

impl Takers {
    fn take(&self, name: &'static str, before: Op) -> Op {
        Builder::before(before)
            .op(name)
            .operands(&[self.channel])
            .results(&[self.slot])
            .build()
    }

    fn end(name: &'static str, slot: Value, behind: Op) -> Op {
        let op = Builder::before(behind).op(name).operands(&[slot]).build();
        op.move_after(behind);
        op
    }
}

fn create(
    entry: Block,
    at: Op,
    name: &str,
    fields: &[async_pipeline_sys::ir::Type],
    stages: i64,
    tensor_memory: bool,
) -> Takers {
    let context = at.context();
    let text = |kind: &str| {
        let fields: Vec<String> = fields.iter().map(|field| tile_text(*field)).collect();
        let text = format!("!async_pipeline.{kind}<{}>", fields.join(", "));
        context
            .parse_type(&text)
            .unwrap_or_else(|| panic!("MLIR refuses the type {text}"))
    };
    let builder = Builder::at_start(entry, at.location(), context);
    let mut op = builder
        .op("async_pipeline.channel.create")
        .attr("name", context.string_attr(name))
        .attr("stages", context.i32_attr(stages))
        .attr("exactly", context.unit_attr())
        .results(&[text("channel")]);
    if tensor_memory {
        op = op.attr("tensor_memory", context.unit_attr());
    }
    Takers {
        channel: op.value(),
        slot: text("slot"),
    }
}

fn tile_text(tile: async_pipeline_sys::ir::Type) -> String {
    let shape = tile.static_shape();
    let extents: String = shape.iter().map(|extent| format!("{extent}x")).collect();
    format!("{extents}{}", tile.element())
}

/// First and last of ops in one block.
fn ends(ops: impl Iterator<Item = Op>) -> Option<(Op, Op)> {
    ops.fold(None, |ends: Option<(Op, Op)>, op| {
        let (first, last) = ends.unwrap_or((op, op));
        Some((
            if op.is_before(first) { op } else { first },
            if last.is_before(op) { op } else { last },
        ))
    })
}

/// A ring: acquired in front of the first copy, committed behind the last, waited for in front of
/// the first product, released behind the last.
fn hand_over(entry: Block, ring: &Ring, parts: &mut Parts) -> Result<(), Failed> {
    let first = &ring.buffers[0];
    let Some(block) = first.fill.block() else {
        return Ok(());
    };
    let Some((first_fill, last_fill)) = ends(ring.buffers.iter().map(|buffer| buffer.fill)) else {
        return Ok(());
    };
    let mut around = Vec::new();
    for (product, _) in ring.buffers.iter().flat_map(|buffer| &buffer.uses) {
        match product.ancestor_in(Some(block)) {
            Some(op) if last_fill.is_before(op) => around.push(op),
            _ => {
                return Err(error_with_note(
                    *product,
                    "expected a product behind the copy that fills its operand, in the same loop",
                    last_fill,
                    "the copy is here",
                ));
            }
        }
    }
    let Some((first_use, last_use)) = ends(around.into_iter()) else {
        return Err(error(
            first.alloc,
            "expected a buffer that a product reads, got none",
        ));
    };
    let fields: Vec<_> = ring
        .buffers
        .iter()
        .map(|buffer| buffer.alloc.result(0).ty().fields()[0])
        .collect();
    let takers = create(entry, first.alloc, &ring.name, &fields, ring.stages, false);
    let acquire = takers.take("async_pipeline.channel.acquire", first_fill);
    let commit = Takers::end(
        "async_pipeline.channel.commit",
        acquire.result(0),
        last_fill,
    );
    let wait = takers.take("async_pipeline.channel.wait", first_use);
    let release = Takers::end("async_pipeline.channel.release", wait.result(0), last_use);
    parts.extend([(acquire, Part::Load), (commit, Part::Load)]);
    parts.extend([(wait, Part::Product), (release, Part::Product)]);
    let context = first.alloc.context();
    for (field, buffer) in ring.buffers.iter().enumerate() {
        let field = context.i32_attr(field as i64);
        let target = 1 + buffer.fill.operand_segment(1).len();
        buffer.fill.set_operand(target, acquire.result(0));
        buffer.fill.set_attr("field", field);
        for (product, index) in &buffer.uses {
            product.set_operand(*index, wait.result(0));
            let name = if *index == 1 { "field_a" } else { "field_b" };
            product.set_attr(name, field);
        }
        buffer.alloc.erase();
    }
    Ok(())
}

/// An accumulator in tensor memory: a channel from the products to whoever loads.
fn to_tensor_memory(
    entry: Block,
    name: &str,
    accumulator: &Accumulator,
    parts: &mut Parts,
) -> Result<(), Failed> {
    let made = accumulator.made;
    let Some(block) = made.block() else {
        return Ok(());
    };
    let in_block = |ops: &[Op]| -> Vec<Op> {
        ops.iter()
            .filter_map(|op| op.ancestor_in(Some(block)))
            .collect()
    };
    let products = in_block(&accumulator.products);
    let Some((first_load, _)) = ends(in_block(&accumulator.loads).into_iter()) else {
        return Err(error(
            made,
            "expected an accumulator that is loaded, got none",
        ));
    };
    let last_product = ends(products.iter().copied()).map_or(made, |(_, last)| last);
    if !(last_product == made || last_product.is_before(first_load)) {
        return Err(error_with_note(
            first_load,
            "expected an accumulator in tensor memory to be loaded behind its last product",
            last_product,
            "a product is here",
        ));
    }
    let tile = made.result(0).ty().fields()[0];
    let shape = tile.static_shape();
    if shape[0] != 128 || !(32..=512).contains(&shape[1]) || shape[1].count_ones() != 1 {
        return Err(error(
            made,
            format!(
                "expected an accumulator of 128 rows and 32, 64, 128, 256 or 512 columns, which is what tensor memory holds, got {}x{}",
                shape[0], shape[1]
            ),
        ));
    }
    let takers = create(entry, made, name, &[tile], 1, true);
    let acquire = takers.take("async_pipeline.channel.acquire", made);
    // Behind the releases of what the products read: whoever waits for the sums then knows that
    // nothing of the tensor core is under way.
    let start = if last_product == made {
        acquire
    } else {
        last_product
    };
    let behind = block.ops().into_iter().skip_while(|op| *op != start);
    let last = behind
        .take_while(|op| *op != first_load)
        .filter(|op| *op == start || parts.get(op) == Some(&Part::Product))
        .last()
        .unwrap_or(start);
    let commit = Takers::end("async_pipeline.channel.commit", acquire.result(0), last);
    let wait = takers.take("async_pipeline.channel.wait", first_load);
    // Loads may be put off to where their values are needed: to the end of the block.
    let Some(terminator) = block.terminator() else {
        return Ok(());
    };
    let release = Builder::before(terminator)
        .with_location(first_load.location())
        .op("async_pipeline.channel.release")
        .operands(&[wait.result(0)])
        .build();
    parts.extend([(acquire, Part::Product), (commit, Part::Product)]);
    parts.extend([(wait, Part::Compute), (release, Part::Compute)]);
    let any = any_product(block, made, first_load, &accumulator.products)?;
    for product in &accumulator.products {
        product.set_operand(0, acquire.result(0));
    }
    for load in &accumulator.loads {
        load.set_operand(0, wait.result(0));
        if let Some(any) = any {
            // Without a product nothing has been written: what stands there is another kernel's.
            let value = load.result(0);
            let build = Build(Builder::before(*load));
            let zero = format!("dense<0.0> : {}", value.ty());
            let inner = load.clone_detached();
            let either = build.if_value(
                any,
                value.ty(),
                |build| {
                    build.0.insert(inner);
                    inner.result(0)
                },
                |build| build.parsed_constant(&zero, value.ty()),
            );
            load.replace(&[either]);
        }
    }
    made.erase();
    Ok(())
}

/// Whether any product runs between two ops of a block; `None` if one always does.
fn any_product(block: Block, from: Op, to: Op, products: &[Op]) -> Result<Option<Value>, Failed> {
    let build = Build(Builder::before(to));
    let holds = |op: Op| {
        products
            .iter()
            .find(|product| product.is_within(op))
            .copied()
    };
    let mut any: Option<Value> = None;
    let ops = block.ops().into_iter().skip_while(|op| *op != from);
    for op in ops.take_while(|op| *op != to) {
        let Some(product) = holds(op) else { continue };
        let here = match op.name() {
            "async_pipeline.work.mma" => return Ok(None),
            "scf.for" if product.parent() == Some(op) => {
                build.compare(Compare::SignedLess, op.operand(0), op.operand(1))
            }
            "scf.if" if product.parent() == Some(op) && is_outside(op.operand(0), op) => {
                let then = op.body(0).is_some_and(|body| product.block() == Some(body));
                let other = op
                    .body(1)
                    .is_some_and(|body| body.ops().iter().any(|op| products.contains(op)));
                match (then, other) {
                    (true, true) => return Ok(None),
                    (true, false) => op.operand(0),
                    (false, _) => build.xor(op.operand(0), build.flag(true)),
                }
            }
            name => {
                return Err(error_with_note(
                    product,
                    format!(
                        "a product that stands deeper than in one scf.for or scf.if below its accumulator, here in {name}, is not supported by the lowering of the tile level"
                    ),
                    from,
                    "the accumulator is made here",
                ));
            }
        };
        any = Some(match any {
            Some(any) => build.or(any, here),
            None => here,
        });
    }
    // Without any product at all it is never.
    Ok(Some(any.unwrap_or_else(|| build.flag(false))))
}
