//! Ops on register values.

use super::{
    element::{Element, sticky, sticky_fma},
    input::Problem,
    program::{Combine, TileType},
    table::{Apply, Convert, Row},
    tile::{Data, Tile},
};
use crate::{
    interpreter::{ComputeError, compare_floats, compare_integers, float_to_int, integer, signed},
    program::{FloatPredicate, IntegerPredicate},
};
use std::sync::Arc;

type Outcome = Result<Tile, Problem>;

const NO_OPERAND: Problem = Problem::Compute(ComputeError::Operand);

/// Runs a row of the table.
pub(super) fn apply(row: &Row, ty: &TileType, operands: &[Arc<Tile>]) -> Outcome {
    let operand = |index: usize| operands.get(index).map(|tile| &**tile).ok_or(NO_OPERAND);
    let data = match row.apply {
        Apply::Float1(function) => {
            let a = operand(0)?.data.floats();
            Data::Float(a.iter().map(|a| ty.element.round(function(*a))).collect())
        }
        Apply::Float2(function) => {
            let (a, b) = (operand(0)?.data.floats(), operand(1)?.data.floats());
            let pairs = a.iter().zip(b);
            Data::Float(
                pairs
                    .map(|(a, b)| ty.element.round(function(*a, *b)))
                    .collect(),
            )
        }
        Apply::Fma => {
            let (a, b) = (operand(0)?.data.floats(), operand(1)?.data.floats());
            let triples = a.iter().zip(b).zip(operand(2)?.data.floats());
            Data::Float(
                triples
                    .map(|((a, b), c)| fma(ty.element, *a, *b, *c))
                    .collect(),
            )
        }
        Apply::Int2(function) => {
            let (a, b) = (operand(0)?.data.ints(), operand(1)?.data.ints());
            let width = ty.element.bits();
            let pairs = a.iter().zip(b);
            Data::Int(
                pairs
                    .map(|(a, b)| integer(function, width, *a, *b))
                    .collect::<Result<_, _>>()?,
            )
        }
        Apply::IntAbs => {
            let width = ty.element.bits();
            let magnitude = |bits: &u64| ty.element.truncate(signed(*bits, width).unsigned_abs());
            Data::Int(operand(0)?.data.ints().iter().map(magnitude).collect())
        }
        Apply::Select => return select(operand(0)?, operand(1)?, operand(2)?),
        Apply::Convert(conversion) => convert(conversion, operand(0)?, ty.element),
        Apply::Broadcast => return Ok(operand(0)?.broadcast(&ty.shape)),
        Apply::ShapeCast => operand(0)?.data.clone(),
        Apply::Step => Data::Int((0..ty.shape.iter().product::<usize>() as u64).collect()),
        // Each has an action of its own.
        Apply::Constant | Apply::CompareInt | Apply::CompareFloat | Apply::Reduce => {
            return Err(NO_OPERAND);
        }
    };
    Ok(tile(ty, data))
}

fn tile(ty: &TileType, data: Data) -> Tile {
    Tile {
        shape: Arc::clone(&ty.shape),
        element: ty.element,
        data,
    }
}

fn fma(element: Element, a: f64, b: f64, c: f64) -> f64 {
    match element {
        Element::F64 => a.mul_add(b, c),
        Element::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
        _ => element.round(sticky_fma(a, b, c)),
    }
}

fn select(condition: &Tile, yes: &Tile, no: &Tile) -> Outcome {
    let mask = condition.data.ints();
    // One condition for whole values, or one per element.
    let holds = |at: usize| mask.get(at).or(mask.first()).is_some_and(|bit| *bit != 0);
    let data = match (&yes.data, &no.data) {
        (Data::Int(yes), Data::Int(no)) => {
            let pairs = yes.iter().zip(no).enumerate();
            Data::Int(
                pairs
                    .map(|(at, (yes, no))| if holds(at) { *yes } else { *no })
                    .collect(),
            )
        }
        (Data::Float(yes), Data::Float(no)) => {
            let pairs = yes.iter().zip(no).enumerate();
            Data::Float(
                pairs
                    .map(|(at, (yes, no))| if holds(at) { *yes } else { *no })
                    .collect(),
            )
        }
        _ => return Err(NO_OPERAND),
    };
    Ok(Tile {
        shape: Arc::clone(&yes.shape),
        element: yes.element,
        data,
    })
}

