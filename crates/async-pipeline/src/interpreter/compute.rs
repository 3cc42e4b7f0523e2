//! Functions of registers.

use super::value::{Value, signed, truncate};
use crate::program::{
    FloatBinary, FloatPredicate, FloatType, FloatUnary, Function, IntegerBinary, IntegerPredicate,
    Reduction,
};
use thiserror::Error;

/// Why a function has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ComputeError {
    /// The divisor is 0, or a quotient does not fit.
    #[error("a division by zero, or one whose quotient does not fit")]
    Division,
    /// A vector position outside the vector.
    #[error("position {0} is outside the vector")]
    Position(u64),
    /// An operand that was never computed, or not of the kind that is needed.
    #[error("an operand has no value of the kind that is needed")]
    Operand,
}

type Result<T> = std::result::Result<T, ComputeError>;

/// Applies a function.
pub(super) fn evaluate(function: &Function, operands: &[&Value]) -> Result<Value> {
    let operand = |index: usize| operands.get(index).copied().ok_or(ComputeError::Operand);
    match function {
        Function::Scalar(bits) => Ok(Value::Bits(*bits)),
        Function::Vector(lanes) => Ok(Value::Vector(lanes[..].into())),
        Function::Copy => operand(0).cloned(),
        Function::Integer(binary, width) => each2(operand(0)?, operand(1)?, |a, b| {
            integer(*binary, *width, a, b)
        }),
        Function::IntegerCompare(predicate, width) => each2(operand(0)?, operand(1)?, |a, b| {
            Ok(u64::from(compare_integers(*predicate, *width, a, b)))
        }),
        Function::Float(binary, format) => each2(operand(0)?, operand(1)?, |a, b| {
            Ok(float(*binary, *format, a, b))
        }),
        Function::FloatUnary(unary, format) => {
            each1(operand(0)?, |a| Ok(float_unary(*unary, *format, a)))
        }
        Function::FloatCompare(predicate, format) => each2(operand(0)?, operand(1)?, |a, b| {
            Ok(u64::from(compare_floats(
                *predicate,
                format.decode(a),
                format.decode(b),
            )))
        }),
        Function::Fma(format) => {
            let (a, b, c) = (operand(0)?, operand(1)?, operand(2)?);
            each3(a, b, c, |a, b, c| fma(*format, a, b, c))
        }
        Function::IntegerAbs(width) => each1(operand(0)?, |a| {
            Ok(truncate(signed(a, *width).unsigned_abs(), *width))
        }),
        Function::Select => select(operand(0)?, operand(1)?, operand(2)?),
        Function::ExtendS(from, to) => each1(operand(0)?, |a| {
            Ok(truncate(signed(a, *from).cast_unsigned(), *to))
        }),
        Function::ExtendU(_, to) => each1(operand(0)?, |a| Ok(truncate(a, *to))),
        Function::Float2Float(from, to) => each1(operand(0)?, |a| Ok(to.encode(from.decode(a)))),
        Function::Int2Float(from, is_signed, to) => {
            each1(operand(0)?, |a| Ok(int_to_float(a, *from, *is_signed, *to)))
        }
        Function::Float2Int(from, to, is_signed) => each1(operand(0)?, |a| {
            Ok(float_to_int(from.decode(a), *to, *is_signed))
        }),
        Function::Rearrange { picks, scalar } => rearrange(picks, *scalar, operands),
        Function::Extract {
            positions,
            lanes,
            scalar,
        } => {
            let start = position(positions, operands.get(1..).unwrap_or_default())?;
            let taken = operand(0)?
                .lanes()
                .get(start..start.saturating_add(*lanes as usize))
                .ok_or(ComputeError::Operand)?;
            from_lanes(taken.iter().copied().map(Ok), *scalar)
        }
        Function::Insert { positions } => {
            let start = position(positions, operands.get(2..).unwrap_or_default())?;
            let mut lanes = operand(1)?.lanes().to_vec();
            let inserted = operand(0)?.lanes();
            lanes
                .get_mut(start..start.saturating_add(inserted.len()))
                .ok_or(ComputeError::Operand)?
                .copy_from_slice(inserted);
            Ok(Value::Vector(lanes.into()))
        }
        Function::Reduce(reduction) => reduce(*reduction, operand(0)?, operands.get(1).copied()),
    }
}

