//! A tile-level kernel in plain Rust.

use super::{element::Element, table::Row, tile::Tile};
use crate::program::{FloatPredicate, IntegerPredicate, Place};
use std::sync::Arc;

/// One SSA value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register(pub(super) usize);

/// What a kernel takes.
#[derive(Clone, Debug)]
pub(super) enum Parameter {
    Scalar(Element),
    Array {
        element: Element,
        /// `None` where the caller decides.
        shape: Vec<Option<u64>>,
        strides: Vec<Option<i64>>,
    },
}

/// Shape and element type of a register's value.
#[derive(Clone, Debug)]
pub(super) struct TileType {
    pub(super) shape: Arc<[usize]>,
    pub(super) element: Element,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) nodes: Vec<Node>,
}

/// One op.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) operands: Vec<Register>,
    pub(super) results: Vec<Register>,
    pub(super) action: Action,
}

/// A combination of two elements that reductions repeat.
#[derive(Clone, Copy, Debug)]
pub(super) enum Combine {
    Int(crate::program::IntegerBinary),
    Float(fn(f64, f64) -> f64),
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Constant(Arc<Tile>),
    /// A row of the table that needs nothing beside its operands.
    Apply(&'static Row, TileType),
    CompareInt(IntegerPredicate, TileType),
    CompareFloat(FloatPredicate, TileType),
    Reduce {
        combine: Combine,
        /// Which dimensions are gone in the result.
        dimensions: Vec<bool>,
        ty: TileType,
    },
    BlockId(usize),
    GridDim(usize),
    /// Operands: memref, dimension.
    Dim,
    /// Operands: memref, indices.
    LoadScalar(Element),
    Accumulator(TileType),
    Buffer,
    /// Operands: base, indices, sizes.
    Window {
        rank: usize,
    },
    /// Operands: tensor, buffer, indices.
    CopyIn(TileType),
    /// Operands: tensor, buffer, indices.
    CopyOut(TileType),
    /// Operands: accumulator, a, b.
    Mma {
        m: usize,
        n: usize,
        k: usize,
        transpose_a: bool,
        transpose_b: bool,
    },
    /// Operands: accumulator or buffer.
    LoadTile(TileType),
    /// Operands: tensor, indices, fill value if there is one.
    LoadGlobal {
        ty: TileType,
        rank: usize,
    },
    /// Operands: vector, accumulator or buffer.
    StoreTile,
    /// Operands: vector, tensor, indices.
    StoreGlobal {
        ty: TileType,
        add: bool,
    },
    /// Operands: lower, upper, step, initial values.
    For {
        counter: Register,
        element: Element,
        unsigned: bool,
        carried: Vec<Register>,
        body: Block,
        yielded: Vec<Register>,
    },
    /// Operands: condition.
    If {
        arms: [Block; 2],
        yielded: [Vec<Register>; 2],
    },
}
