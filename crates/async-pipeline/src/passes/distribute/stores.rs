//! A store of a tile: what each thread computes and stores.

use super::{
    Threads,
    access::Access,
    held::{Held, Pieces},
    pieces::{Piece, Values, slice},
    products::Loaded,
};
use crate::{
    build::Build,
    diagnostics::{error, error_with_note},
    passes::{Failed, argument_may_alias},
};
use async_pipeline_sys::ir::{Block, Builder, Op, TypeKind, Value};
use std::collections::HashMap;

pub(super) fn store(op: Op, threads: &Threads, loaded: &Loaded) -> Result<(), Failed> {
    let tile = op.operand(0);
    let Some(target) = Access::new(op) else {
        return Err(error(
            op,
            "'async_pipeline.work.store' op into anything but global memory is not supported by the lowering of the tile level",
        ));
    };
    let adds = op.attr("add").is_some();
    let element = tile.ty().element().to_string();
    if adds && !matches!(element.as_str(), "f32" | "i32" | "i64") {
        return Err(error(
            op,
            format!("`reduce add` of {element} is not supported by the lowering of the tile level"),
        ));
    }
    let sources = slice(tile)?;
    let held = held(op, tile, &sources, threads)?;
    let loads: Vec<(Op, Access)> = sources
        .iter()
        .filter_map(|source| {
            let load = source.is("async_pipeline.work.load").then_some(*source)?;
            Some((load, Access::new(load)?))
        })
        .collect();
    for source in sources
        .iter()
        .filter(|op| op.is("async_pipeline.work.load"))
    {
        may_be_put_off(*source, op)?;
    }
    for (load, access) in &loads {
        in_order(*load, access, op, &target)?;
    }
    let build = Build(Builder::before(op));
    let inside = loads
        .iter()
        .map(|(_, access)| access)
        .chain([&target])
        .filter_map(|access| access.inside(build))
        .reduce(|all, one| build.and(all, one));
    let Some(inside) = inside else { return Ok(()) };
    let emit = |build: Build, bounded: bool| {
        let mut outcome = Ok(());
        let mut all = |build: Build| {
            outcome = pieces(
                build,
                &held,
                tile,
                |build, piece, values: &mut Values<'_>| {
                    let value = values.of(tile, piece)?;
                    if adds {
                        target.add(build, &piece, value, bounded);
                    } else {
                        target.store(build, &piece, value, bounded);
                    }
                    Ok(())
                },
                bounded,
                loaded,
            );
        };
        match held.holds {
            Some(holds) => build.when(holds, all),
            None => all(build),
        }
        outcome
    };
    let (mut within, mut beyond) = (Ok(()), Ok(()));
    build.if_else(
        inside,
        |build| within = emit(build, false),
        Some(|build: Build| beyond = emit(build, true)),
    );
    within.and(beyond)
}

/// Runs `body` for every piece that a thread holds.
fn pieces<'a>(
    build: Build,
    held: &Held,
    tile: Value,
    mut body: impl FnMut(Build, Piece, &mut Values<'a>) -> Result<(), Failed>,
    bounded: bool,
    loaded: &'a Loaded,
) -> Result<(), Failed> {
    let rows = tile.ty().static_shape().len() == 2;
    let [first_row, first_column] = held.first;
    match &held.pieces {
        Pieces::Known(known) => {
            let mut values = Values::new(build, bounded, loaded);
            // One value per row and column, so that what depends on one alone is made once.
            let mut places: HashMap<(usize, i64), Value> = HashMap::new();
            // Column by column: what depends on the column alone is needed for one after the other.
            let mut order: Vec<(usize, &[i64; 2])> = known.iter().enumerate().collect();
            order.sort_by_key(|(_, [row, column])| (*column, *row));
            for (index, [row, column]) in order {
                let mut place = |dim: usize, first: Value, offset: i64| {
                    *places
                        .entry((dim, offset))
                        .or_insert_with(|| build.add(first, build.index(offset)))
                };
                let piece = Piece {
                    row: rows.then(|| place(0, first_row, *row)),
                    column: place(1, first_column, *column),
                    width: held.width,
                    step: held.width,
                    register: index * held.width as usize,
                };
                body(build, piece, &mut values)?;
            }
            Ok(())
        }
        Pieces::Loop { count } => {
            let mut outcome = Ok(());
            let end = build.index(count * held.width);
            build.count(build.index(0), end, build.index(held.width), |build, at| {
                let piece = Piece {
                    row: rows.then_some(first_row),
                    column: at,
                    width: held.width,
                    step: held.width,
                    register: 0,
                };
                outcome = body(build, piece, &mut Values::new(build, bounded, loaded));
            });
            outcome
        }
    }
}

