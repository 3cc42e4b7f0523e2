//! From a checked kernel to one of the tile level, through the builder of async-pipeline.
//!
//! Each block makes one tile of the result. Every product is a loop over K that copies tiles
//! of both factors and adds up in an accumulator; the rest is arithmetic on register values.
//! The positions of the source go along, so that whatever the compiler has to say about an op
//! it says about the text that the op was made from.

mod functions;

use crate::{
    ast::{Dimension, Operator},
    source::{Diagnostic, Source, Span},
    typed::{Factor, Kernel, Node, NodeKind, Parameter},
};
use async_pipeline::builder::{
    self, Axis, BinaryOp, BuildError, Element, Index, KernelBuilder, Loop, Shape, Tensor,
    TensorType, UnaryOp, Value, ValueType,
};

/// Rows of a block's tile.
const ROWS: u64 = 128;
/// Bytes of a factor's tile along K: a row of the widest swizzle of shared memory.
const DEPTH_BYTES: u64 = 128;
/// Tiles of each factor in flight; shared memory may hold fewer.
const STAGES: u32 = 4;

/// Makes the tile-level kernel.
///
/// # Errors
/// What the builder refuses, at its place in the source.
pub fn lower(source: &Source, kernel: &Kernel) -> Result<builder::Kernel, Diagnostic> {
    build(source, kernel).map_err(|error| {
        let start = source.offset(error.place.line, error.place.column);
        Diagnostic::error(Span { start, end: start }, error.problem.to_string())
    })
}

fn build(source: &Source, kernel: &Kernel) -> Result<builder::Kernel, BuildError> {
    let mut k = KernelBuilder::new(&kernel.name)?;
    at(&mut k, source, kernel.span);
    let mut arguments = Vec::new();
    for parameter in &kernel.parameters {
        at(&mut k, source, parameter.span);
        arguments.push(if parameter.dimensions.is_empty() {
            Argument::Scalar(k.scalar(&parameter.name, parameter.element)?)
        } else {
            Argument::Tensor(tensor(&mut k, parameter)?)
        });
    }
    at(&mut k, source, kernel.result.span);
    let result = tensor(&mut k, &kernel.result)?;
    let columns = columns(kernel);
    k.grid(&[
        result.extent(0).ceil_div(ROWS as u32),
        result.extent(1).ceil_div(columns as u32),
    ])?;
    let (row, column) = (k.block_id(Axis::X), k.block_id(Axis::Y));
    let (height, width) = (k.index(ROWS as i64), k.index(columns as i64));
    let (m, n) = (k.mul(row, height)?, k.mul(column, width)?);
    let loaded = vec![None; arguments.len()];
    let mut lowering = Lowering {
        k,
        source,
        arguments,
        columns,
        m,
        n,
        loaded,
        made: Vec::new(),
        products: 0,
    };
    for value in &kernel.values {
        let value = lowering.node(value)?;
        lowering.made.push(value);
    }
    lowering.at(kernel.result.span);
    if let Some(last) = lowering.made.last().copied() {
        let tile = lowering.spread(last, [ROWS, columns].into())?;
        let rounded = lowering.k.convert(tile, kernel.result.element)?;
        lowering.k.store_global(rounded, result, &[m, n])?;
    }
    Ok(lowering.k.finish())
}

fn at(k: &mut KernelBuilder, source: &Source, span: Span) {
    let (line, column) = source.position(span.start);
    k.at(&source.name, line, column);
}

fn tensor(k: &mut KernelBuilder, parameter: &Parameter) -> Result<Tensor, BuildError> {
    let mut ty = TensorType::new(parameter.element, parameter.dimensions.len());
    for (number, dimension) in parameter.dimensions.iter().enumerate() {
        if let Dimension::Fixed(extent) = dimension {
            ty = ty.extent(number, *extent);
        }
    }
    k.tensor(&parameter.name, &ty)
}

/// Columns of a block's tile: as many as shared memory has room for beside the rows.
fn columns(kernel: &Kernel) -> u64 {
    let wide = kernel
        .parameters
        .iter()
        .any(|one| one.dimensions.len() == 2 && one.element == Element::F32);
    if wide { 128 } else { 256 }
}

#[derive(Clone, Copy)]
enum Argument {
    Scalar(Value),
    Tensor(Tensor),
}

/// A value: one that is known now, or one of f32 in registers.
#[derive(Clone, Copy)]
enum Lowered {
    Number(f64),
    Value(Value),
}

struct Lowering<'a> {
    k: KernelBuilder,
    source: &'a Source,
    arguments: Vec<Argument>,
    columns: u64,
    /// First row and column of the block's tile.
    m: Index,
    n: Index,
    /// Parameters that have been read.
    loaded: Vec<Option<Value>>,
    /// Values of the statements so far.
    made: Vec<Lowered>,
    /// Products so far.
    products: usize,
}

