//! How many blocks a kernel is launched with.

use super::{BuildProblem, Operand, Tensor, handle::Name, types::dimension_of};
use ptx_model::grid::{GridExpr, MAX_DEPTH};

/// An extent of a kernel's grid, in blocks: an expression over extents of tensors and integer
/// arguments that launchers evaluate.
///
/// ```
/// use async_pipeline::builder::GridExtent;
///
/// // As many blocks as the device has multiprocessors, twice.
/// let persistent = GridExtent::sm_count().times(2);
/// ```
///
/// What is wrong with one is reported by [`KernelBuilder::grid`](super::KernelBuilder::grid).
#[derive(Clone, Debug)]
pub struct GridExtent {
    expression: GridExpr,
    depth: usize,
    /// Whose arguments it names.
    kernel: Option<u64>,
    problem: Option<BuildProblem>,
}

type Combine = fn(Box<GridExpr>, Box<GridExpr>) -> GridExpr;

impl GridExtent {
    fn leaf(expression: GridExpr) -> Self {
        Self {
            expression,
            depth: 1,
            kernel: None,
            problem: None,
        }
    }

    fn wrong(problem: BuildProblem) -> Self {
        Self {
            problem: Some(problem),
            ..Self::leaf(GridExpr::Const(1))
        }
    }

    pub(super) fn extent_of(tensor: &Tensor, dimension: usize) -> Self {
        if dimension >= tensor.rank {
            return Self::wrong(dimension_of(tensor.rank, dimension));
        }
        let leaf = Self::leaf(GridExpr::Dim {
            argument: tensor.argument,
            dimension: dimension as u32,
        });
        Self {
            kernel: Some(tensor.id.kernel),
            ..leaf
        }
    }

    /// The value of an integer or index argument.
    pub fn argument(argument: impl Operand) -> Self {
        let value = argument.into();
        let Name::Argument(number) = value.id.name else {
            return Self::wrong(BuildProblem::GridValue);
        };
        if value.element().is_float() {
            return Self::wrong(BuildProblem::Elements {
                what: "arguments in a grid",
                allowed: "integers",
                got: value.element(),
            });
        }
        Self {
            kernel: Some(value.id.kernel),
            ..Self::leaf(GridExpr::Scalar { argument: number })
        }
    }

    /// How many multiprocessors the device has.
    pub fn sm_count() -> Self {
        Self::leaf(GridExpr::SmCount)
    }

    fn combine(self, other: Self, combine: Combine) -> Self {
        let depth = 1 + self.depth.max(other.depth);
        let both = (self.kernel, other.kernel);
        let foreign = matches!(both, (Some(a), Some(b)) if a != b);
        let problem = self
            .problem
            .or(other.problem)
            .or(foreign.then_some(BuildProblem::Foreign))
            .or((depth > MAX_DEPTH).then_some(BuildProblem::GridDepth(MAX_DEPTH)));
        if let Some(problem) = problem {
            return Self::wrong(problem);
        }
        Self {
            expression: combine(Box::new(self.expression), Box::new(other.expression)),
            depth,
            kernel: both.0.or(both.1),
            problem: None,
        }
    }

    /// The sum.
    pub fn plus(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Add)
    }

    /// The difference.
    pub fn minus(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Sub)
    }

    /// The product.
    pub fn times(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Mul)
    }

    /// The quotient, rounded up: how many tiles of this size cover the extent.
    pub fn ceil_div(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Ceildiv)
    }

    /// The quotient, rounded down.
    pub fn floor_div(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Floordiv)
    }

    /// The smaller of both.
    pub fn min(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Min)
    }

    /// The larger of both.
    pub fn max(self, other: impl Into<GridExtent>) -> Self {
        self.combine(other.into(), GridExpr::Max)
    }

    /// The expression as text, for a kernel.
    pub(super) fn text(&self, kernel: u64) -> Result<String, BuildProblem> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.kernel.is_some_and(|mine| mine != kernel) {
            return Err(BuildProblem::Foreign);
        }
        let mut constant = true;
        self.expression
            .for_each_leaf(&mut |leaf| constant &= matches!(leaf, GridExpr::Const(_)));
        let blocks = match self.expression.eval(&NoLaunch) {
            Ok(blocks) => i128::from(blocks),
            Err(_) => i128::from(!constant),
        };
        if constant && !(1..=i128::from(u32::MAX)).contains(&blocks) {
            return Err(BuildProblem::Range {
                what: "blocks",
                least: 1,
                most: i64::from(u32::MAX),
                got: blocks,
            });
        }
        Ok(self.expression.to_string())
    }
}

/// A launch of which nothing is known.
struct NoLaunch;

impl ptx_model::grid::GridEnv for NoLaunch {
    fn dim(&self, _: u32, _: u32) -> Option<i64> {
        None
    }

    fn scalar(&self, _: u32) -> Option<i64> {
        None
    }

    fn sm_count(&self) -> Option<i64> {
        None
    }
}

impl From<u32> for GridExtent {
    fn from(blocks: u32) -> Self {
        Self::leaf(GridExpr::Const(i64::from(blocks)))
    }
}
