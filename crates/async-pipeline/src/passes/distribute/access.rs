//! Pieces of a tile in global memory.

use super::pieces::Piece;
use crate::{
    build::{Build, Compare},
    passes::{divisor, insert_barriers::copies::alignment},
};
use async_pipeline_sys::ir::{Op, Value};
use std::collections::HashMap;

/// Bytes of the widest access of one thread.
const VECTOR_BYTES: i64 = 16;

/// Pieces of as many elements go one by one where some may be outside: there are many of them.
const FEW: i64 = 2;

/// A tile along the last dimensions of a global tensor.
pub(super) struct Access {
    memref: Value,
    /// Where the tile begins.
    indices: Vec<Value>,
    /// The tile's extents, 1 or 2.
    shape: Vec<i64>,
    /// The tensor as a run of elements, with the strides of all dimensions but the last.
    flat: Option<(Value, Vec<Value>)>,
    /// Where pieces begin in it, as far as that is worked out for all uses at once.
    places: HashMap<(Option<Value>, Value), Value>,
}

impl Access {
    /// What a `work.load` or `work.store` touches, if that is global memory.
    pub(super) fn new(op: Op) -> Option<Self> {
        let (memref, indices, tile) = if op.is("async_pipeline.work.load") {
            let tile = op.result(0).ty();
            (op.operand_segment(0)[0], op.operand_segment(1), tile)
        } else {
            let operands = op.operands();
            (operands[1], operands[2..].to_vec(), operands[0].ty())
        };
        memref.ty().is_memref().then(|| Self {
            memref,
            indices,
            shape: tile.static_shape(),
            flat: None,
            places: HashMap::new(),
        })
    }

    /// Works out, in front of all uses, where pieces begin whose columns are a constant apart.
    ///
    /// The start of each row is hidden from the back end, which otherwise looks at every pair of
    /// addresses for a cheaper way from one to the other: half of the compile time.
    pub(super) fn prepare(&mut self, build: Build, first_column: Value, pieces: &[Piece]) {
        self.flat = Some(flatten(build, self.memref));
        let mut rows: HashMap<Option<Value>, Value> = HashMap::new();
        for piece in pieces {
            let row = piece.row.filter(|_| self.shape.len() == 2);
            let start = *rows.entry(row).or_insert_with(|| {
                let first = Piece {
                    column: first_column,
                    ..*piece
                };
                let place = self.place(build, &first);
                match row {
                    Some(_) => hidden(build, place),
                    None => place,
                }
            });
            self.places
                .entry((row, piece.column))
                .or_insert_with(|| build.add(start, build.index(piece.offset)));
        }
    }

    /// The tensor as a run of elements, and where a piece begins in it.
    fn element(&self, build: Build, piece: &Piece) -> (Value, Value) {
        let row = piece.row.filter(|_| self.shape.len() == 2);
        let place = match self.places.get(&(row, piece.column)) {
            Some(place) => *place,
            None => self.place(build, piece),
        };
        let memref = self.flat.as_ref().map_or(self.memref, |(flat, _)| *flat);
        (memref, place)
    }

    fn place(&self, build: Build, piece: &Piece) -> Value {
        let at = self.at(build, piece);
        let strides = self.flat.as_ref().map_or(&[][..], |(_, strides)| strides);
        // Columns last: what they add is a constant from piece to piece.
        let rows = at
            .iter()
            .zip(strides)
            .map(|(index, stride)| build.mul(*index, *stride));
        match rows.reduce(|sum, one| build.add(sum, one)) {
            Some(rows) => build.add(rows, at[at.len() - 1]),
            None => at[at.len() - 1],
        }
    }

    pub(super) fn memref(&self) -> Value {
        self.memref
    }

    pub(super) fn same_place(&self, other: &Self) -> bool {
        self.memref == other.memref && self.indices == other.indices && self.shape == other.shape
    }

    /// Whether the whole tile lies within the tensor, the same for all threads.
    pub(super) fn inside(&self, build: Build) -> Option<Value> {
        let outer = self.indices.len() - self.shape.len();
        let extents = std::iter::repeat_n(&1, outer).chain(&self.shape);
        let checks = self.indices.iter().zip(extents).enumerate();
        checks
            .map(|(dim, (index, extent))| {
                let end = build.add(*index, build.index(*extent));
                let below = build.compare(Compare::SignedLessEq, end, build.dim(self.memref, dim));
                match divisor::is_not_negative(*index) {
                    true => below,
                    false => {
                        let above = build.compare(Compare::SignedLessEq, build.index(0), *index);
                        build.and(below, above)
                    }
                }
            })
            .reduce(|all, one| build.and(all, one))
    }

