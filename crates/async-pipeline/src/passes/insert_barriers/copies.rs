//! Copies between global memory and a slot, by the means the plan chose.

use crate::{
    build::{Build, Compare},
    diagnostics::error,
    passes::Failed,
};
use async_pipeline_sys::ir::{Op, Type, Value};

/// Largest extent of a tensor map's box in one dimension (CUDA driver API,
/// cuTensorMapEncodeTiled).
const MAX_BOX: i64 = 256;
/// More boxes per tile than this is a tile that should be smaller.
const MAX_BOXES: i64 = 64;
/// Bytes of the widest access of one thread.
const VECTOR_BYTES: i64 = 16;
/// Alignment of the shared-memory side of a tensor copy, bytes.
const BOX_ALIGN: i64 = 128;

/// A `work.copy`, taken apart.
pub(super) struct Copy {
    pub(super) op: Op,
    pub(super) memref: Value,
    pub(super) indices: Vec<Value>,
    pub(super) slot: Value,
    pub(super) field: usize,
}

impl Copy {
    pub(super) fn new(op: Op) -> Self {
        let (source, target) = (op.operand_segment(0)[0], op.operand_segment(2)[0]);
        let field = op
            .attr("field")
            .and_then(|field| field.int())
            .unwrap_or_default() as usize;
        if source.ty().is_memref() {
            Self {
                op,
                memref: source,
                indices: op.operand_segment(1),
                slot: target,
                field,
            }
        } else {
            Self {
                op,
                memref: target,
                indices: op.operand_segment(3),
                slot: source,
                field,
            }
        }
    }

    /// Indices into the memref of an element of the tile.
    fn global(&self, build: Build, within: &[Value]) -> Vec<Value> {
        let pairs = self.indices.iter().zip(within);
        pairs
            .map(|(base, offset)| build.add(*base, *offset))
            .collect()
    }

    pub(super) fn tile(&self) -> Type {
        self.slot.ty().fields()[self.field]
    }
}

/// The box of a tile, and the tile's boxes as (first element in the tile, offset per
/// dimension).
pub(super) struct Boxes {
    pub(super) shape: Vec<i64>,
    pub(super) starts: Vec<(i64, Vec<i64>)>,
}

/// The boxes of a tile that lies in shared memory under a swizzle of `span` bytes, 0 for none.
pub(super) fn boxes_of(tile: Type, span: i64) -> Result<Boxes, String> {
    let shape = tile.static_shape();
    let width = tile.element().byte_width().unwrap_or(1);
    match shape.as_slice() {
        [rows, columns] if span != 0 => swizzled_boxes(*rows, *columns, span / width),
        _ => boxes(&shape, width),
    }
}

/// Boxes of rows of `span` elements, which stand column by column.
fn swizzled_boxes(rows: i64, columns: i64, span: i64) -> Result<Boxes, String> {
    // Of rows that are cut, each part is a whole number of patterns.
    let height = (1..=rows.min(MAX_BOX))
        .rev()
        .find(|height| rows % height == 0 && (*height == rows || height % 8 == 0))
        .ok_or_else(|| {
            format!("{rows} rows cannot be cut into equal boxes of at most {MAX_BOX} rows")
        })?;
    let (across, down) = (columns / span, rows / height);
    if across * down > MAX_BOXES {
        return Err(format!(
            "a tile of this shape takes {} tensor copies, at most {MAX_BOXES} are made; use smaller tiles",
            across * down
        ));
    }
    let starts = (0..across)
        .flat_map(|column| (0..down).map(move |row| (column, row)))
        .map(|(column, row)| {
            let at = (column * rows + row * height) * span;
            (at, vec![row * height, column * span])
        })
        .collect();
    Ok(Boxes {
        shape: vec![height, span],
        starts,
    })
}

