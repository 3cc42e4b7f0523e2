//! `vector` ops.

use super::{
    Extractor, Problem, Result,
    compute::{float_format, integer_width},
    i64_array, int_attr, problem, unknown_form,
};
use crate::program::{
    Block, FloatBinary, Function, IntegerBinary, MemoryAccess, Operation, Reduction, ScalarType,
    ValueType,
};
use async_pipeline_sys::ir::{Op, Value};

impl Extractor {
    pub(super) fn vector_op(&mut self, block: &mut Block, op: Op, name: &str) -> Result<()> {
        let operation = match name {
            "load" => {
                let access = self.vector_access(op, op.operands(), op.results())?;
                Operation::Load {
                    access,
                    result: self.result(op)?,
                }
            }
            "store" => {
                let value = self.operand(op, 0)?;
                let operands = op.operands();
                let access = self.vector_access(op, operands[1..].to_vec(), vec![operands[0]])?;
                Operation::Store { access, value }
            }
            "transfer_read" => {
                let access = self.transfer(op, 0, op.results())?;
                Operation::Load {
                    access,
                    result: self.result(op)?,
                }
            }
            "transfer_write" => {
                let value = self.operand(op, 0)?;
                let written = op.operands().first().copied().into_iter().collect();
                Operation::Store {
                    access: self.transfer(op, 1, written)?,
                    value,
                }
            }
            "to_elements" => return self.take_apart(block, op),
            "extract" | "insert" => self.positioned(block, op, name == "insert")?,
            _ => {
                let function = self.vector_function(op, name)?;
                let operands = self.read_all(op, &op.operands())?;
                Operation::Compute {
                    function,
                    operands,
                    result: self.result(op)?,
                }
            }
        };
        self.push(block, op, operation);
        Ok(())
    }

    /// `at` is the memref and its indices, `vector` the value that is read or written.
    fn vector_access(&self, op: Op, at: Vec<Value>, vector: Vec<Value>) -> Result<MemoryAccess> {
        let ([memref, indices @ ..], [vector]) = (&at[..], &vector[..]) else {
            return unknown_form(op, "an operand is missing");
        };
        let ty = self.type_of(op, *vector)?;
        let memref_element = self.memref_type(op, *memref)?.element;
        let [lanes] = ty.vector_shape() else {
            return unknown_form(op, "expected a vector of one dimension");
        };
        if ty.element() != memref_element {
            return unknown_form(op, "expected a memref of scalars");
        }
        let alignment = int_attr(op, "alignment").and_then(|bytes| u32::try_from(bytes).ok());
        Ok(MemoryAccess {
            at: self.element(op, *memref, indices)?,
            lanes: Some(*lanes as u32),
            alignment: alignment.unwrap_or(memref_element.bytes()),
            element: memref_element,
            padding: None,
        })
    }

    /// A transfer along the innermost dimension, without mask.
    fn transfer(&self, op: Op, memref: usize, vector: Vec<Value>) -> Result<MemoryAccess> {
        let segment = |index| op.operand_segment(index);
        let reads = memref == 0;
        let (base, indices, padding, mask) = if reads {
            (segment(0), segment(1), segment(2), segment(3))
        } else {
            (segment(1), segment(2), Vec::new(), segment(3))
        };
        let map = op
            .attr("permutation_map")
            .map(|map| map.to_string())
            .unwrap_or_default();
        let innermost = format!("-> (d{})>", indices.len().saturating_sub(1));
        if !map.ends_with(&innermost) || !mask.is_empty() {
            return unknown_form(op, "expected the innermost dimension, without mask");
        }
        let mut access =
            self.vector_access(op, base.into_iter().chain(indices).collect(), vector)?;
        let clips = op
            .attr("in_bounds")
            .is_none_or(|bounds| bounds.to_string().contains("false"));
        if clips {
            // A store drops what is outside; any register will do as a mark.
            let padding = padding
                .first()
                .copied()
                .map(|value| self.read(op, value))
                .transpose()?;
            access.padding = Some(padding.unwrap_or(access.at.memref));
        }
        Ok(access)
    }

    fn take_apart(&mut self, block: &mut Block, op: Op) -> Result<()> {
        let source = self.operand(op, 0)?;
        for (lane, value) in op.results().into_iter().enumerate() {
            let function = Function::Rearrange {
                picks: [lane as u32].into(),
                scalar: true,
            };
            let result = self.define(value);
            self.push(
                block,
                op,
                Operation::Compute {
                    function,
                    operands: vec![source],
                    result,
                },
            );
        }
        Ok(())
    }