    /// The indices of the first element of a piece.
    fn at(&self, build: Build, piece: &Piece) -> Vec<Value> {
        let mut indices = self.indices.clone();
        let last = indices.len() - 1;
        indices[last] = build.add(indices[last], piece.column);
        if let (2, Some(row)) = (self.shape.len(), piece.row) {
            indices[last - 1] = build.add(indices[last - 1], row);
        }
        indices
    }

    /// Bytes that a piece is known to begin at a multiple of.
    fn align(&self, piece: &Piece) -> i64 {
        let width = self.memref.ty().element().byte_width().unwrap_or(1);
        let start = self
            .indices
            .last()
            .map_or(1, |index| divisor::power_of_two(*index));
        let piece = piece.step.min(start) * width;
        piece.min(alignment(self.memref)).min(VECTOR_BYTES)
    }

    /// (all of a piece is inside, each element is inside)
    fn masks(&self, build: Build, at: &[Value], width: i64) -> (Value, Value) {
        let last = at.len() - 1;
        let extent = build.dim(self.memref, last);
        let outer = at[..last]
            .iter()
            .enumerate()
            .map(|(dim, index)| {
                build.compare(Compare::UnsignedLess, *index, build.dim(self.memref, dim))
            })
            .reduce(|all, one| build.and(all, one));
        let both = |one: Value, other: Option<Value>| match other {
            Some(other) => build.and(one, other),
            None => one,
        };
        let end = build.add(at[last], build.index(width - 1));
        // An end that is inside leaves a negative start to be found by being huge.
        let ends = build.and(
            build.compare(Compare::UnsignedLess, end, extent),
            build.compare(Compare::UnsignedLess, at[last], extent),
        );
        let whole = both(ends, outer);
        let columns = build.add(build.splat(at[last], width), build.counting(width));
        let each =
            build.compare_vectors(Compare::UnsignedLess, columns, build.splat(extent, width));
        let each = match outer {
            Some(outer) => build.and(each, build.splat(outer, width)),
            None => each,
        };
        (whole, each)
    }

    /// Whether it is inside for each element of a piece of few.
    fn each(&self, build: Build, piece: &Piece) -> Vec<Value> {
        let at = self.at(build, piece);
        let last = at.len() - 1;
        let below = |dim: usize, index: Value| {
            build.compare(Compare::UnsignedLess, index, build.dim(self.memref, dim))
        };
        let outer = (0..last)
            .map(|dim| below(dim, at[dim]))
            .reduce(|all, one| build.and(all, one));
        (0..piece.width)
            .map(|index| {
                let inner = below(last, build.add(at[last], build.index(index)));
                outer.map_or(inner, |outer| build.and(outer, inner))
            })
            .collect()
    }

    /// Loads a piece; with `bounded` elements outside are `fill`.
    pub(super) fn load(&self, build: Build, piece: &Piece, bounded: Option<Value>) -> Value {
        let element = self.memref.ty().element();
        let ty = build.0.context().vector(piece.width, element);
        let (memref, place) = self.element(build, piece);
        let align = self.align(piece);
        let whole = |build: Build| {
            build
                .0
                .op("vector.load")
                .operands(&[memref, place])
                .attr("alignment", build.0.context().i64_attr(align))
                .results(&[ty])
                .value()
        };
        let Some(fill) = bounded else {
            return whole(build);
        };
        if piece.width <= FEW {
            let elements: Vec<Value> = self
                .each(build, piece)
                .into_iter()
                .enumerate()
                .map(|(index, inside)| {
                    let load = |build: Build| {
                        let at = build.add(place, build.index(index as i64));
                        build
                            .0
                            .op("memref.load")
                            .operands(&[memref, at])
                            .results(&[element])
                            .value()
                    };
                    let other = |build: Build| build.extract(fill, index as i64);
                    build.if_value(inside, element, load, other)
                })
                .collect();
            return build.elements(&elements);
        }
        let (all, each) = self.masks(build, &self.at(build, piece), piece.width);
        build.if_value(all, ty, whole, |build| {
            build
                .0
                .op("vector.maskedload")
                .operands(&[memref, place, each, fill])
                .results(&[ty])
                .value()
        })
    }

