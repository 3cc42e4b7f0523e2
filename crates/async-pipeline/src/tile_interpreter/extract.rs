//! From MLIR to the kernel in plain Rust.

mod apply;

use super::{
    TileError,
    element::Element,
    input::Problem,
    program::{Action, Block, Node, Parameter, Register, TileType},
    table,
};
use crate::program::Place;
use apply::apply;
use async_pipeline_sys::ir::{self, Op, Type, TypeKind, Value};
use std::{collections::HashMap, sync::Arc};

/// Regions may nest this deep.
const MAX_NESTING: usize = 256;
/// Elements of all values of a kernel together: what a run has memory for.
const MAX_ELEMENTS: u64 = 1 << 25;

type Result<T> = std::result::Result<T, TileError>;

/// What extraction yields.
pub(super) struct Extracted {
    pub(super) parameters: Vec<Parameter>,
    pub(super) arguments: Vec<Register>,
    pub(super) body: Block,
    pub(super) registers: usize,
    /// Where the kernel is.
    pub(super) place: Place,
}

#[derive(Default)]
struct Extractor {
    registers: HashMap<Value, Register>,
    next: usize,
    elements: u64,
}

pub(super) fn place(op: Op) -> Place {
    Place::parse(&op.location().to_string())
}

fn problem<T>(op: Op, problem: Problem) -> Result<T> {
    Err(TileError::At {
        place: place(op),
        problem,
    })
}

fn form<T>(op: Op, what: &'static str) -> Result<T> {
    let op_name = op.name().to_owned();
    problem(op, Problem::UnknownForm { op: op_name, what })
}

/// Reads a kernel.
pub(super) fn extract(function: Op) -> Result<Extracted> {
    let mut extractor = Extractor::default();
    let Some(block) = function.body(0) else {
        return form(function, "it has no body");
    };
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for value in block.arguments() {
        let Some(parameter) = parameter(value.ty()) else {
            return problem(function, Problem::UnknownType(value.ty().to_string()));
        };
        parameters.push(parameter);
        arguments.push(extractor.define(function, value)?);
    }
    let (body, _) = extractor.region(function, 0, 0)?;
    Ok(Extracted {
        parameters,
        arguments,
        body,
        registers: extractor.next,
        place: place(function),
    })
}

fn parameter(ty: Type) -> Option<Parameter> {
    if !ty.is_memref() {
        return Element::of(ty).map(Parameter::Scalar);
    }
    if !ty.is_global_memref() {
        return None;
    }
    let (strides, offset) = ty.strides_and_offset()?;
    let shape: Vec<_> = ty
        .shape()
        .into_iter()
        .map(|extent| extent.map(|extent| extent.max(0).cast_unsigned()))
        .collect();
    (offset == Some(0)).then_some(Parameter::Array {
        element: Element::of(ty.element())?,
        shape,
        strides,
    })
}

fn tile_type(ty: Type) -> Option<TileType> {
    if !ty.is_vector() {
        let element = Element::of(ty)?;
        return Some(TileType {
            shape: Arc::default(),
            element,
        });
    }
    if ty.is_scalable() {
        return None;
    }
    shaped(ty)
}

/// Of a vector, or the tile of a buffer or accumulator.
fn shaped(ty: Type) -> Option<TileType> {
    let shape = ty
        .static_shape()
        .into_iter()
        .map(|extent| usize::try_from(extent).ok().filter(|extent| *extent > 0))
        .collect::<Option<Vec<_>>>()?;
    Some(TileType {
        shape: shape.into(),
        element: Element::of(ty.element())?,
    })
}