fn from_lanes(lanes: impl Iterator<Item = Result<u64>>, scalar: bool) -> Result<Value> {
    let mut lanes = lanes;
    if scalar {
        return lanes.next().ok_or(ComputeError::Operand)?.map(Value::Bits);
    }
    Ok(Value::Vector(lanes.collect::<Result<Vec<_>>>()?.into()))
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Bits(_))
}

fn each1(a: &Value, apply: impl Fn(u64) -> Result<u64>) -> Result<Value> {
    from_lanes(a.lanes().iter().map(|a| apply(*a)), is_scalar(a))
}

fn each2(a: &Value, b: &Value, apply: impl Fn(u64, u64) -> Result<u64>) -> Result<Value> {
    if let (Value::Bits(a), Value::Bits(b)) = (a, b) {
        return apply(*a, *b).map(Value::Bits);
    }
    from_lanes(
        a.lanes().iter().zip(b.lanes()).map(|(a, b)| apply(*a, *b)),
        is_scalar(a),
    )
}

fn each3(a: &Value, b: &Value, c: &Value, apply: impl Fn(u64, u64, u64) -> u64) -> Result<Value> {
    let lanes = a.lanes().iter().zip(b.lanes()).zip(c.lanes());
    from_lanes(lanes.map(|((a, b), c)| Ok(apply(*a, *b, *c))), is_scalar(a))
}

fn select(condition: &Value, yes: &Value, no: &Value) -> Result<Value> {
    match condition {
        Value::Bits(0) => Ok(no.clone()),
        Value::Bits(_) => Ok(yes.clone()),
        Value::Vector(mask) => {
            let lanes = mask.iter().zip(yes.lanes().iter().zip(no.lanes()));
            from_lanes(
                lanes.map(|(m, (yes, no))| Ok(if *m != 0 { *yes } else { *no })),
                false,
            )
        }
        Value::Empty | Value::View(_) => Err(ComputeError::Operand),
    }
}

fn rearrange(picks: &[u32], scalar: bool, operands: &[&Value]) -> Result<Value> {
    let pick = |lane: &u32| {
        let mut lane = *lane as usize;
        for operand in operands {
            let lanes = operand.lanes();
            match lanes.get(lane) {
                Some(bits) => return Ok(*bits),
                None => lane -= lanes.len(),
            }
        }
        Err(ComputeError::Operand)
    };
    from_lanes(picks.iter().map(pick), scalar)
}

/// Number of the first lane at a position.
fn position(steps: &[(u64, u64)], values: &[&Value]) -> Result<usize> {
    let mut start = 0;
    for ((step, extent), value) in steps.iter().zip(values) {
        let at = value.bits().ok_or(ComputeError::Operand)?;
        if at >= *extent {
            return Err(ComputeError::Position(at));
        }
        start += at * step;
    }
    Ok(start as usize)
}

fn reduce(reduction: Reduction, vector: &Value, start: Option<&Value>) -> Result<Value> {
    let first = start.and_then(Value::bits);
    let mut lanes = vector.lanes().iter().copied();
    let mut result = first
        .or_else(|| lanes.next())
        .ok_or(ComputeError::Operand)?;
    for lane in lanes {
        result = match reduction {
            Reduction::Integer(binary, width) => integer(binary, width, result, lane)?,
            Reduction::Float(binary, format) => float(binary, format, result, lane),
        };
    }
    Ok(Value::Bits(result))
}

