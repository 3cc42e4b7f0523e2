//! Ops on register values, by their row of the table.

use super::{Result, form, problem, tile_type};
use crate::{
    program::{
        FloatPredicate, FloatType, IntegerBinary, IntegerPredicate, ScalarType,
        extract::constant::dense,
    },
    tile_interpreter::{
        functions::{maximum, maxnum, minimum, minnum},
        input::Problem,
        program::{Action, Combine, TileType},
        table::{Apply, Row},
        tile::{Data, Tile},
    },
};
use async_pipeline_sys::ir::{Attr, Op};
use std::sync::Arc;

/// An op of the table.
pub(super) fn apply(op: Op, row: &'static Row) -> Result<Action> {
    let Some(ty) = tile_type(op.result(0).ty()) else {
        return problem(op, Problem::UnknownType(op.result(0).ty().to_string()));
    };
    // Of conversions, comparisons and selections the operand decides, of others the result.
    let decides = op.operands().last().map_or(ty.element, |operand| {
        tile_type(operand.ty()).map_or(ty.element, |ty| ty.element)
    });
    if !row.accepts(decides) {
        return form(op, "there is no arithmetic on its elements");
    }
    Ok(match row.apply {
        Apply::Constant => Action::Constant(constant(op, ty)?),
        Apply::CompareInt => match predicate(op).and_then(integer_predicate) {
            Some(predicate) => Action::CompareInt(predicate, ty),
            None => return form(op, "its predicate is not known"),
        },
        Apply::CompareFloat => match predicate(op).and_then(float_predicate) {
            Some(predicate) => Action::CompareFloat(predicate, ty),
            None => return form(op, "its predicate is not known"),
        },
        Apply::Reduce => reduce(op, ty)?,
        _ => Action::Apply(row, ty),
    })
}

fn predicate(op: Op) -> Option<i64> {
    op.attr("predicate")?.int()
}

fn integer_predicate(number: i64) -> Option<IntegerPredicate> {
    use IntegerPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let all = [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge];
    all.get(usize::try_from(number).ok()?).copied()
}

fn float_predicate(number: i64) -> Option<FloatPredicate> {
    // false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true
    let (relation, unordered) = match number {
        0..=7 => (number, false),
        8..=13 => (number - 7, true),
        14 => (0, true),
        15 => (7, true),
        _ => return None,
    };
    Some(FloatPredicate {
        equal: relation & 1 != 0,
        greater: relation & 2 != 0,
        less: relation & 4 != 0,
        unordered,
    })
}

fn constant(op: Op, ty: TileType) -> Result<Arc<Tile>> {
    let read = || -> Option<Data> {
        let attribute = op.attr("value")?;
        if ty.shape.is_empty() {
            return Some(if ty.element.is_float() {
                Data::Float(vec![attribute.float()?])
            } else {
                Data::Int(vec![ty.element.truncate(attribute.int()?.cast_unsigned())])
            });
        }
        let lanes = ty.shape.iter().product();
        let text = attribute.to_string();
        let scalar = ty.element.scalar_type();
        // Raw bytes of 8-bit floats are no decimals.
        if !ty.element.computes() && text.contains("0x") {
            return None;
        }
        let bits = dense(&text, lanes, scalar)?;
        Some(match scalar {
            ScalarType::Float(format) => {
                let values = bits.into_iter().map(|bits| FloatType::decode(format, bits));
                Data::Float(values.map(|value| ty.element.admit(value)).collect())
            }
            _ => Data::Int(bits),
        })
    };
    match read() {
        Some(data) => Ok(Arc::new(Tile {
            shape: ty.shape.clone(),
            element: ty.element,
            data,
        })),
        None => form(op, "its value cannot be read"),
    }
}

fn reduce(op: Op, ty: TileType) -> Result<Action> {
    let Some(source) = tile_type(op.operand(0).ty()) else {
        return problem(op, Problem::UnknownType(op.operand(0).ty().to_string()));
    };
    let mut dimensions = vec![false; source.shape.len()];
    for dimension in op
        .attr("reduction_dims")
        .map(Attr::dense_i64)
        .unwrap_or_default()
    {
        match usize::try_from(dimension)
            .ok()
            .and_then(|dimension| dimensions.get_mut(dimension))
        {
            Some(reduced) => *reduced = true,
            None => return form(op, "a dimension is not there"),
        }
    }
    let kind = op
        .attr("kind")
        .map(|kind| kind.to_string())
        .unwrap_or_default();
    let kind = kind
        .trim_start_matches("#vector.kind<")
        .trim_end_matches('>');
    let combine = if source.element.is_float() {
        Combine::Float(match kind {
            "add" => |a, b| a + b,
            "mul" => |a, b| a * b,
            "minnumf" => minnum,
            "maxnumf" => maxnum,
            "minimumf" => minimum,
            "maximumf" => maximum,
            _ => return form(op, "its kind is not known"),
        })
    } else {
        Combine::Int(match kind {
            "add" => IntegerBinary::Add,
            "mul" => IntegerBinary::Mul,
            "minsi" => IntegerBinary::MinS,
            "maxsi" => IntegerBinary::MaxS,
            "minui" => IntegerBinary::MinU,
            "maxui" => IntegerBinary::MaxU,
            "and" => IntegerBinary::And,
            "or" => IntegerBinary::Or,
            "xor" => IntegerBinary::Xor,
            _ => return form(op, "its kind is not known"),
        })
    };
    Ok(Action::Reduce {
        combine,
        dimensions,
        ty,
    })
}