impl Extractor {
    /// A new register for a value; counts its elements.
    fn define(&mut self, op: Op, value: Value) -> Result<Register> {
        let ty = value.ty();
        let elements = match ty.kind() {
            TypeKind::Buffer | TypeKind::Accumulator => shaped(ty.fields()[0]),
            TypeKind::Window => Some(TileType {
                shape: Arc::default(),
                element: Element::Index,
            }),
            _ if ty.is_memref() => parameter(ty).map(|_| TileType {
                shape: Arc::default(),
                element: Element::Index,
            }),
            _ => tile_type(ty),
        };
        let Some(elements) = elements else {
            return problem(op, Problem::UnknownType(ty.to_string()));
        };
        let elements = elements.shape.iter().fold(1_u64, |product, extent| {
            product.saturating_mul(*extent as u64)
        });
        self.elements = self.elements.saturating_add(elements);
        if self.elements > MAX_ELEMENTS {
            let (limit, got) = (MAX_ELEMENTS, self.elements);
            return problem(op, Problem::TooLarge { limit, got });
        }
        let register = Register(self.next);
        self.next += 1;
        self.registers.insert(value, register);
        Ok(register)
    }

    fn define_all(&mut self, op: Op, values: Vec<Value>) -> Result<Vec<Register>> {
        values
            .into_iter()
            .map(|value| self.define(op, value))
            .collect()
    }

    fn read(&self, op: Op, value: Value) -> Result<Register> {
        match self.registers.get(&value) {
            Some(register) => Ok(*register),
            None => problem(op, Problem::UnknownType(value.ty().to_string())),
        }
    }

    fn read_all(&self, op: Op, values: &[Value]) -> Result<Vec<Register>> {
        values.iter().map(|value| self.read(op, *value)).collect()
    }

    /// The block of a region, and what its terminator hands on.
    fn region(&mut self, op: Op, region: usize, depth: usize) -> Result<(Block, Vec<Register>)> {
        if depth >= MAX_NESTING {
            return problem(op, Problem::TooDeep(MAX_NESTING));
        }
        let blocks = op
            .regions()
            .get(region)
            .map(|region| region.blocks())
            .unwrap_or_default();
        match blocks[..] {
            [] => Ok((Block::default(), Vec::new())),
            [block] => self.block(block, depth),
            _ => problem(op, Problem::Unstructured),
        }
    }

    fn block(&mut self, source: ir::Block, depth: usize) -> Result<(Block, Vec<Register>)> {
        let mut block = Block::default();
        for op in source.ops() {
            match op.name() {
                "scf.yield" => return Ok((block, self.read_all(op, &op.operands())?)),
                "gpu.return" if op.operand_count() == 0 => break,
                _ => {
                    let node = self.node(op, depth)?;
                    block.nodes.push(node);
                }
            }
        }
        Ok((block, Vec::new()))
    }

    fn node(&mut self, op: Op, depth: usize) -> Result<Node> {
        let mut operands = op.operands();
        let action = match op.name() {
            "scf.for" => return self.for_node(op, depth),
            "scf.if" => return self.if_node(op, depth),
            "gpu.block_id" => Action::BlockId(dimension(op)?),
            "gpu.grid_dim" => Action::GridDim(dimension(op)?),
            "memref.dim" => Action::Dim,
            "memref.load" => match tile_type(op.result(0).ty()) {
                Some(ty) => Action::LoadScalar(ty.element),
                None => return form(op, "it loads more than a number"),
            },
            name => match (name.strip_prefix("async_pipeline."), table::find(name)) {
                (Some(rest), _) => self.tile_op(op, rest, &mut operands)?,
                (None, Some(row)) => apply(op, row)?,
                (None, None) => return problem(op, Problem::UnknownOp(name.to_owned())),
            },
        };
        Ok(Node {
            place: place(op),
            operands: self.read_all(op, &operands)?,
            results: self.define_all(op, op.results())?,
            action,
        })
    }

    fn for_node(&mut self, op: Op, depth: usize) -> Result<Node> {
        let operands = self.read_all(op, &op.operands())?;
        let arguments = op.body(0).map(|body| body.arguments()).unwrap_or_default();
        let [counter, ref carried @ ..] = arguments[..] else {
            return form(op, "the counter is missing");
        };
        let Some(element) = Element::of(counter.ty()) else {
            return problem(op, Problem::UnknownType(counter.ty().to_string()));
        };
        let counter = self.define(op, counter)?;
        let carried = self.define_all(op, carried.to_vec())?;
        let (body, yielded) = self.region(op, 0, depth + 1)?;
        Ok(Node {
            place: place(op),
            operands,
            results: self.define_all(op, op.results())?,
            action: Action::For {
                counter,
                element,
                unsigned: op.attr("unsignedCmp").is_some(),
                carried,
                body,
                yielded,
            },
        })
    }

