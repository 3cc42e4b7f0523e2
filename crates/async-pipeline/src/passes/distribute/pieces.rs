//! The value of one piece of a tile, made from the pieces it is computed from.

use super::{access::Access, products::Loaded};
use crate::{build::Build, diagnostics::error, passes::Failed};
use async_pipeline_sys::ir::{Op, Type, TypeKind, Value};
use std::collections::{HashMap, HashSet};

/// A run of columns of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Piece {
    /// Its row in the tile, index; none in a tile of one dimension.
    pub(super) row: Option<Value>,
    /// Its first column, index.
    pub(super) column: Value,
    /// Where that is known: how far it is from the thread's first column.
    pub(super) offset: i64,
    /// How many columns.
    pub(super) width: i64,
    /// The first column is a multiple of this.
    pub(super) step: i64,
    /// The first of its values among those that a thread holds of a sum.
    pub(super) register: usize,
}

/// Whether an op computes on register values.
pub(super) fn is_on_values(op: Op) -> bool {
    let name = op.name();
    ["arith.", "math.", "vector."]
        .iter()
        .any(|dialect| name.starts_with(dialect))
}

/// The ops that a tile is computed by, users first.
pub(super) fn slice(value: Value) -> Result<Vec<Op>, Failed> {
    let (mut out, mut pending): (Vec<Op>, Vec<Value>) = (Vec::new(), vec![value]);
    let mut seen: HashSet<Value> = HashSet::new();
    while let Some(value) = pending.pop() {
        if !seen.insert(value) {
            continue;
        }
        let made = value.defining_op();
        let Some(op) = made.filter(|op| !op.is("scf.for") && !op.is("scf.while")) else {
            let message = "a tile on register values that a loop carries is not supported by the lowering of the tile level";
            return Err(match value.owner() {
                Some(owner) => error(owner, message),
                None => Failed,
            });
        };
        if op.is("scf.if") {
            branch(op)?;
            pending.extend(yielded(op, value));
            continue;
        }
        if out.contains(&op) {
            continue;
        }
        check(op)?;
        let tiles = op
            .operands()
            .into_iter()
            .filter(|value| value.ty().is_vector());
        if !op.is("async_pipeline.work.load") {
            pending.extend(tiles);
        }
        out.push(op);
    }
    Ok(out)
}

/// What both sides of a branch yield for one of its results.
fn yielded(op: Op, value: Value) -> Vec<Value> {
    let index = op.results().iter().position(|result| *result == value);
    let ends = (0..2).filter_map(|region| op.body(region)?.terminator());
    ends.filter_map(|end| Some(end.operand(index?))).collect()
}

/// A branch whose pieces can be made elsewhere: nothing in it has an effect, and what it computes
/// with beside tiles comes from outside.
fn branch(op: Op) -> Result<(), Failed> {
    for inner in op.walk() {
        let pure = inner.is("scf.yield")
            || inner.is("async_pipeline.work.load")
            || (is_on_values(inner) && inner.results().iter().all(|one| one.ty().is_vector()));
        if !pure {
            return Err(error(
                inner,
                format!(
                    "'{}' op in a branch that yields a tile is not supported by the lowering of the tile level",
                    inner.name()
                ),
            ));
        }
    }
    Ok(())
}

/// Whether pieces of an op can be made.
fn check(op: Op) -> Result<(), Failed> {
    let unsupported = |why: &str| {
        Err(error(
            op,
            format!("'{}' op {why} by the lowering of the tile level", op.name()),
        ))
    };
    match op.name() {
        "async_pipeline.work.load" => match op.operand(0).ty().kind() {
            TypeKind::Accumulator | TypeKind::Tmem => Ok(()),
            _ if op.operand(0).ty().is_memref() => Ok(()),
            _ => unsupported("from here is not supported"),
        },
        "arith.constant" => match splat(op) {
            Some(_) => Ok(()),
            None => unsupported("of unequal elements is not supported"),
        },
        "vector.broadcast" | "vector.step" => Ok(()),
        "vector.shape_cast" => {
            let (from, to) = (
                op.operand(0).ty().static_shape(),
                op.result(0).ty().static_shape(),
            );
            let flat = |shape: &[i64]| {
                shape
                    .iter()
                    .copied()
                    .filter(|n| *n != 1)
                    .collect::<Vec<_>>()
            };
            if flat(&from).len() <= 1 && flat(&from) == flat(&to) {
                Ok(())
            } else {
                unsupported("that joins or splits dimensions is not supported")
            }
        }
        name if name.starts_with("arith.") || name.starts_with("math.") => Ok(()),
        _ => unsupported("is not supported"),
    }
}