impl Lowering<'_> {
    fn at(&mut self, span: Span) {
        at(&mut self.k, self.source, span);
    }

    fn node(&mut self, node: &Node) -> Result<Lowered, BuildError> {
        Ok(Lowered::Value(match &node.kind {
            NodeKind::Number(number) => return Ok(Lowered::Number(*number)),
            NodeKind::Statement(number) => return Ok(self.made[*number]),
            NodeKind::Parameter(number) => {
                self.at(node.at);
                self.parameter(*number)?
            }
            NodeKind::Product(a, b) => {
                self.at(node.at);
                self.product(*a, *b)?
            }
            NodeKind::Negate(operand) => {
                let operand = self.node(operand)?;
                self.at(node.at);
                match operand {
                    Lowered::Number(number) => return Ok(Lowered::Number(-number)),
                    Lowered::Value(value) => self.k.unary(UnaryOp::Neg, value)?,
                }
            }
            NodeKind::Binary(operator, a, b) => {
                let (a, b) = (self.node(a)?, self.node(b)?);
                self.at(node.at);
                if let (Lowered::Number(a), Lowered::Number(b)) = (a, b) {
                    return Ok(Lowered::Number(folded(*operator, a, b)));
                }
                let (a, b) = self.alike(a, b)?;
                self.k.binary(op(*operator), a, b)?
            }
            NodeKind::Call(function, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.node(argument)?);
                }
                self.at(node.at);
                match values[..] {
                    [a, b] => {
                        let (a, b) = self.alike(a, b)?;
                        functions::two(&mut self.k, *function, a, b)?
                    }
                    [a] => {
                        let a = self.spread(a, Shape::SCALAR)?;
                        functions::one(&mut self.k, *function, a)?
                    }
                    _ => self.k.float(Element::F32, 0.0)?,
                }
            }
        }))
    }

    /// Both values in the shape of the larger one.
    fn alike(&mut self, a: Lowered, b: Lowered) -> Result<(Value, Value), BuildError> {
        let shape = |value| match value {
            Lowered::Number(_) => Shape::SCALAR,
            Lowered::Value(value) => value.shape(),
        };
        let (left, right) = (shape(a), shape(b));
        let large = if left.extents().len() >= right.extents().len() {
            left
        } else {
            right
        };
        Ok((self.spread(a, large)?, self.spread(b, large)?))
    }

    /// A value in a shape that is not smaller than its own, or in its own.
    fn spread(&mut self, value: Lowered, shape: Shape) -> Result<Value, BuildError> {
        match value {
            Lowered::Number(number) => self.k.float(ValueType::new(Element::F32, shape), number),
            Lowered::Value(value) if shape == Shape::SCALAR => Ok(value),
            Lowered::Value(value) => self.k.broadcast(value, shape),
        }
    }

    /// The block's part of a parameter, in f32: all of a scalar, a row or a tile.
    fn parameter(&mut self, number: usize) -> Result<Value, BuildError> {
        if let Some(value) = self.loaded[number] {
            return Ok(value);
        }
        let value = match self.arguments[number] {
            Argument::Scalar(value) => value,
            Argument::Tensor(tensor) if tensor.rank() == 1 => {
                self.k
                    .load_global(tensor, &[self.n], [self.columns], None)?
            }
            Argument::Tensor(tensor) => {
                let shape = [ROWS, self.columns];
                self.k.load_global(tensor, &[self.m, self.n], shape, None)?
            }
        };
        let wide = self.k.convert(value, Element::F32)?;
        self.loaded[number] = Some(wide);
        Ok(wide)
    }

    fn product(&mut self, a: Factor, b: Factor) -> Result<Value, BuildError> {
        let (Argument::Tensor(left), Argument::Tensor(right)) =
            (self.arguments[a.parameter], self.arguments[b.parameter])
        else {
            // The checker lets matrices through only.
            return self.k.float(Element::F32, 0.0);
        };
        let (m, n, columns) = (self.m, self.n, self.columns);
        let depth = DEPTH_BYTES * 8 / u64::from(left.element().bits());
        // Names of buffers tell channels apart in reports: each stands once.
        self.products += 1;
        let name = |side: &str| format!("{side}{}", self.products);
        let extents = |across: u64, along_k_first: bool| {
            if along_k_first {
                [depth, across]
            } else {
                [across, depth]
            }
        };
        let (a_name, b_name) = (name("a"), name("b"));
        let k = &mut self.k;
        let a_tile = k.buffer(&a_name, left.element(), &extents(ROWS, a.transposed))?;
        let b_tile = k.buffer(&b_name, right.element(), &extents(columns, !b.transposed))?;
        let sum = k.accumulator(ROWS, columns)?;
        let (zero, step) = (k.index(0), k.index(depth as i64));
        let end = k.dim(left, usize::from(!a.transposed))?;
        k.for_each(Loop::new(zero, end, step).stages(STAGES), |k, i| {
            let place = |across: Index, along_k_first: bool| {
                if along_k_first {
                    [i, across]
                } else {
                    [across, i]
                }
            };
            k.copy_in(left, &place(m, a.transposed), a_tile)?;
            k.copy_in(right, &place(n, !b.transposed), b_tile)?;
            match (a.transposed, b.transposed) {
                (false, false) => k.mma(sum, a_tile, b_tile),
                (false, true) => k.mma(sum, a_tile, b_tile.transposed()),
                (true, false) => k.mma(sum, a_tile.transposed(), b_tile),
                (true, true) => k.mma(sum, a_tile.transposed(), b_tile.transposed()),
            }
        })?;
        k.load(sum)
    }
}

fn op(operator: Operator) -> BinaryOp {
    match operator {
        Operator::Add => BinaryOp::Add,
        Operator::Sub => BinaryOp::Sub,
        Operator::Div => BinaryOp::Div,
        // Products of matrices are nodes of their own.
        Operator::Mul | Operator::Product => BinaryOp::Mul,
    }
}

fn folded(operator: Operator, a: f64, b: f64) -> f64 {
    match operator {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Div => a / b,
        Operator::Mul | Operator::Product => a * b,
    }
}