    /// `vector.extract` and `vector.insert`.
    fn positioned(&mut self, block: &mut Block, op: Op, insert: bool) -> Result<Operation> {
        let operands = op.operands();
        let whole_index = usize::from(insert);
        let (Some(whole), Some(positions)) = (
            operands.get(whole_index).copied(),
            i64_array(op, "static_position"),
        ) else {
            return unknown_form(op, "its position cannot be read");
        };
        let shape = self.type_of(op, whole)?.vector_shape().to_vec();
        if positions.len() > shape.len() {
            return unknown_form(op, "it has more positions than dimensions");
        }
        let mut dynamic = operands[whole_index + 1..].iter();
        let mut registers = self.read_all(op, &operands[..=whole_index])?;
        let mut steps = Vec::new();
        for (dimension, position) in positions.iter().enumerate() {
            registers.push(match (position, dynamic.as_slice()) {
                (Some(position), _) => self.constant(block, op, *position),
                (None, [value, ..]) => {
                    dynamic.next();
                    self.read(op, *value)?
                }
                (None, []) => return unknown_form(op, "a position is missing"),
            });
            steps.push((shape[dimension + 1..].iter().product(), shape[dimension]));
        }
        let function = if insert {
            Function::Insert { positions: steps }
        } else {
            Function::Extract {
                lanes: shape[positions.len()..].iter().product::<u64>() as u32,
                scalar: self.scalar_result(op)?,
                positions: steps,
            }
        };
        Ok(Operation::Compute {
            function,
            operands: registers,
            result: self.result(op)?,
        })
    }

    fn scalar_result(&self, op: Op) -> Result<bool> {
        match op.results()[..] {
            [result] => Ok(matches!(self.type_of(op, result)?, ValueType::Scalar(_))),
            _ => unknown_form(op, "expected one result"),
        }
    }

    fn vector_function(&mut self, op: Op, name: &str) -> Result<Function> {
        let shape_of = |value: Option<&Value>| match value {
            Some(value) => self
                .type_of(op, *value)
                .map(|ty| ty.vector_shape().to_vec()),
            None => Ok(Vec::new()),
        };
        let operands = op.operands();
        let from = shape_of(operands.first())?;
        let to = shape_of(op.results().first())?;
        let rearrange = |picks: Vec<u32>| Function::Rearrange {
            picks: picks.into(),
            scalar: false,
        };
        let identity = |lanes: u64| (0..lanes as u32).collect::<Vec<_>>();
        let picks = match name {
            "broadcast" | "splat" => broadcast(&from, &to),
            "shape_cast" => Some(identity(to.iter().product())),
            "from_elements" => Some(identity(operands.len() as u64)),
            "step" => {
                let lanes: u64 = to.iter().product();
                return Ok(Function::Vector((0..lanes).collect()));
            }
            "transpose" => i64_array(op, "permutation").and_then(|order| {
                let order: Option<Vec<usize>> = order
                    .into_iter()
                    .map(|d| usize::try_from(d?).ok())
                    .collect();
                transpose(&from, &to, &order?)
            }),
            "shuffle" => i64_array(op, "mask").and_then(|mask| {
                let inner: u64 = from.iter().skip(1).product();
                let rows: Option<Vec<u64>> = mask
                    .into_iter()
                    .map(|row| u64::try_from(row?).ok())
                    .collect();
                let lanes = rows?
                    .into_iter()
                    .flat_map(|row| (0..inner).map(move |i| row * inner + i));
                Some(lanes.map(|lane| lane as u32).collect())
            }),
            "extract_strided_slice" => slice(op, &from, &to),
            "bitcast" => return self.bitcast(op),
            "fma" => return self.float_function(op, Function::Fma),
            "reduction" => return self.reduction(op),
            _ => return problem(op, Problem::UnknownOp(op.name().to_owned())),
        };
        picks
            .map(rearrange)
            .map_or_else(|| unknown_form(op, "its lanes cannot be read"), Ok)
    }

    fn element_of(&self, op: Op, operand: usize) -> Result<ScalarType> {
        match op.operands().get(operand) {
            Some(value) => Ok(self.type_of(op, *value)?.element()),
            None => unknown_form(op, "an operand is missing"),
        }
    }