fn convert(conversion: Convert, source: &Tile, to: Element) -> Data {
    let from = source.element;
    let floats = |function: &dyn Fn(f64) -> u64| {
        Data::Int(source.data.floats().iter().map(|a| function(*a)).collect())
    };
    let ints = |function: &dyn Fn(u64) -> u64| {
        Data::Int(source.data.ints().iter().map(|a| function(*a)).collect())
    };
    let to_floats = |function: &dyn Fn(u64) -> f64| {
        Data::Float(source.data.ints().iter().map(|a| function(*a)).collect())
    };
    match conversion {
        // Infinities of f8E5M2 stay when the type gets wider.
        Convert::Float if to.bits() > from.bits() => source.data.clone(),
        Convert::Float => Data::Float(source.data.floats().iter().map(|a| to.round(*a)).collect()),
        Convert::SignedToFloat => to_floats(&|bits| {
            let value = signed(bits, from.bits());
            let magnitude = float_of(value.unsigned_abs(), to);
            if value < 0 { -magnitude } else { magnitude }
        }),
        Convert::UnsignedToFloat => to_floats(&|bits| float_of(bits, to)),
        Convert::FloatToSigned => floats(&|value| float_to_int(value, to.bits(), true)),
        Convert::FloatToUnsigned => floats(&|value| float_to_int(value, to.bits(), false)),
        Convert::SignExtend => ints(&|bits| to.truncate(signed(bits, from.bits()).cast_unsigned())),
        Convert::ZeroExtend => ints(&|bits| to.truncate(bits)),
    }
}

fn float_of(magnitude: u64, to: Element) -> f64 {
    match to {
        Element::F64 => magnitude as f64,
        _ => to.round(sticky(magnitude)),
    }
}

/// `arith.cmpi`
pub(super) fn compare_ints(
    predicate: IntegerPredicate,
    ty: &TileType,
    operands: &[Arc<Tile>],
) -> Outcome {
    let [a, b] = operands else {
        return Err(NO_OPERAND);
    };
    let width = a.element.bits();
    let pairs = a.data.ints().iter().zip(b.data.ints());
    let data = pairs
        .map(|(a, b)| u64::from(compare_integers(predicate, width, *a, *b)))
        .collect();
    Ok(tile(ty, Data::Int(data)))
}

/// `arith.cmpf`
pub(super) fn compare_all_floats(
    predicate: FloatPredicate,
    ty: &TileType,
    operands: &[Arc<Tile>],
) -> Outcome {
    let [a, b] = operands else {
        return Err(NO_OPERAND);
    };
    let pairs = a.data.floats().iter().zip(b.data.floats());
    let data = pairs
        .map(|(a, b)| u64::from(compare_floats(predicate, *a, *b)))
        .collect();
    Ok(tile(ty, Data::Int(data)))
}

/// `vector.multi_reduction`
pub(super) fn reduce(
    combine: Combine,
    dimensions: &[bool],
    ty: &TileType,
    source: &Tile,
    start: &Tile,
) -> Outcome {
    let groups = source.groups(dimensions);
    let data = match combine {
        Combine::Float(function) => {
            let (values, start) = (source.data.floats(), start.data.floats());
            let all = groups.iter().zip(start).map(|(group, start)| {
                // The start comes last, as a device adds it to what it has reduced.
                let mut values = group.iter().map(|at| values[*at]);
                let first = values.next().unwrap_or(*start);
                let inner = values.fold(first, function);
                ty.element.round(function(inner, *start))
            });
            Data::Float(all.collect())
        }
        Combine::Int(function) => {
            let width = ty.element.bits();
            let values = source.data.ints();
            let all = groups.iter().zip(start.data.ints()).map(|(group, start)| {
                group.iter().try_fold(*start, |result, at| {
                    integer(function, width, result, values[*at])
                })
            });
            Data::Int(all.collect::<Result<_, _>>()?)
        }
    };
    Ok(tile(ty, data))
}

/// Row-major rows×columns, of a matrix that may be stored the other way round.
pub(super) fn matrix(stored: &[f64], rows: usize, columns: usize, transpose: bool) -> Vec<f64> {
    if !transpose {
        return stored.to_vec();
    }
    (0..rows * columns)
        .map(|at| stored[at % columns * rows + at / columns])
        .collect()
}

/// An f32 value without its low 13 bits.
pub(super) fn tf32(value: f64) -> f64 {
    f64::from(f32::from_bits((value as f32).to_bits() & !0x1fff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_precision_operands_are_cut_off() {
        let bits = |bits: u32| f64::from(f32::from_bits(bits));
        assert_eq!(tf32(bits(0x3f80_1fff)), 1.0);
        assert_eq!(tf32(bits(0xbf80_3fff)), bits(0xbf80_2000));
        assert!(tf32(f64::NAN).is_nan());
        assert_eq!(tf32(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn transposed_matrices_are_turned() {
        assert_eq!(
            matrix(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2, true),
            [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
        );
    }
}