/// Splits a tile into boxes that lie one behind the other in its row-major storage.
pub(super) fn boxes(shape: &[i64], width: i64) -> Result<Boxes, String> {
    let mut boxed = vec![1; shape.len()];
    for dim in (0..shape.len()).rev() {
        let innermost = dim + 1 == shape.len();
        let fits =
            |extent: &i64| shape[dim] % extent == 0 && (!innermost || extent * width % 16 == 0);
        boxed[dim] = (1..=shape[dim].min(MAX_BOX)).rev().find(fits).ok_or_else(|| {
            format!(
                "a row of {} elements of {width} bytes is no multiple of 16 bytes, which a tensor copy needs",
                shape[dim]
            )
        })?;
        // A box that does not span this dimension is one run of it: dimensions further out stay 1.
        if boxed[dim] != shape[dim] {
            break;
        }
    }
    let per_dim: Vec<i64> = shape
        .iter()
        .zip(&boxed)
        .map(|(extent, part)| extent / part)
        .collect();
    let count: i64 = per_dim.iter().product();
    if count > MAX_BOXES {
        return Err(format!(
            "a tile of this shape takes {count} tensor copies, at most {MAX_BOXES} are made; use smaller tiles"
        ));
    }
    let elements: i64 = boxed.iter().product();
    if count > 1 && elements * width % BOX_ALIGN != 0 {
        return Err(format!(
            "a tile of this shape takes boxes of {} bytes, which are no multiple of {BOX_ALIGN}",
            elements * width
        ));
    }
    let starts = (0..count)
        .map(|number| {
            let mut rest = number;
            let mut offsets = vec![0; shape.len()];
            for dim in (0..shape.len()).rev() {
                offsets[dim] = rest % per_dim[dim] * boxed[dim];
                rest /= per_dim[dim];
            }
            (number * elements, offsets)
        })
        .collect();
    Ok(Boxes {
        shape: boxed,
        starts,
    })
}

/// Alignment of base and rows, bytes: what the kernel's argument promises (16 for anything but an
/// argument), or less where a row pitch that is known says so.
pub(in crate::passes) fn alignment(memref: Value) -> i64 {
    let ty = memref.ty();
    let width = ty.element().byte_width().unwrap_or(1);
    let (strides, _) = ty.strides_and_offset().unwrap_or_default();
    let outer = strides.split_last().map_or(&[][..], |(_, outer)| outer);
    let pitches = outer.iter().flatten().map(|stride| stride * width);
    pitches
        .map(|bytes| 1 << bytes.trailing_zeros().min(4))
        .fold(promised(memref), i64::min)
}

fn promised(memref: Value) -> i64 {
    let Some((block, index)) = memref.as_block_argument() else {
        return 16;
    };
    let Some(attrs) = block
        .parent()
        .and_then(|function| function.attr("arg_attrs"))
    else {
        return 16;
    };
    attrs
        .array()
        .and_then(|attrs| attrs.get(index)?.entry("async_pipeline.align")?.int())
        .unwrap_or(16)
}

/// `cp.async` of a tile by every thread of a role.
///
/// Tiles within the tensor take a path without bounds; the others count valid bytes.
pub(super) fn cp_async(
    build: Build,
    copy: &Copy,
    view: Value,
    span: i64,
    thread: Value,
    threads: i64,
) -> Result<(), Failed> {
    let shape = copy.tile().static_shape();
    let width = copy.tile().element().byte_width().unwrap_or(1);
    let row = shape.last().copied().unwrap_or(1);
    let align = alignment(copy.memref);
    if let ([rows, columns], true) = (shape.as_slice(), span != 0) {
        if align < VECTOR_BYTES {
            return Err(error(
                copy.op,
                format!(
                    "the argument promises an alignment of {align} bytes, and copies of an operand of a product need {VECTOR_BYTES}"
                ),
            ));
        }
        swizzled_cp_async(build, copy, view, [*rows, *columns], span, thread, threads);
        return Ok(());
    }
    let bytes = [16, 8, 4]
        .into_iter()
        .find(|bytes| *bytes <= align && row * width % bytes == 0 && bytes % width == 0)
        .ok_or_else(|| {
            error(
                copy.op,
                format!("a row of {row} elements of {width} bytes is no multiple of 4 bytes, the smallest cp.async"),
            )
        })?;
    let chunk = bytes / width;
    let chunks: i64 = shape.iter().product::<i64>() / chunk;
    let context = build.0.context();
    let emit = |build: Build, number: Value, bounded: bool| {
        let within = unflatten(build, build.mul(number, build.index(chunk)), &shape);
        let global = copy.global(build, &within);
        let valid = bounded.then(|| valid_bytes(build, copy.memref, &global, width, bytes));
        build
            .0
            .op("async_pipeline.cp_async.copy")
            .segments(&[&[copy.memref], &global, &[view], &within, valid.as_slice()])
            .attr("bytes", context.i32_attr(bytes))
            .build();
    };
    let inside = whole_tile_inside(build, copy, &shape);
    build.if_else(
        inside,
        |build| {
            spread(build, thread, threads, chunks, |build, number| {
                emit(build, number, false)
            })
        },
        Some(|build: Build| {
            spread(build, thread, threads, chunks, |build, number| {
                emit(build, number, true)
            });
        }),
    );
    Ok(())
}

