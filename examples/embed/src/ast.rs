//! A program as it is written.

use crate::source::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `kernel NAME(PARAMETERS) -> RESULT` and its statements.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: Name,
    /// What it reads.
    pub parameters: Vec<Parameter>,
    /// What it writes.
    pub result: Parameter,
    /// What it does.
    pub statements: Vec<Statement>,
}

/// `NAME: ELEMENT[DIMENSIONS]`
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// Its element type.
    pub element: Name,
    /// Its extents: none for a scalar.
    pub dimensions: Vec<Dimension>,
}

/// An extent: a number, or a name that is the same number wherever it stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Dimension {
    /// A number.
    Fixed(u64),
    /// A name.
    Named(String),
}

/// `NAME = EXPRESSION`
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What is made.
    pub name: Name,
    /// Of what.
    pub value: Expression,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands.
    pub span: Span,
    /// Levels below it, itself included.
    pub depth: usize,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A number.
    Number(f64),
    /// A parameter or an earlier statement.
    Name(String),
    /// `.T`
    Transpose(Box<Expression>),
    /// `-`
    Negate(Box<Expression>),
    /// Two operands.
    Binary(Operator, Span, Box<Expression>, Box<Expression>),
    /// A function and its arguments.
    Call(Name, Vec<Expression>),
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `@`, the matrix product.
    Product,
}