pub(crate) fn integer(binary: IntegerBinary, width: u32, a: u64, b: u64) -> Result<u64> {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let division = |value: Option<i64>| value.map(i64::cast_unsigned).ok_or(ComputeError::Division);
    let shifts = b < u64::from(width);
    let value = match binary {
        IntegerBinary::Add => a.wrapping_add(b),
        IntegerBinary::Sub => a.wrapping_sub(b),
        IntegerBinary::Mul => a.wrapping_mul(b),
        IntegerBinary::DivS => division(sa.checked_div(sb))?,
        IntegerBinary::DivU => a.checked_div(b).ok_or(ComputeError::Division)?,
        IntegerBinary::RemS => division(sa.checked_rem(sb))?,
        IntegerBinary::RemU => a.checked_rem(b).ok_or(ComputeError::Division)?,
        IntegerBinary::CeilDivS => division(rounded_division(sa, sb, true))?,
        IntegerBinary::FloorDivS => division(rounded_division(sa, sb, false))?,
        IntegerBinary::CeilDivU => {
            if b == 0 {
                return Err(ComputeError::Division);
            }
            a.div_ceil(b)
        }
        IntegerBinary::And => a & b,
        IntegerBinary::Or => a | b,
        IntegerBinary::Xor => a ^ b,
        // Too large a shift is poison in MLIR; all bits gone is one of its values.
        IntegerBinary::ShiftLeft => {
            if shifts {
                a << b
            } else {
                0
            }
        }
        IntegerBinary::ShiftRightU => {
            if shifts {
                a >> b
            } else {
                0
            }
        }
        IntegerBinary::ShiftRightS => (sa >> b.min(63)).cast_unsigned(),
        IntegerBinary::MinS => sa.min(sb).cast_unsigned(),
        IntegerBinary::MaxS => sa.max(sb).cast_unsigned(),
        IntegerBinary::MinU => a.min(b),
        IntegerBinary::MaxU => a.max(b),
    };
    Ok(truncate(value, width))
}

fn rounded_division(a: i64, b: i64, up: bool) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let exact = a.checked_rem(b)? == 0;
    Some(match ((a < 0) == (b < 0), exact) {
        (true, false) if up => quotient + 1,
        (false, false) if !up => quotient - 1,
        _ => quotient,
    })
}

pub(crate) fn compare_integers(predicate: IntegerPredicate, width: u32, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(a, width), signed(b, width));
    match predicate {
        IntegerPredicate::Eq => a == b,
        IntegerPredicate::Ne => a != b,
        IntegerPredicate::Slt => sa < sb,
        IntegerPredicate::Sle => sa <= sb,
        IntegerPredicate::Sgt => sa > sb,
        IntegerPredicate::Sge => sa >= sb,
        IntegerPredicate::Ult => a < b,
        IntegerPredicate::Ule => a <= b,
        IntegerPredicate::Ugt => a > b,
        IntegerPredicate::Uge => a >= b,
    }
}

pub(crate) fn compare_floats(predicate: FloatPredicate, a: f64, b: f64) -> bool {
    match a.partial_cmp(&b) {
        Some(std::cmp::Ordering::Equal) => predicate.equal,
        Some(std::cmp::Ordering::Greater) => predicate.greater,
        Some(std::cmp::Ordering::Less) => predicate.less,
        None => predicate.unordered,
    }
}

/// In double precision and rounded once: right for the narrower formats, since a double
/// has more than twice their bits, for every function that IEEE rounds exactly.
fn float(binary: FloatBinary, format: FloatType, a: u64, b: u64) -> u64 {
    let (x, y) = (format.decode(a), format.decode(b));
    format.encode(match binary {
        FloatBinary::Add => x + y,
        FloatBinary::Sub => x - y,
        FloatBinary::Mul => x * y,
        FloatBinary::Div => x / y,
        FloatBinary::Rem => x % y,
        FloatBinary::Minimum | FloatBinary::Maximum if x.is_nan() || y.is_nan() => f64::NAN,
        FloatBinary::Minimum | FloatBinary::MinNum => x.min(y),
        FloatBinary::Maximum | FloatBinary::MaxNum => x.max(y),
        FloatBinary::Pow => x.powf(y),
        FloatBinary::Atan2 => x.atan2(y),
        FloatBinary::CopySign => x.copysign(y),
    })
}