    fn bitcast(&self, op: Op) -> Result<Function> {
        let [result] = op.results()[..] else {
            return unknown_form(op, "expected one result");
        };
        let (from, to) = (self.element_of(op, 0)?, self.type_of(op, result)?.element());
        if from.bits() != to.bits() {
            return unknown_form(op, "expected elements of the same width");
        }
        Ok(Function::Copy)
    }

    fn float_function(
        &self,
        op: Op,
        make: fn(crate::program::FloatType) -> Function,
    ) -> Result<Function> {
        let format = float_format(self.element_of(op, 0)?);
        format
            .map(make)
            .map_or_else(|| unknown_form(op, "expected floats"), Ok)
    }

    fn reduction(&self, op: Op) -> Result<Function> {
        let kind = op
            .attr("kind")
            .map(|kind| kind.to_string())
            .unwrap_or_default();
        let kind = kind
            .trim_start_matches("#vector.kind<")
            .trim_end_matches('>');
        let element = self.element_of(op, 0)?;
        let float = |binary| float_format(element).map(|f| Reduction::Float(binary, f));
        let integer = |binary| integer_width(element).map(|w| Reduction::Integer(binary, w));
        let reduction = match kind {
            "add" => float(FloatBinary::Add).or_else(|| integer(IntegerBinary::Add)),
            "mul" => float(FloatBinary::Mul).or_else(|| integer(IntegerBinary::Mul)),
            "minimumf" => float(FloatBinary::Minimum),
            "maximumf" => float(FloatBinary::Maximum),
            "minnumf" => float(FloatBinary::MinNum),
            "maxnumf" => float(FloatBinary::MaxNum),
            "minsi" => integer(IntegerBinary::MinS),
            "minui" => integer(IntegerBinary::MinU),
            "maxsi" => integer(IntegerBinary::MaxS),
            "maxui" => integer(IntegerBinary::MaxU),
            "and" => integer(IntegerBinary::And),
            "or" => integer(IntegerBinary::Or),
            "xor" => integer(IntegerBinary::Xor),
            _ => None,
        };
        reduction
            .map(Function::Reduce)
            .map_or_else(|| unknown_form(op, "its kind is not known"), Ok)
    }
}

/// Number of a lane from its coordinates.
fn linear(shape: &[u64], at: &[u64]) -> u64 {
    shape
        .iter()
        .zip(at)
        .fold(0, |sum, (extent, index)| sum * extent + index)
}

/// Coordinates of every lane, in row-major order.
fn lanes(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + '_ {
    (0..shape.iter().product::<u64>()).map(|mut lane| {
        let mut at: Vec<u64> = shape
            .iter()
            .rev()
            .map(|extent| {
                let index = lane % extent;
                lane /= extent;
                index
            })
            .collect();
        at.reverse();
        at
    })
}

fn broadcast(from: &[u64], to: &[u64]) -> Option<Vec<u32>> {
    let outer = to.len().checked_sub(from.len())?;
    let pick = |at: Vec<u64>| {
        let inner: Vec<u64> = at[outer..]
            .iter()
            .zip(from)
            .map(|(index, extent)| index % extent.max(&1))
            .collect();
        linear(from, &inner) as u32
    };
    Some(lanes(to).map(pick).collect())
}

fn transpose(from: &[u64], to: &[u64], order: &[usize]) -> Option<Vec<u32>> {
    let mut picks = Vec::new();
    for at in lanes(to) {
        let mut source = vec![0; from.len()];
        for (index, dimension) in at.iter().zip(order) {
            *source.get_mut(*dimension)? = *index;
        }
        picks.push(linear(from, &source) as u32);
    }
    Some(picks)
}

fn slice(op: Op, from: &[u64], to: &[u64]) -> Option<Vec<u32>> {
    let numbers = |name| -> Option<Vec<u64>> {
        op.attr(name)?
            .array()?
            .into_iter()
            .map(|n| u64::try_from(n.int()?).ok())
            .collect()
    };
    let (offsets, strides) = (numbers("offsets")?, numbers("strides")?);
    let pick = |at: Vec<u64>| {
        let source: Vec<u64> = at
            .iter()
            .enumerate()
            .map(|(d, index)| {
                let (offset, stride) = (offsets.get(d).copied(), strides.get(d).copied());
                offset.unwrap_or(0) + index * stride.unwrap_or(1)
            })
            .collect();
        linear(from, &source) as u32
    };
    Some(lanes(to).map(pick).collect())
}