/// `cp.async` of 16 bytes each into a swizzled slot, whose view has its elements in the order
/// in which they lie.
///
/// Consecutive threads take consecutive units of a row. Written out round by round: rows of one
/// thread are a constant apart, and where that is a multiple of 8 the swizzle is the same for all.
fn swizzled_cp_async(
    build: Build,
    copy: &Copy,
    view: Value,
    [rows, columns]: [i64; 2],
    span: i64,
    thread: Value,
    threads: i64,
) {
    let width = copy.tile().element().byte_width().unwrap_or(1);
    let unit = VECTOR_BYTES / width;
    let units = columns / unit;
    let in_span = span / VECTOR_BYTES;
    let context = build.0.context();
    // Threads that one row keeps busy, and rows that all threads take at once.
    let (across, down) = (units.min(threads), (threads / units).max(1));
    let (row, column) = (
        build.div(thread, build.index(units)),
        build.rem(thread, build.index(units)),
    );
    let emit = |build: Build, bounded: bool| {
        for round in 0..(rows * units).div_euclid(threads).max(1) {
            // Rounds go along a row first where all threads together are shorter than one.
            let along = units / across;
            let (row_at, unit_at) = (round / along * down, round % along * across);
            let row = build.add(row, build.index(row_at));
            let unit_number = build.add(column, build.index(unit_at));
            let place = |build: Build| {
                let within = [row, build.mul(unit_number, build.index(unit))];
                let global = copy.global(build, &within);
                let target = swizzled_element(build, [row, unit_number], rows, [in_span, unit]);
                let valid =
                    bounded.then(|| valid_bytes(build, copy.memref, &global, width, VECTOR_BYTES));
                build
                    .0
                    .op("async_pipeline.cp_async.copy")
                    .segments(&[
                        &[copy.memref],
                        &global,
                        &[view],
                        &[target],
                        valid.as_slice(),
                    ])
                    .attr("bytes", context.i32_attr(VECTOR_BYTES))
                    .build();
            };
            if rows * units >= threads {
                place(build);
            } else {
                let there = build.compare(Compare::UnsignedLess, row, build.index(rows));
                build.when(there, place);
            }
        }
    };
    let inside = whole_tile_inside(build, copy, &[rows, columns]);
    build.if_else(
        inside,
        |build| emit(build, false),
        Some(|build: Build| emit(build, true)),
    );
}

/// Where the first element of a unit lies in a swizzled slot: its box, its row there, and in
/// the row the unit exchanged by the exclusive or with bits of the row.
fn swizzled_element(
    build: Build,
    [row, unit]: [Value; 2],
    rows: i64,
    [in_span, elements]: [i64; 2],
) -> Value {
    let (boxed, unit) = (
        build.div(unit, build.index(in_span)),
        build.rem(unit, build.index(in_span)),
    );
    // 128 bytes, which is what the pattern is told apart by, are 1, 2 or 4 rows.
    let line = build.div(row, build.index(8 / in_span));
    let exchanged = build.xor(unit, build.rem(line, build.index(in_span)));
    let row = build.add(build.mul(boxed, build.index(rows)), row);
    let units = build.add(build.mul(row, build.index(in_span)), exchanged);
    build.mul(units, build.index(elements))
}

