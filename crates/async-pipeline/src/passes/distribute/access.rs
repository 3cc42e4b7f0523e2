//! Pieces of a tile in global memory.

use super::pieces::Piece;
use crate::{
    build::{Build, Compare},
    passes::{divisor, insert_barriers::copies::alignment},
};
use async_pipeline_sys::ir::{Op, Type, Value};

/// Bytes of the widest access of one thread.
const VECTOR_BYTES: i64 = 16;

/// A tile along the last dimensions of a global tensor.
pub(super) struct Access {
    memref: Value,
    /// Where the tile begins.
    indices: Vec<Value>,
    /// The tile's extents, 1 or 2.
    shape: Vec<i64>,
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
        })
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

    /// Loads a piece; with `bounded` elements outside are `fill`.
    pub(super) fn load(&self, build: Build, piece: &Piece, bounded: Option<Value>) -> Value {
        let element = self.memref.ty().element();
        let ty = build.0.context().vector(piece.width, element);
        let at = self.at(build, piece);
        let align = self.align(piece);
        let Some(fill) = bounded else {
            return self.load_whole(build, &at, ty, align);
        };
        let (whole, each) = self.masks(build, &at, piece.width);
        build.if_value(
            whole,
            ty,
            |build| self.load_whole(build, &at, ty, align),
            |build| {
                build
                    .0
                    .op("vector.maskedload")
                    .operands(&[self.memref])
                    .operands(&at)
                    .operands(&[each, fill])
                    .results(&[ty])
                    .value()
            },
        )
    }

    fn load_whole(&self, build: Build, at: &[Value], ty: Type, align: i64) -> Value {
        build
            .0
            .op("vector.load")
            .operands(&[self.memref])
            .operands(at)
            .attr("alignment", build.0.context().i64_attr(align))
            .results(&[ty])
            .value()
    }

    /// Stores a piece; with `bounded` elements outside are dropped.
    pub(super) fn store(&self, build: Build, piece: &Piece, value: Value, bounded: bool) {
        let at = self.at(build, piece);
        let align = build.0.context().i64_attr(self.align(piece));
        let whole = |build: Build| {
            build
                .0
                .op("vector.store")
                .operands(&[value, self.memref])
                .operands(&at)
                .attr("alignment", align)
                .build();
        };
        if !bounded {
            return whole(build);
        }
        let (all, each) = self.masks(build, &at, piece.width);
        build.if_else(
            all,
            whole,
            Some(|build: Build| {
                build
                    .0
                    .op("vector.maskedstore")
                    .operands(&[self.memref])
                    .operands(&at)
                    .operands(&[each, value])
                    .build();
            }),
        );
    }

    /// Adds a piece to what is there, element by element.
    pub(super) fn add(&self, build: Build, piece: &Piece, value: Value, bounded: bool) {
        let at = self.at(build, piece);
        let element = value.ty().element();
        let kind = if element.is_float() {
            ADD_FLOAT
        } else {
            ADD_INTEGER
        };
        let each = bounded.then(|| self.masks(build, &at, piece.width).1);
        for index in 0..piece.width {
            let one = |build: Build| {
                let mut at = at.clone();
                let last = at.len() - 1;
                at[last] = build.add(at[last], build.index(index));
                let value = build.extract(value, index);
                build
                    .0
                    .op("memref.atomic_rmw")
                    .operands(&[value, self.memref])
                    .operands(&at)
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
