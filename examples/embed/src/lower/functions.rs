//! The functions of the language, on f32 values of any shape.

use crate::typed::Function;
use async_pipeline::builder::{BinaryOp, BuildError, KernelBuilder, UnaryOp, Value};
use std::f64::consts::FRAC_1_SQRT_2;

/// A function of one value.
pub(super) fn one(
    k: &mut KernelBuilder,
    function: Function,
    x: Value,
) -> Result<Value, BuildError> {
    let op = match function {
        Function::Relu => {
            let zero = k.float(x.ty(), 0.0)?;
            return k.binary(BinaryOp::Max, x, zero);
        }
        Function::Gelu => return gelu(k, x),
        Function::Sigmoid => return sigmoid(k, x),
        Function::Silu => {
            let gate = sigmoid(k, x)?;
            return k.mul(x, gate);
        }
        Function::Tanh => UnaryOp::Tanh,
        Function::Exp => UnaryOp::Exp,
        Function::Log => UnaryOp::Log,
        Function::Sqrt => UnaryOp::Sqrt,
        Function::Abs => UnaryOp::Abs,
        // The checker counts arguments.
        Function::Max | Function::Min => return Ok(x),
    };
    k.unary(op, x)
}

/// A function of two values of one shape.
pub(super) fn two(
    k: &mut KernelBuilder,
    function: Function,
    a: Value,
    b: Value,
) -> Result<Value, BuildError> {
    let op = match function {
        Function::Min => BinaryOp::Min,
        _ => BinaryOp::Max,
    };
    k.binary(op, a, b)
}

/// x/2 · (1 + erf(x/√2))
fn gelu(k: &mut KernelBuilder, x: Value) -> Result<Value, BuildError> {
    let half = k.float(x.ty(), 0.5)?;
    let one = k.float(x.ty(), 1.0)?;
    let root = k.float(x.ty(), FRAC_1_SQRT_2)?;
    let scaled = k.mul(x, root)?;
    let error = k.unary(UnaryOp::Erf, scaled)?;
    let share = k.add(error, one)?;
    let halved = k.mul(x, half)?;
    k.mul(halved, share)
}

/// 1 / (1 + e⁻ˣ)
fn sigmoid(k: &mut KernelBuilder, x: Value) -> Result<Value, BuildError> {
    let one = k.float(x.ty(), 1.0)?;
    let negative = k.unary(UnaryOp::Neg, x)?;
    let power = k.unary(UnaryOp::Exp, negative)?;
    let below = k.add(power, one)?;
    k.div(one, below)
}