/// Ordinary stores of a tile by every thread of a role; elements outside are dropped.
///
/// Tiles within the tensor are stored in vectors of 16 bytes where rows allow it.
pub(super) fn store_by_threads(
    build: Build,
    copy: &Copy,
    view: Value,
    thread: Value,
    threads: i64,
) {
    let shape = copy.tile().static_shape();
    let element = copy.tile().element();
    let elements: i64 = shape.iter().product();
    let chunk = VECTOR_BYTES / element.byte_width().unwrap_or(VECTOR_BYTES);
    let row = shape.last().copied().unwrap_or(1);
    let vectors = alignment(copy.memref) >= VECTOR_BYTES && chunk > 1 && row % chunk == 0;
    if !vectors {
        return store_elements(build, copy, view, thread, threads);
    }
    let context = build.0.context();
    let vector = context.vector(chunk, element);
    let align = context.i64_attr(VECTOR_BYTES);
    let whole = |build: Build| {
        spread(build, thread, threads, elements / chunk, |build, number| {
            let within = unflatten(build, build.mul(number, build.index(chunk)), &shape);
            let global = copy.global(build, &within);
            let value = build
                .0
                .op("vector.load")
                .operands(&[view])
                .operands(&within)
                .attr("alignment", align)
                .results(&[vector])
                .value();
            build
                .0
                .op("vector.store")
                .operands(&[value, copy.memref])
                .operands(&global)
                .attr("alignment", align)
                .build();
        });
    };
    let inside = whole_tile_inside(build, copy, &shape);
    build.if_else(
        inside,
        whole,
        Some(|build: Build| store_elements(build, copy, view, thread, threads)),
    );
}

/// Stores a tile element by element; those outside the tensor are dropped.
pub(super) fn store_elements(build: Build, copy: &Copy, view: Value, thread: Value, threads: i64) {
    let shape = copy.tile().static_shape();
    spread(
        build,
        thread,
        threads,
        shape.iter().product(),
        |build, number| {
            store_element(build, copy, view, &unflatten(build, number, &shape));
        },
    );
}

/// Whether a tensor store clips this tile exactly; `None`: always.
///
/// The copy engine writes whole units of 16 bytes, so a row that ends within one is
/// overrun (seen on an H200). Tiles that do not reach the end of a row are safe.
pub(super) fn stores_exactly(build: Build, copy: &Copy) -> Option<Value> {
    let tile = copy.tile();
    let unit = VECTOR_BYTES / tile.element().byte_width().unwrap_or(VECTOR_BYTES);
    let last = copy.indices.len().checked_sub(1)?;
    let known = copy.memref.ty().shape()[last];
    if unit <= 1 || known.is_some_and(|extent| extent % unit == 0) {
        return None;
    }
    let extent = build.dim(copy.memref, last);
    let rest = build.rem(extent, build.index(unit));
    let whole_units = build.compare(Compare::Eq, rest, build.index(0));
    let end = build.add(copy.indices[last], build.index(tile.static_shape()[last]));
    let within = build.compare(Compare::SignedLessEq, end, extent);
    Some(build.or(whole_units, within))
}

/// Stores one element of a tile if it lies within the tensor.
fn store_element(build: Build, copy: &Copy, view: Value, within: &[Value]) {
    let global = copy.global(build, within);
    let inside = global
        .iter()
        .enumerate()
        .map(|(dim, index)| build.compare(Compare::SignedLess, *index, build.dim(copy.memref, dim)))
        .reduce(|all, next| build.and(all, next));
    let Some(inside) = inside else { return };
    build.when(inside, |build| {
        let value = build
            .0
            .op("memref.load")
            .operands(&[view])
            .operands(within)
            .results(&[copy.tile().element()])
            .value();
        build
            .0
            .op("memref.store")
            .operands(&[value, copy.memref])
            .operands(&global)
            .build();
    });
}