/// The text of the one value of all elements of a constant.
fn splat(op: Op) -> Option<String> {
    let text = op.attr("value")?.to_string();
    let (value, _) = text.split_once(" : ")?;
    (value.starts_with("dense<") && !value.contains('[') && !value.contains('"'))
        .then(|| value.to_owned())
}

/// Makes values of pieces at one place.
pub(super) struct Values<'a> {
    pub(super) build: Build,
    /// Whether a tile may reach beyond its tensor.
    pub(super) bounded: bool,
    pub(super) loaded: &'a Loaded,
    /// The loads from global memory.
    pub(super) accesses: &'a HashMap<Op, Access>,
    known: HashMap<(Value, Piece), Value>,
}

impl<'a> Values<'a> {
    pub(super) fn new(
        build: Build,
        bounded: bool,
        loaded: &'a Loaded,
        accesses: &'a HashMap<Op, Access>,
    ) -> Self {
        Self {
            build,
            bounded,
            loaded,
            accesses,
            known: HashMap::new(),
        }
    }

    /// A piece of a tile.
    pub(super) fn of(&mut self, tile: Value, piece: Piece) -> Result<Value, Failed> {
        if let Some(value) = self.known.get(&(tile, piece)) {
            return Ok(*value);
        }
        let Some(op) = tile.defining_op() else {
            return Err(Failed);
        };
        let ty = self
            .build
            .0
            .context()
            .vector(piece.width, tile.ty().element());
        let value = match op.name() {
            "async_pipeline.work.load" => self.load(op, piece, ty)?,
            "arith.constant" => {
                let text = splat(op).unwrap_or_default();
                self.build.parsed_constant(&format!("{text} : {ty}"), ty)
            }
            "vector.broadcast" => self.broadcast(op, piece)?,
            "vector.step" => {
                let column = self.build.splat(piece.column, piece.width);
                self.build.add(column, self.build.counting(piece.width))
            }
            "vector.shape_cast" => self.shape_cast(op, piece)?,
            "scf.if" => self.either(op, tile, piece, ty)?,
            _ => self.elementwise(op, piece, ty)?,
        };
        self.known.insert((tile, piece), value);
        Ok(value)
    }

    /// The same branch for a piece. Conditions of the tile level are the same for all threads.
    fn either(&mut self, op: Op, tile: Value, piece: Piece, ty: Type) -> Result<Value, Failed> {
        let sides = yielded(op, tile);
        let [then, otherwise] = sides[..] else {
            return Err(error(
                op,
                "expected a branch that yields a tile on both sides",
            ));
        };
        let (mut one, mut other) = (Ok(()), Ok(()));
        let (bounded, loaded, accesses) = (self.bounded, self.loaded, self.accesses);
        let side = |build: Build, tile: Value, outcome: &mut Result<(), Failed>| {
            let value = Values::new(build, bounded, loaded, accesses).of(tile, piece);
            *outcome = value.map(|_| ());
            value.unwrap_or_else(|Failed| build.zeros(ty))
        };
        let value = self.build.if_value(
            op.operand(0),
            ty,
            |build| side(build, then, &mut one),
            |build| side(build, otherwise, &mut other),
        );
        one.and(other).map(|()| value)
    }

    fn elementwise(&mut self, op: Op, piece: Piece, ty: Type) -> Result<Value, Failed> {
        let mut operands = Vec::new();
        for operand in op.operands() {
            operands.push(match operand.ty().is_vector() {
                true => self.of(operand, piece)?,
                false => operand,
            });
        }
        let builder = self.build.0.with_location(op.location());
        let mut copy = builder.op(op.name()).operands(&operands).results(&[ty]);
        for (name, value) in op.attrs() {
            copy = copy.attr_owned(name, value);
        }
        Ok(copy.value())
    }

