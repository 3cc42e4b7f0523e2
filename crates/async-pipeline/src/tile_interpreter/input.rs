//! What a run needs to be told, and how it may fail.

use super::element::Element;
use crate::{Diagnostic, interpreter::ComputeError, program::Place};
use thiserror::Error;

/// A tensor in global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Type of one element.
    pub element: Element,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// Strides in elements, of the same length.
    pub strides: Vec<u64>,
    /// Its memory from the first element to the last, padding included. Floats are rounded
    /// to the element type when they are put in; integers are whole numbers with a sign.
    pub data: Vec<f64>,
}

impl Array {
    /// A row-major array without padding.
    pub fn new(element: Element, shape: &[u64], data: Vec<f64>) -> Self {
        let mut strides = vec![1_u64; shape.len()];
        for dimension in (1..shape.len()).rev() {
            strides[dimension - 1] = strides[dimension].saturating_mul(shape[dimension].max(1));
        }
        Self {
            element,
            shape: shape.to_vec(),
            strides,
            data,
        }
    }

    /// Elements of memory that shape and strides need; `None` if no memory is that large.
    pub(super) fn extent(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let mut last = 0_u64;
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            last = last.checked_add((extent - 1).checked_mul(*stride)?)?;
        }
        last.checked_add(1)
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor, for a memref.
    Array(Array),
    /// An integer or index.
    Integer(i64),
    /// A float.
    Float(f64),
}

/// A launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// Blocks (x, y, z); `None` asks the kernel's `async_pipeline.grid`.
    pub grid: Option<[u32; 3]>,
    /// Multiprocessors, where the kernel's grid asks for them.
    pub sm_count: i64,
    /// Steps after which a run is given up: ops, elements that are computed or moved, and
    /// products of matrices.
    pub max_steps: u64,
}

impl Launch {
    /// The kernel's own grid, one multiprocessor, 2^32 steps.
    pub fn new(arguments: Vec<Argument>) -> Self {
        Self {
            arguments,
            grid: None,
            sm_count: 1,
            max_steps: 1 << 32,
        }
    }
}

/// Why there is no result.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum TileError {
    /// The text is not a right module.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Rejected(Vec<Diagnostic>),
    /// The module has no kernel, several and no name was given, or none of that name.
    #[error("{0}")]
    Kernel(#[from] KernelError),
    /// The kernel cannot be run, or went wrong.
    #[error("{place}: {problem}")]
    At {
        /// Where.
        place: Place,
        /// What.
        problem: Problem,
    },
    /// The launch does not fit the kernel.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A bug of ours.
    #[error("{0}")]
    Internal(String),
}

/// Which kernel is not there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// No kernel of that name.
    #[error("expected a kernel {name}, the module has: {}", .known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// None or several.
    #[error("expected one kernel or the name of one, the module has {0}")]
    Count(usize),
}

/// What is wrong with a kernel.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// An op that has no meaning at the tile level.
    #[error("cannot interpret '{0}' at the tile level")]
    UnknownOp(String),
    /// A form of an op.
    #[error("cannot interpret this form of '{op}': {what}")]
    UnknownForm {
        /// The op.
        op: String,
        /// What is special about it.
        what: &'static str,
    },
    /// A type that registers cannot hold.
    #[error("cannot interpret a value of type {0}")]
    UnknownType(String),
    /// A region with branches.
    #[error("cannot interpret branches between blocks; expected structured control flow")]
    Unstructured,
    /// Regions inside regions without end.
    #[error("regions nest more than {0} deep")]
    TooDeep(usize),
    /// Tiles that no run has memory for.
    #[error("expected values of at most {limit} elements in all, got {got}")]
    TooLarge {
        /// The most.
        limit: u64,
        /// What the kernel has.
        got: u64,
    },
    /// Steps are used up.
    #[error("given up after {0} steps")]
    Steps(u64),
    /// A step that leads nowhere.
    #[error("expected a step of at least 1, got {0}")]
    Step(i64),
    /// An undefined value.
    #[error("reads a buffer that nothing has been copied or stored into")]
    Undefined,
    /// An index outside a memref.
    #[error("index {index} is outside dimension {dimension} of extent {extent}")]
    Outside {
        /// The index.
        index: i64,
        /// Of which dimension.
        dimension: usize,
        /// Its extent.
        extent: i64,
    },
    /// An op without a result.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// A launch that a kernel does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Too many or too few arguments.
    #[error("expected {expected} arguments, got {got}")]
    ArgumentCount {
        /// What the kernel has.
        expected: usize,
        /// What was given.
        got: usize,
    },
    /// An argument of another kind.
    #[error("argument {index}: expected {expected}")]
    ArgumentKind {
        /// Which argument.
        index: usize,
        /// What the kernel has there.
        expected: String,
    },
    /// Extents or strides that contradict the argument's type.
    #[error(
        "argument {index}: expected extents and strides that match its type, got {shape:?} and {strides:?}"
    )]
    Shape {
        /// Which argument.
        index: usize,
        /// The extents as given.
        shape: Vec<u64>,
        /// The strides as given.
        strides: Vec<u64>,
    },
    /// Too little or too much memory.
    #[error("argument {index}: expected {expected} elements of data, got {got}")]
    Data {
        /// Which argument.
        index: usize,
        /// What shape and strides need.
        expected: u64,
        /// What was given.
        got: u64,
    },
    /// No grid is known, or a wrong one.
    #[error("{0}")]
    Grid(String),
}