/// Who holds what of the tile that is stored.
fn held(op: Op, tile: Value, sources: &[Op], threads: &Threads) -> Result<Held, Failed> {
    let shape = tile.ty().static_shape();
    let from = |kind: TypeKind| {
        sources.iter().copied().find(|source| {
            source.is("async_pipeline.work.load") && source.operand(0).ty().kind() == kind
        })
    };
    let (sum, lanes) = (from(TypeKind::Accumulator), from(TypeKind::Tmem));
    if let Some(other) = sum.or(lanes)
        && other.result(0).ty().static_shape() != shape
    {
        return Err(error_with_note(
            op,
            "expected a store of a tile of the shape of the accumulator that it comes from",
            other,
            "the accumulator is loaded here",
        ));
    }
    match shape[..] {
        [rows, columns] if sum.is_some() => Held::sums(op, [rows, columns], threads),
        [_, columns] if lanes.is_some() => Held::lanes(op, columns, threads),
        [rows, columns] => Held::blocked(op, [rows, columns], bytes(tile), threads),
        [columns] => Held::blocked(op, [1, columns], bytes(tile), threads),
        _ => Err(error(op, "expected a tile of rank 1 or 2")),
    }
}

fn bytes(tile: Value) -> i64 {
    tile.ty().element().byte_width().unwrap_or(4)
}

/// The op of `block` that is or holds `op`.
fn within(op: Op, block: Option<Block>) -> Option<Op> {
    let mut current = Some(op);
    while let Some(op) = current {
        if op.block() == block {
            return Some(op);
        }
        current = op.parent();
    }
    None
}

/// A load from tensor memory happens at the store: nobody may have been told before that the
/// columns are free.
fn may_be_put_off(load: Op, store: Op) -> Result<(), Failed> {
    if load.operand(0).ty().kind() != TypeKind::Tmem {
        return Ok(());
    }
    // The load, or the branch that yields what it loads.
    let mut from = load;
    while within(store, from.block()).is_none() {
        match from.parent().filter(|parent| parent.is("scf.if")) {
            Some(parent) => from = parent,
            None => {
                return Err(error_with_note(
                    store,
                    "expected a store in the block of the load that it depends on, or within it",
                    load,
                    "the load is here",
                ));
            }
        }
    }
    let end = within(store, from.block());
    let ops = from.block().map(Block::ops).unwrap_or_default();
    let between = ops
        .into_iter()
        .skip_while(|op| *op != from)
        .take_while(|op| Some(*op) != end);
    for op in between {
        let told = [op]
            .into_iter()
            .chain(op.walk())
            .find(|op| op.name().starts_with("async_pipeline.mbarrier.arrive"));
        if let Some(told) = told {
            return Err(error_with_note(
                store,
                "expected a store of what tensor memory holds in front of the release of its slot",
                told,
                "released here",
            ));
        }
    }
    Ok(())
}

/// A load from global memory happens piece by piece at the store: what it reads must not have
/// changed by then.
fn in_order(load: Op, access: &Access, store: Op, target: &Access) -> Result<(), Failed> {
    let Some(role) = store.ancestor("async_pipeline.role") else {
        return Ok(());
    };
    for other in role.find("async_pipeline.work.store") {
        let Some(written) = Access::new(other) else {
            continue;
        };
        let memref = written.memref();
        let apart = memref != access.memref()
            && !(argument_may_alias(memref) && argument_may_alias(access.memref()));
        let in_place = other == store
            && access.same_place(target)
            && load.block() == store.block()
            && store.attr("add").is_none();
        if !apart && !in_place {
            return Err(error_with_note(
                load,
                "a load from a tensor that the kernel stores to elsewhere is not supported by the lowering of the tile level",
                other,
                "the store is here",
            ));
        }
    }
    Ok(())
}