/// Runs `body` for 0..count, item `i` by thread `i % threads`.
fn spread(build: Build, thread: Value, threads: i64, count: i64, body: impl Fn(Build, Value)) {
    let zero = build.index(0);
    let rounds = (count + threads - 1) / threads;
    let (to, one) = (build.index(rounds), build.index(1));
    build.count(zero, to, one, |build, round| {
        let number = build.add(build.mul(round, build.index(threads)), thread);
        if count % threads == 0 {
            return body(build, number);
        }
        let there = build.compare(Compare::UnsignedLess, number, build.index(count));
        build.when(there, |build| body(build, number));
    });
}

/// Row-major element number → one index per dimension.
fn unflatten(build: Build, number: Value, shape: &[i64]) -> Vec<Value> {
    let mut rest = number;
    let mut indices = Vec::new();
    for (dim, extent) in shape.iter().enumerate().rev() {
        if dim == 0 {
            indices.push(rest);
        } else {
            let extent = build.index(*extent);
            indices.push(build.rem(rest, extent));
            rest = build.div(rest, extent);
        }
    }
    indices.reverse();
    indices
}

fn whole_tile_inside(build: Build, copy: &Copy, shape: &[i64]) -> Value {
    let checks: Vec<Value> = (0..shape.len())
        .map(|dim| {
            let end = build.add(copy.indices[dim], build.index(shape[dim]));
            build.compare(Compare::SignedLessEq, end, build.dim(copy.memref, dim))
        })
        .collect();
    checks
        .into_iter()
        .reduce(|all, next| build.and(all, next))
        .expect("tiles have a dimension")
}

/// Bytes of a chunk that lie within the tensor: 0 if any outer index is outside.
fn valid_bytes(build: Build, memref: Value, indices: &[Value], width: i64, bytes: i64) -> Value {
    let last = indices.len() - 1;
    let zero = build.index(0);
    let left = build.sub(build.dim(memref, last), indices[last]);
    let left = build.mul(left, build.index(width));
    let mut valid = build.min(build.max(left, zero), build.index(bytes));
    for (dim, index) in indices.iter().enumerate().take(last) {
        let inside = build.compare(Compare::SignedLess, *index, build.dim(memref, dim));
        valid = build.select(inside, valid, zero);
    }
    build.index_cast(valid, build.0.context().i32())
}

#[cfg(test)]
mod tests {
    use super::boxes;

    #[test]
    fn a_tile_that_fits_is_one_box() {
        let boxes = boxes(&[64, 64], 4).expect("legal");
        assert_eq!(boxes.shape, [64, 64]);
        assert_eq!(boxes.starts, [(0, vec![0, 0])]);
    }

    #[test]
    fn long_rows_are_split_in_storage_order() {
        let split = boxes(&[1024], 4).expect("legal");
        assert_eq!(split.shape, [256]);
        let starts: Vec<i64> = split.starts.iter().map(|(at, _)| *at).collect();
        assert_eq!(starts, [0, 256, 512, 768]);
        let split = boxes(&[2, 512], 2).expect("legal");
        assert_eq!(split.shape, [1, 256]);
        assert_eq!(
            split.starts,
            [
                (0, vec![0, 0]),
                (256, vec![0, 256]),
                (512, vec![1, 0]),
                (768, vec![1, 256])
            ]
        );
    }

    #[test]
    fn many_rows_are_split_along_rows_only() {
        let split = boxes(&[512, 32], 4).expect("legal");
        assert_eq!(split.shape, [256, 32]);
        assert_eq!(split.starts, [(0, vec![0, 0]), (8192, vec![256, 0])]);
    }

    #[test]
    fn rows_that_no_tensor_copy_moves_are_refused() {
        assert!(boxes(&[64, 3], 4).is_err());
        assert!(boxes(&[1 << 20], 1).is_err());
    }
}
