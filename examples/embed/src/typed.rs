//! A program that has been checked: every name is resolved and every value has a shape.

use crate::{
    ast::{Dimension, Operator},
    source::Span,
};
use async_pipeline::builder::Element;

/// A kernel that is right.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// What it reads, in order.
    pub parameters: Vec<Parameter>,
    /// What it writes: of two dimensions.
    pub result: Parameter,
    /// The values of statements in order; the last one is the result.
    pub values: Vec<Node>,
}

/// Memory or a scalar that a kernel gets.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// Type of one element.
    pub element: Element,
    /// Extents, outermost first; at most two.
    pub dimensions: Vec<Dimension>,
}

/// Shape of a value: no extent, that of a row, or those of a tile.
pub type Shape = Vec<Dimension>;

/// An expression with its shape.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its shape.
    pub shape: Shape,
    /// Where messages about it belong: the operator, the name.
    pub at: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A number.
    Number(f64),
    /// A parameter, by its number.
    Parameter(usize),
    /// The value of an earlier statement, by its number.
    Statement(usize),
    /// A matrix product of two parameters.
    Product(Factor, Factor),
    /// `-`
    Negate(Box<Node>),
    /// `+ - * /`
    Binary(Operator, Box<Node>, Box<Node>),
    /// A function.
    Call(Function, Vec<Node>),
}

/// An operand of a matrix product.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    /// Which parameter.
    pub parameter: usize,
    /// Whether it is read transposed.
    pub transposed: bool,
}

/// A function of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The value where it is positive, else 0.
    Relu,
    /// x/2 · (1 + erf(x/√2))
    Gelu,
    /// x · sigmoid(x)
    Silu,
    /// 1 / (1 + e⁻ˣ)
    Sigmoid,
    /// tanh x
    Tanh,
    /// eˣ
    Exp,
    /// Natural logarithm.
    Log,
    /// √x
    Sqrt,
    /// The magnitude.
    Abs,
    /// The greater of two.
    Max,
    /// The smaller of two.
    Min,
}
