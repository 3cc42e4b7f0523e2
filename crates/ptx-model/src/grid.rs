//! Launch sizes as expressions.
//!
//! How many blocks a kernel needs depends on the sizes of its arguments, so the manifest holds an
//! expression, not a number. The same tree has a JSON form (through serde, in the manifest) and a
//! text form (in attributes and on command lines):
//!
//! ```
//! use ptx_model::grid::GridExpr;
//!
//! let grid: GridExpr = "min(ceildiv(dim(0, 0), 1024), 2 * sm_count)".parse()?;
//! assert_eq!(grid.to_string(), "min(ceildiv(dim(0, 0), 1024), 2 * sm_count)");
//! # Ok::<(), ptx_model::grid::ParseError>(())
//! ```

mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use parse::ParseError;

/// The deepest tree that is read, from text or from a manifest.
///
/// JSON needs two levels of nesting per level of the tree and `serde_json` stops at 128, so every
/// tree within this limit survives a round trip through a manifest.
pub const MAX_DEPTH: usize = 48;

/// A size in blocks (or bytes) as a function of a kernel's arguments and of the device.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum GridExpr {
    /// A number.
    Const(i64),
    /// The size of one dimension of a memref argument, in elements.
    Dim {
        /// Which argument, counted from 0 over all arguments.
        argument: u32,
        /// Which dimension, outermost first.
        dimension: u32,
    },
    /// The value of an integer scalar argument.
    Scalar {
        /// Which argument, counted from 0 over all arguments.
        argument: u32,
    },
    /// How many multiprocessors the device has.
    #[serde(rename = "sm_count")]
    SmCount,
    /// Sum.
    Add(Box<GridExpr>, Box<GridExpr>),
    /// Difference.
    Sub(Box<GridExpr>, Box<GridExpr>),
    /// Product.
    Mul(Box<GridExpr>, Box<GridExpr>),
    /// Quotient rounded toward minus infinity.
    Floordiv(Box<GridExpr>, Box<GridExpr>),
    /// Quotient rounded toward plus infinity.
    Ceildiv(Box<GridExpr>, Box<GridExpr>),
    /// The smaller of two.
    Min(Box<GridExpr>, Box<GridExpr>),
    /// The larger of two.
    Max(Box<GridExpr>, Box<GridExpr>),
}

/// What an expression may ask for while it is evaluated.
pub trait GridEnv {
    /// The size of a dimension of an argument, if the argument has that dimension.
    fn dim(&self, argument: u32, dimension: u32) -> Option<i64>;
    /// The value of an integer scalar argument.
    fn scalar(&self, argument: u32) -> Option<i64>;
    /// The number of multiprocessors, if a device is known.
    fn sm_count(&self) -> Option<i64>;
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// A divisor is 0.
    #[error("division by zero in `{0}`")]
    DivisionByZero(String),
    /// A value leaves the range of 64-bit integers.
    #[error("`{0}` overflows 64 bits")]
    Overflow(String),
    /// The environment does not know what the expression asks for.
    #[error("`{0}` has no value here")]
    Unknown(String),
}

impl GridExpr {
    /// The value of the expression.
    ///
    /// # Errors
    /// Division by zero, overflow, and a leaf that `env` does not know.
    pub fn eval(&self, env: &impl GridEnv) -> Result<i64, GridError> {
        let unknown = || GridError::Unknown(self.to_string());
        let Some((lhs, rhs)) = self.operands() else {
            return match self {
                Self::Dim {
                    argument,
                    dimension,
                } => env.dim(*argument, *dimension).ok_or_else(unknown),
                Self::Scalar { argument } => env.scalar(*argument).ok_or_else(unknown),
                Self::SmCount => env.sm_count().ok_or_else(unknown),
                Self::Const(value) => Ok(*value),
                _ => Err(unknown()),
            };
        };
        let (a, b) = (lhs.eval(env)?, rhs.eval(env)?);
        let divides = matches!(self, Self::Floordiv(..) | Self::Ceildiv(..));
        if divides && b == 0 {
            return Err(GridError::DivisionByZero(self.to_string()));
        }
        let value = match self {
            Self::Add(..) => a.checked_add(b),
            Self::Sub(..) => a.checked_sub(b),
            Self::Mul(..) => a.checked_mul(b),
            Self::Floordiv(..) => floor_div(a, b),
            Self::Ceildiv(..) => ceil_div(a, b),
            Self::Min(..) => Some(a.min(b)),
            _ => Some(a.max(b)),
        };
        value.ok_or_else(|| GridError::Overflow(self.to_string()))
    }

