//! Why a kernel cannot be built.

use super::{Element, ValueType};
use crate::program::Place;
use thiserror::Error;

/// An op that would make no right kernel, and the place of the front end's own source that
/// was current then. The op has left nothing behind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct BuildError {
    /// What [`KernelBuilder::at`](super::KernelBuilder::at) was told last, or unknown.
    pub place: Place,
    /// What is wrong.
    pub problem: BuildProblem,
}

/// What is wrong with an op.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildProblem {
    /// A name that the manifest or PTX could not carry.
    #[error("expected {what} of letters, digits and `_`, not beginning with a digit, got `{got}`")]
    Identifier {
        /// Name of what.
        what: &'static str,
        /// The name.
        got: String,
    },
    /// A name that reports could not carry.
    #[error("expected a buffer name of letters, digits, `_`, `-` and `.`, got `{0}`")]
    BufferName(String),
    /// Two arguments of one name.
    #[error("the kernel already has an argument `{0}`")]
    Duplicate(String),
    /// A handle that another builder made.
    #[error("expected handles of this kernel, got one of another")]
    Foreign,
    /// A handle that was made in a loop or branch which has ended.
    #[error("a value made inside a loop or branch is not there outside it")]
    OutOfScope,
    /// Loops and branches without end.
    #[error("loops and branches nest more than {0} deep")]
    TooDeep(usize),
    /// An op that does not exist for its operands.
    #[error("`{op}` does not exist for {ty}")]
    Unsupported {
        /// The op.
        op: &'static str,
        /// Type of its operand.
        ty: ValueType,
    },
    /// A value of another type.
    #[error("expected a value of type {expected}, got {got}")]
    Type {
        /// The type that would be right.
        expected: ValueType,
        /// The type as given.
        got: ValueType,
    },
    /// Memory or a value of another element type.
    #[error("expected elements of {expected}, got {got}")]
    Element {
        /// The element type that would be right.
        expected: Element,
        /// The element type as given.
        got: Element,
    },
    /// An element type that has no place here.
    #[error("expected {what} of {allowed}, got {got}")]
    Elements {
        /// What has the elements.
        what: &'static str,
        /// The element types there are.
        allowed: &'static str,
        /// The element type as given.
        got: Element,
    },
    /// Too many or too few of something.
    #[error("expected {expected} {what}, got {got}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many would be right.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A reduction along no dimension, or along one twice.
    #[error("expected one or more different dimensions to reduce, got {0:?}")]
    Dimensions(Vec<usize>),
    /// A number, size or rank that is out of range.
    #[error("expected {what} from {least} to {most}, got {got}")]
    Range {
        /// Which number.
        what: &'static str,
        /// The least.
        least: i64,
        /// The most.
        most: i64,
        /// The number as given.
        got: i128,
    },
    /// A contract about addresses that no copy needs.
    #[error("expected an alignment of 4, 8 or 16 bytes, got {0}")]
    Align(u32),
    /// An extent that registers cannot be laid out for.
    #[error("expected extents of register values to be powers of two, got {0}")]
    PowerOfTwo(ValueType),
    /// A constant that its type does not hold.
    #[error("expected a constant that {element} holds, got {value}")]
    Constant {
        /// The element type.
        element: Element,
        /// The constant.
        value: String,
    },
    /// A broadcast to a shape that the value does not fit.
    #[error(
        "expected a value that repeats along new outer dimensions and extents of 1 only, got {from} for {to}"
    )]
    Broadcast {
        /// The value.
        from: ValueType,
        /// The result.
        to: ValueType,
    },
    /// A change of shape that changes the number of elements.
    #[error("expected as many elements before as after, got {from} for {to}")]
    ShapeCast {
        /// The value.
        from: ValueType,
        /// The result.
        to: ValueType,
    },
    /// A matrix product of shapes that do not fit.
    #[error(
        "expected shapes MxN += MxK * KxN, got {}x{} += {}x{} * {}x{}",
        .accumulator[0], .accumulator[1], .a[0], .a[1], .b[0], .b[1]
    )]
    Product {
        /// Rows and columns of the accumulator.
        accumulator: [u64; 2],
        /// Rows and columns of A, transposed where it says so.
        a: [u64; 2],
        /// Rows and columns of B, transposed where it says so.
        b: [u64; 2],
    },
    /// An expression whose tree is deeper than launchers read.
    #[error("grid expressions nest more than {0} deep")]
    GridDepth(usize),
    /// The value of something that is known in the kernel only.
    #[error("expected a grid of arguments and constants, got a value that the kernel computes")]
    GridValue,
}