fn float_unary(unary: FloatUnary, format: FloatType, a: u64) -> u64 {
    let x = format.decode(a);
    format.encode(match unary {
        FloatUnary::Neg => -x,
        FloatUnary::Abs => x.abs(),
        FloatUnary::Exp => x.exp(),
        FloatUnary::Exp2 => x.exp2(),
        FloatUnary::ExpM1 => x.exp_m1(),
        FloatUnary::Log => x.ln(),
        FloatUnary::Log2 => x.log2(),
        FloatUnary::Log10 => x.log10(),
        FloatUnary::Log1p => x.ln_1p(),
        FloatUnary::Sqrt => x.sqrt(),
        FloatUnary::Rsqrt => x.sqrt().recip(),
        FloatUnary::Sin => x.sin(),
        FloatUnary::Cos => x.cos(),
        FloatUnary::Tanh => x.tanh(),
        FloatUnary::Floor => x.floor(),
        FloatUnary::Ceil => x.ceil(),
        FloatUnary::Trunc => x.trunc(),
        FloatUnary::Round => x.round(),
        FloatUnary::RoundEven => x.round_ties_even(),
    })
}

fn fma(format: FloatType, a: u64, b: u64, c: u64) -> u64 {
    if format == FloatType::F32 {
        let value = |bits: u64| f32::from_bits(bits as u32);
        return u64::from(value(a).mul_add(value(b), value(c)).to_bits());
    }
    format.encode(format.decode(a).mul_add(format.decode(b), format.decode(c)))
}

fn int_to_float(bits: u64, width: u32, is_signed: bool, to: FloatType) -> u64 {
    let value = signed(bits, width);
    match (to, is_signed) {
        // By way of a double, a large integer would be rounded twice.
        (FloatType::F32, true) => u64::from((value as f32).to_bits()),
        (FloatType::F32, false) => u64::from((bits as f32).to_bits()),
        (_, true) => to.encode(value as f64),
        (_, false) => to.encode(bits as f64),
    }
}

pub(crate) fn float_to_int(value: f64, width: u32, is_signed: bool) -> u64 {
    if is_signed {
        let limit = 2_f64.powi(width as i32 - 1);
        let value = value.clamp(-limit, limit);
        let highest = truncate(u64::MAX, width - 1);
        return truncate(
            (value as i64).min(highest.cast_signed()).cast_unsigned(),
            width,
        );
    }
    (value as u64).min(truncate(u64::MAX, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(binary: IntegerBinary, a: i64, b: i64) -> Result<i64> {
        integer(binary, 32, truncate(a as u64, 32), truncate(b as u64, 32)).map(|v| signed(v, 32))
    }

    #[test]
    fn divisions_round_as_named_and_never_trap() {
        assert_eq!(int(IntegerBinary::CeilDivS, 7, 2), Ok(4));
        assert_eq!(int(IntegerBinary::CeilDivS, -7, 2), Ok(-3));
        assert_eq!(int(IntegerBinary::FloorDivS, -7, 2), Ok(-4));
        assert_eq!(int(IntegerBinary::FloorDivS, 6, 3), Ok(2));
        for binary in [
            IntegerBinary::DivS,
            IntegerBinary::DivU,
            IntegerBinary::RemS,
            IntegerBinary::RemU,
            IntegerBinary::CeilDivS,
            IntegerBinary::CeilDivU,
            IntegerBinary::FloorDivS,
        ] {
            assert_eq!(int(binary, 1, 0), Err(ComputeError::Division));
        }
        let min = 1 << 63;
        assert_eq!(
            integer(IntegerBinary::DivS, 64, min, u64::MAX),
            Err(ComputeError::Division)
        );
    }

    #[test]
    fn floats_become_integers_with_saturation() {
        assert_eq!(float_to_int(1e30, 32, true), 0x7fff_ffff);
        assert_eq!(float_to_int(-1e30, 32, true), 0x8000_0000);
        assert_eq!(float_to_int(-1.0, 32, false), 0);
        assert_eq!(float_to_int(f64::NAN, 32, true), 0);
        assert_eq!(float_to_int(-2.9, 32, true), truncate((-2_i64) as u64, 32));
    }

    #[test]
    fn lanes_are_picked_from_operands_side_by_side() {
        let (a, b) = (Value::Bits(7), Value::Vector([1, 2].into()));
        let function = Function::Rearrange {
            picks: [2, 0].into(),
            scalar: false,
        };
        assert_eq!(evaluate(&function, &[&a, &b]).unwrap().lanes(), [2, 7]);
        let outside = Function::Rearrange {
            picks: [3].into(),
            scalar: true,
        };
        assert_eq!(
            evaluate(&outside, &[&a, &b]).unwrap_err(),
            ComputeError::Operand
        );
    }
}