    /// Stores a piece; with `bounded` elements outside are dropped.
    pub(super) fn store(&self, build: Build, piece: &Piece, value: Value, bounded: bool) {
        let (memref, place) = self.element(build, piece);
        let align = build.0.context().i64_attr(self.align(piece));
        let whole = |build: Build| {
            build
                .0
                .op("vector.store")
                .operands(&[value, memref, place])
                .attr("alignment", align)
                .build();
        };
        if !bounded {
            return whole(build);
        }
        if piece.width <= FEW {
            for (index, inside) in self.each(build, piece).into_iter().enumerate() {
                build.when(inside, |build| {
                    let at = build.add(place, build.index(index as i64));
                    let element = build.extract(value, index as i64);
                    build
                        .0
                        .op("memref.store")
                        .operands(&[element, memref, at])
                        .build();
                });
            }
            return;
        }
        let (all, each) = self.masks(build, &self.at(build, piece), piece.width);
        build.if_else(
            all,
            whole,
            Some(|build: Build| {
                build
                    .0
                    .op("vector.maskedstore")
                    .operands(&[memref, place, each, value])
                    .build();
            }),
        );
    }

    /// Adds a piece to what is there, element by element.
    pub(super) fn add(&self, build: Build, piece: &Piece, value: Value, bounded: bool) {
        let (memref, place) = self.element(build, piece);
        let element = value.ty().element();
        let kind = if element.is_float() {
            ADD_FLOAT
        } else {
            ADD_INTEGER
        };
        let each = bounded.then(|| self.masks(build, &self.at(build, piece), piece.width).1);
        for index in 0..piece.width {
            let one = |build: Build| {
                let at = build.add(place, build.index(index));
                let value = build.extract(value, index);
                build
                    .0
                    .op("memref.atomic_rmw")
                    .operands(&[value, memref, at])
                    .attr("kind", build.0.context().i64_attr(kind))
                    .results(&[element])
                    .build();
            };
            match each {
                Some(each) => build.when(build.extract(each, index), one),
                None => one(build),
            }
        }
    }
}

/// `addf` and `addi` as `memref.atomic_rmw` numbers them.
const ADD_FLOAT: i64 = 0;
const ADD_INTEGER: i64 = 1;

/// The same value, of which the back end knows nothing. No instruction.
fn hidden(build: Build, value: Value) -> Value {
    let context = build.0.context();
    let wide = build.index_cast(value, context.i64());
    let same = build
        .0
        .op("llvm.inline_asm")
        .operands(&[wide])
        .results(&[context.i64()])
        .attr("asm_string", context.string_attr(""))
        .attr("constraints", context.string_attr("=l,0"))
        .attr("asm_dialect", context.i64_attr(0))
        .value();
    build.index_cast(same, value.ty())
}

/// A tensor as a run of elements from its first on, and the strides of all dimensions but the last.
fn flatten(build: Build, memref: Value) -> (Value, Vec<Value>) {
    let context = build.0.context();
    let (ty, index) = (memref.ty(), context.index());
    let rank = ty.shape().len();
    if rank == 1 {
        return (memref, Vec::new());
    }
    let strides: Vec<Option<i64>> = ty
        .strides_and_offset()
        .map(|(strides, _)| strides)
        .unwrap_or_default();
    let space = ty.memory_space();
    let space = match space.is_empty() {
        true => String::new(),
        false => format!(", {space}"),
    };
    let parsed = |text: String| {
        context
            .parse_type(&text)
            .unwrap_or_else(|| panic!("MLIR refuses the type {text}"))
    };
    let element = ty.element();
    let mut results = vec![parsed(format!("memref<{element}{space}>")), index];
    results.extend(vec![index; 2 * rank]);
    let parts = build
        .0
        .op("memref.extract_strided_metadata")
        .operands(&[memref])
        .results(&results)
        .build()
        .results();
    // As long as anything: what is inside is known from the tensor itself.
    let length = i64::from(i32::MAX);
    let flat = build
        .0
        .op("memref.reinterpret_cast")
        .segments(&[&parts[..1], &[], &[], &[]])
        .attr("static_offsets", context.dense_i64_attr(&[0]))
        .attr("static_sizes", context.dense_i64_attr(&[length]))
        .attr("static_strides", context.dense_i64_attr(&[1]))
        .results(&[parsed(format!(
            "memref<{length}x{element}, strided<[1]>{space}>"
        ))])
        .value();
    let strides = (0..rank - 1)
        .map(|dim| match strides.get(dim).copied().flatten() {
            Some(stride) => build.index(stride),
            None => parts[2 + rank + dim],
        })
        .collect();
    (flat, strides)
}