    /// How many levels the tree has; a leaf has one.
    pub fn depth(&self) -> usize {
        match self.operands() {
            Some((lhs, rhs)) => 1 + lhs.depth().max(rhs.depth()),
            None => 1,
        }
    }

    /// Calls `visit` on every leaf, left to right.
    pub fn for_each_leaf(&self, visit: &mut impl FnMut(&GridExpr)) {
        match self.operands() {
            Some((lhs, rhs)) => {
                lhs.for_each_leaf(visit);
                rhs.for_each_leaf(visit);
            }
            None => visit(self),
        }
    }

    fn operands(&self) -> Option<(&GridExpr, &GridExpr)> {
        match self {
            Self::Add(a, b)
            | Self::Sub(a, b)
            | Self::Mul(a, b)
            | Self::Floordiv(a, b)
            | Self::Ceildiv(a, b)
            | Self::Min(a, b)
            | Self::Max(a, b) => Some((a, b)),
            Self::Const(_) | Self::Dim { .. } | Self::Scalar { .. } | Self::SmCount => None,
        }
    }

    /// How tightly the printed form binds: 1 sums, 2 products, 3 everything else.
    fn precedence(&self) -> u8 {
        match self {
            Self::Add(..) | Self::Sub(..) => 1,
            Self::Mul(..) => 2,
            _ => 3,
        }
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let inexact = a.checked_rem(b)? != 0;
    Some(quotient - i64::from(inexact && (a < 0) != (b < 0)))
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let inexact = a.checked_rem(b)? != 0;
    Some(quotient + i64::from(inexact && (a < 0) == (b < 0)))
}

impl fmt::Display for GridExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = |f: &mut fmt::Formatter<'_>, name: &str, a: &GridExpr, b: &GridExpr| {
            write!(f, "{name}({a}, {b})")
        };
        match self {
            Self::Const(value) => write!(f, "{value}"),
            Self::Dim {
                argument,
                dimension,
            } => write!(f, "dim({argument}, {dimension})"),
            Self::Scalar { argument } => write!(f, "scalar({argument})"),
            Self::SmCount => f.write_str("sm_count"),
            Self::Add(a, b) => infix(f, "+", self.precedence(), a, b),
            Self::Sub(a, b) => infix(f, "-", self.precedence(), a, b),
            Self::Mul(a, b) => infix(f, "*", self.precedence(), a, b),
            Self::Floordiv(a, b) => call(f, "floordiv", a, b),
            Self::Ceildiv(a, b) => call(f, "ceildiv", a, b),
            Self::Min(a, b) => call(f, "min", a, b),
            Self::Max(a, b) => call(f, "max", a, b),
        }
    }
}

/// Prints `lhs op rhs`. The operators are left-associative, so a right operand of the same
/// precedence keeps its parentheses: what is printed parses back to the same tree.
fn infix(
    f: &mut fmt::Formatter<'_>,
    operator: &str,
    precedence: u8,
    lhs: &GridExpr,
    rhs: &GridExpr,
) -> fmt::Result {
    let side = |f: &mut fmt::Formatter<'_>, parenthesise: bool, expr: &GridExpr| {
        if parenthesise {
            write!(f, "({expr})")
        } else {
            write!(f, "{expr}")
        }
    };
    side(f, lhs.precedence() < precedence, lhs)?;
    write!(f, " {operator} ")?;
    side(f, rhs.precedence() <= precedence, rhs)
}

#[cfg(test)]
mod tests;