    fn broadcast(&mut self, op: Op, piece: Piece) -> Result<Value, Failed> {
        let source = op.operand(0);
        if !source.ty().is_vector() {
            return Ok(self.build.splat(source, piece.width));
        }
        let (from, to) = (source.ty().static_shape(), op.result(0).ty().static_shape());
        let zero = self.build.index(0);
        let mut inner = piece;
        match (from.as_slice(), to.as_slice()) {
            ([_], [_, _]) => inner.row = None,
            ([1, _], [rows, _]) if *rows != 1 => inner.row = Some(zero),
            _ => {}
        }
        // Registers are those of the larger tile: loads from memory do not look at them.
        inner.register = 0;
        if from.last() == Some(&1) && to.last() != Some(&1) {
            let one = Piece {
                column: zero,
                offset: 0,
                width: 1,
                step: i64::MAX,
                ..inner
            };
            let value = self.of(source, one)?;
            let value = self.build.extract(value, 0);
            return Ok(self.build.splat(value, piece.width));
        }
        self.of(source, inner)
    }

    /// One dimension as a row or a column, or back.
    fn shape_cast(&mut self, op: Op, piece: Piece) -> Result<Value, Failed> {
        let (source, zero) = (op.operand(0), self.build.index(0));
        let (from, to) = (source.ty().static_shape(), op.result(0).ty().static_shape());
        let across = |shape: &[i64]| shape.len() == 2 && shape[1] == 1 && shape[0] != 1;
        let mut inner = Piece {
            register: 0,
            ..piece
        };
        match (across(&from), across(&to)) {
            (true, true) | (false, false) => {
                inner.row = (from.len() == 2).then_some(zero);
            }
            // A column: what was the row is the place along the one dimension.
            (false, true) => {
                inner.column = piece.row.unwrap_or(zero);
                inner.step = 1;
                inner.row = (from.len() == 2).then_some(zero);
            }
            (true, false) if piece.width == 1 => {
                inner.row = Some(piece.column);
                inner.column = zero;
            }
            (true, false) => {
                let mut elements = Vec::new();
                for index in 0..piece.width {
                    let row = self.build.add(piece.column, self.build.index(index));
                    let one = Piece {
                        row: Some(row),
                        column: zero,
                        offset: 0,
                        width: 1,
                        step: i64::MAX,
                        register: 0,
                    };
                    let value = self.of(source, one)?;
                    elements.push(self.build.extract(value, 0));
                }
                return Ok(self.build.elements(&elements));
            }
        }
        if across(&from) && across(&to) {
            inner.row = piece.row;
        }
        self.of(source, inner)
    }

    fn load(&mut self, op: Op, piece: Piece, ty: Type) -> Result<Value, Failed> {
        let source = op.operand(0);
        match source.ty().kind() {
            TypeKind::Accumulator => {
                let values = self.loaded.get(&op).map(Vec::as_slice).unwrap_or_default();
                let end = piece.register + piece.width as usize;
                let values = values.get(piece.register..end).ok_or_else(|| {
                    error(
                        op,
                        "expected an accumulator that this role's products add to",
                    )
                })?;
                Ok(self.build.elements(values))
            }
            TypeKind::Tmem => {
                let i32 = self.build.0.context().i32();
                let column = self.build.index_cast(piece.column, i32);
                let value = self
                    .build
                    .0
                    .op("async_pipeline.tcgen05.ld")
                    .operands(&[source, column])
                    .results(&[ty])
                    .value();
                self.build.0.op("async_pipeline.tcgen05.wait_ld").build();
                Ok(value)
            }
            _ => {
                let Some(access) = self.accesses.get(&op) else {
                    return Err(error(op, "expected a load from global memory"));
                };
                let fill = self.bounded.then(|| match op.operand_segment(2).first() {
                    Some(fill) => self.build.splat(*fill, piece.width),
                    None => self.build.zeros(ty),
                });
                Ok(access.load(self.build, &piece, fill))
            }
        }
    }
}
