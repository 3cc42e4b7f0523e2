//! A store of a tile: what each thread computes and stores.

use super::{
    Threads, WARP,
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

/// Number of the barrier between stores to one tensor; 1 is that of groups.
const STORES_BARRIER: i64 = 2;

pub(super) fn store(op: Op, threads: &Threads, loaded: &Loaded) -> Result<(), Failed> {
    let tile = op.operand(0);
    let Some(mut target) = Access::new(op) else {
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
    let mut loads: HashMap<Op, Access> = sources
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
    // In the order of the ops, whatever the map does.
    let order: Vec<Op> = sources
        .into_iter()
        .filter(|source| loads.contains_key(source))
        .collect();
    for load in &order {
        in_order(*load, &loads[load], op, &target)?;
    }
    let build = Build(Builder::before(op));
    behind_other_stores(build, op, &target, threads);
    let known = known_pieces(build, &held, tile);
    for load in &order {
        if let Some(access) = loads.get_mut(load) {
            access.prepare(build, held.first[1], &known);
        }
    }
    target.prepare(build, held.first[1], &known);
    let inside = order
        .iter()
        .map(|load| &loads[load])
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
                &known,
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
                |build| Values::new(build, bounded, loaded, &loads),
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

/// The pieces that are known while compiling, column by column: what depends on the column alone
/// is then needed for one after the other.
fn known_pieces(build: Build, held: &Held, tile: Value) -> Vec<Piece> {
    let Pieces::Known(known) = &held.pieces else {
        return Vec::new();
    };
    let rows = tile.ty().static_shape().len() == 2;
    let [first_row, first_column] = held.first;
    // One value per row and column, so that what depends on one alone is made once.
    let mut places: HashMap<(usize, i64), Value> = HashMap::new();
    let mut order: Vec<(usize, &[i64; 2])> = known.iter().enumerate().collect();
    order.sort_by_key(|(_, [row, column])| (*column, *row));
    let mut place = |dim: usize, first: Value, offset: i64| {
        *places
            .entry((dim, offset))
            .or_insert_with(|| build.add(first, build.index(offset)))
    };
    order
        .into_iter()
        .map(|(index, [row, column])| Piece {
            row: rows.then(|| place(0, first_row, *row)),
            column: place(1, first_column, *column),
            offset: *column,
            width: held.width,
            step: held.width,
            register: index * held.width as usize,
        })
        .collect()
}

/// Runs `body` for every piece that a thread holds.
fn pieces<'a>(
    build: Build,
    held: &Held,
    known: &[Piece],
    tile: Value,
    mut body: impl FnMut(Build, Piece, &mut Values<'a>) -> Result<(), Failed>,
    values: impl Fn(Build) -> Values<'a>,
) -> Result<(), Failed> {
    let Pieces::Loop { count } = held.pieces else {
        let mut values = values(build);
        return known
            .iter()
            .try_for_each(|piece| body(build, *piece, &mut values));
    };
    let rows = tile.ty().static_shape().len() == 2;
    let mut outcome = Ok(());
    let end = build.index(count * held.width);
    build.count(build.index(0), end, build.index(held.width), |build, at| {
        let piece = Piece {
            row: rows.then_some(held.first[0]),
            column: at,
            offset: 0,
            width: held.width,
            step: held.width,
            register: 0,
        };
        outcome = body(build, piece, &mut values(build));
    });
    outcome
}

/// Another store to the same tensor may have been by other threads: all of the role meet.
fn behind_other_stores(build: Build, store: Op, target: &Access, threads: &Threads) {
    let role = store.ancestor("async_pipeline.role");
    let stores = role.map(|role| role.find("async_pipeline.work.store"));
    let again = stores.unwrap_or_default().into_iter().any(|other| {
        other != store
            && Access::new(other).is_some_and(|written| {
                written.memref() == target.memref()
                    || (argument_may_alias(written.memref()) && argument_may_alias(target.memref()))
            })
    });
    if again {
        let context = build.0.context();
        build
            .0
            .op("async_pipeline.named_barrier.sync")
            .attr("id", context.i32_attr(STORES_BARRIER))
            .attr("threads", context.i32_attr(threads.warps * WARP))
            .build();
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

/// A load from tensor memory happens at the store: nobody may have been told before that the
/// columns are free.
fn may_be_put_off(load: Op, store: Op) -> Result<(), Failed> {
    if load.operand(0).ty().kind() != TypeKind::Tmem {
        return Ok(());
    }
    // The load, or the branch that yields what it loads.
    let mut from = load;
    while store.ancestor_in(from.block()).is_none() {
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
    let end = store.ancestor_in(from.block());
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