    fn if_node(&mut self, op: Op, depth: usize) -> Result<Node> {
        let operands = self.read_all(op, &op.operands())?;
        let (then, then_yields) = self.region(op, 0, depth + 1)?;
        let (otherwise, otherwise_yields) = self.region(op, 1, depth + 1)?;
        Ok(Node {
            place: place(op),
            operands,
            results: self.define_all(op, op.results())?,
            action: Action::If {
                arms: [then, otherwise],
                yielded: [then_yields, otherwise_yields],
            },
        })
    }

    /// An op of our dialect; puts its operands into the order that the action names.
    fn tile_op(&mut self, op: Op, name: &str, operands: &mut Vec<Value>) -> Result<Action> {
        let flag = |name: &str| op.attr(name).is_some();
        let result = || op.result(0).ty();
        Ok(match name {
            "tile.alloc" => Action::Buffer,
            "tile.accumulator" => Action::Accumulator(known(op, result().fields()[0])?),
            "tile.window" => Action::Window {
                rank: op.operand_segment(1).len(),
            },
            "work.copy" => {
                let (source, target) = (op.operand_segment(0)[0], op.operand_segment(2)[0]);
                let loads = target.ty().kind() == TypeKind::Buffer;
                let (tile, tensor, indices) = if loads {
                    (target, source, op.operand_segment(1))
                } else {
                    (source, target, op.operand_segment(3))
                };
                if tile.ty().kind() != TypeKind::Buffer {
                    return form(op, "it copies a slot, which the tile level does not have");
                }
                *operands = [tensor, tile].into_iter().chain(indices).collect();
                let ty = known(op, tile.ty().fields()[0])?;
                if loads {
                    Action::CopyIn(ty)
                } else {
                    Action::CopyOut(ty)
                }
            }
            "work.mma" => {
                let tile = known(op, operands[0].ty().fields()[0])?;
                let a = operands[1].ty();
                let a = match a.kind() {
                    TypeKind::Buffer => known(op, a.fields()[0])?,
                    TypeKind::Other => known(op, a)?,
                    _ => return form(op, "it reads a slot, which the tile level does not have"),
                };
                Action::Mma {
                    m: tile.shape[0],
                    n: tile.shape[1],
                    k: a.shape[usize::from(!flag("transpose_a"))],
                    transpose_a: flag("transpose_a"),
                    transpose_b: flag("transpose_b"),
                }
            }
            "work.load" => match operands[0].ty().kind() {
                TypeKind::Buffer | TypeKind::Accumulator => Action::LoadTile(known(op, result())?),
                TypeKind::Slot => {
                    return form(op, "it reads a slot, which the tile level does not have");
                }
                _ => Action::LoadGlobal {
                    ty: known(op, result())?,
                    rank: op.operand_segment(1).len(),
                },
            },
            "work.store" => match operands[1].ty().kind() {
                TypeKind::Buffer | TypeKind::Accumulator => Action::StoreTile,
                TypeKind::Slot => {
                    return form(op, "it writes a slot, which the tile level does not have");
                }
                _ => Action::StoreGlobal {
                    ty: known(op, operands[0].ty())?,
                    add: flag("add"),
                },
            },
            _ => return problem(op, Problem::UnknownOp(op.name().to_owned())),
        })
    }
}

fn known(op: Op, ty: Type) -> Result<TileType> {
    shaped(ty).map_or_else(|| problem(op, Problem::UnknownType(ty.to_string())), Ok)
}

fn dimension(op: Op) -> Result<usize> {
    match op.attr("dimension").map(|text| text.to_string()).as_deref() {
        Some("#gpu<dim x>") => Ok(0),
        Some("#gpu<dim y>") => Ok(1),
        Some("#gpu<dim z>") => Ok(2),
        _ => form(op, "its dimension is not known"),
    }
}
