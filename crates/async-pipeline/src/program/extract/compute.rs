//! `arith`, `math` and `index` ops.

use super::{Extractor, Problem, Result, constant, int_attr, problem, unknown_form};
use crate::program::{
    Block, FloatBinary, FloatPredicate, FloatType, FloatUnary, Function, IntegerBinary,
    IntegerPredicate, Operation, ScalarType, ValueType,
};
use async_pipeline_sys::ir::Op;

impl Extractor {
    pub(super) fn compute_op(&mut self, block: &mut Block, op: Op, name: &str) -> Result<()> {
        let function = match name {
            "constant" => self.constant_function(op)?,
            _ => match self.function(op, name)? {
                Some(function) => function,
                None => return problem(op, Problem::UnknownOp(op.name().to_owned())),
            },
        };
        let operands = self.read_all(op, &op.operands())?;
        let result = self.result(op)?;
        self.push(
            block,
            op,
            Operation::Compute {
                function,
                operands,
                result,
            },
        );
        Ok(())
    }

    fn constant_function(&self, op: Op) -> Result<Function> {
        let (Some(attribute), Some(result)) = (op.attr("value"), op.results().first().copied())
        else {
            return unknown_form(op, "expected a value");
        };
        let ty = self.type_of(op, result)?;
        let function = match &ty {
            ValueType::Vector(..) => {
                constant::dense(&attribute.to_string(), ty.lanes() as usize, ty.element())
                    .map(|bits| Function::Vector(bits.into()))
            }
            _ => constant::scalar(attribute, ty.element()).map(Function::Scalar),
        };
        function.map_or_else(|| unknown_form(op, "its value cannot be read"), Ok)
    }

    fn function(&self, op: Op, name: &str) -> Result<Option<Function>> {
        let operands = op.operands();
        let Some(first) = operands.first() else {
            return Ok(None);
        };
        let from = self.type_of(op, *first)?.element();
        if name == "select" {
            return Ok(Some(Function::Select));
        }
        if let Some(binary) = integer_binary(name) {
            return Ok(integer_width(from).map(|width| Function::Integer(binary, width)));
        }
        if let ScalarType::Float(format) = from {
            if let Some(binary) = float_binary(name) {
                return Ok(Some(Function::Float(binary, format)));
            }
            if let Some(unary) = float_unary(name) {
                return Ok(Some(Function::FloatUnary(unary, format)));
            }
        }
        let to = match op.results().first() {
            Some(result) => self.type_of(op, *result)?.element(),
            None => return Ok(None),
        };
        Ok(match name {
            "cmpi" | "cmp" => integer_predicate(op).and_then(|predicate| {
                Some(Function::IntegerCompare(predicate, integer_width(from)?))
            }),
            "cmpf" => match (float_predicate(op), from) {
                (Some(predicate), ScalarType::Float(format)) => {
                    Some(Function::FloatCompare(predicate, format))
                }
                _ => None,
            },
            "fma" => float_format(from).map(Function::Fma),
            "absi" => integer_width(from).map(Function::IntegerAbs),
            "bitcast" => (from.bits() == to.bits()).then_some(Function::Copy),
            _ => conversion(name, from, to),
        })
    }
}

fn conversion(name: &str, from: ScalarType, to: ScalarType) -> Option<Function> {
    match name {
        "extsi" | "trunci" | "index_cast" | "casts" => {
            Some(Function::ExtendS(integer_width(from)?, integer_width(to)?))
        }
        "extui" | "index_castui" | "castu" => {
            Some(Function::ExtendU(integer_width(from)?, integer_width(to)?))
        }
        "sitofp" | "uitofp" => Some(Function::Int2Float(
            integer_width(from)?,
            name == "sitofp",
            float_format(to)?,
        )),
        "fptosi" | "fptoui" => Some(Function::Float2Int(
            float_format(from)?,
            integer_width(to)?,
            name == "fptosi",
        )),
        "extf" | "truncf" => Some(Function::Float2Float(
            float_format(from)?,
            float_format(to)?,
        )),
        _ => None,
    }
}

/// Bits of an integer or index type.
pub(super) fn integer_width(ty: ScalarType) -> Option<u32> {
    match ty {
        ScalarType::Int(bits) => Some(bits),
        ScalarType::Index => Some(64),
        _ => None,
    }
}

/// Format of a float type.
pub(super) fn float_format(ty: ScalarType) -> Option<FloatType> {
    match ty {
        ScalarType::Float(format) => Some(format),
        _ => None,
    }
}

/// Of `arith`, and of `index` where the names differ.
fn integer_binary(name: &str) -> Option<IntegerBinary> {
    Some(match name {
        "addi" | "add" => IntegerBinary::Add,
        "subi" | "sub" => IntegerBinary::Sub,
        "muli" | "mul" => IntegerBinary::Mul,
        "divsi" | "divs" => IntegerBinary::DivS,
        "divui" | "divu" => IntegerBinary::DivU,
        "ceildivsi" | "ceildivs" => IntegerBinary::CeilDivS,
        "ceildivui" | "ceildivu" => IntegerBinary::CeilDivU,
        "floordivsi" | "floordivs" => IntegerBinary::FloorDivS,
        "remsi" | "rems" => IntegerBinary::RemS,
        "remui" | "remu" => IntegerBinary::RemU,
        "andi" | "and" => IntegerBinary::And,
        "ori" | "or" => IntegerBinary::Or,
        "xori" | "xor" => IntegerBinary::Xor,
        "shli" | "shl" => IntegerBinary::ShiftLeft,
        "shrsi" | "shrs" => IntegerBinary::ShiftRightS,
        "shrui" | "shru" => IntegerBinary::ShiftRightU,
        "minsi" | "mins" => IntegerBinary::MinS,
        "minui" | "minu" => IntegerBinary::MinU,
        "maxsi" | "maxs" => IntegerBinary::MaxS,
        "maxui" | "maxu" => IntegerBinary::MaxU,
        _ => return None,
    })
}

fn float_binary(name: &str) -> Option<FloatBinary> {
    Some(match name {
        "addf" => FloatBinary::Add,
        "subf" => FloatBinary::Sub,
        "mulf" => FloatBinary::Mul,
        "divf" => FloatBinary::Div,
        "remf" => FloatBinary::Rem,
        "minimumf" => FloatBinary::Minimum,
        "maximumf" => FloatBinary::Maximum,
        "minnumf" => FloatBinary::MinNum,
        "maxnumf" => FloatBinary::MaxNum,
        "powf" => FloatBinary::Pow,
        "atan2" => FloatBinary::Atan2,
        "copysign" => FloatBinary::CopySign,
        _ => return None,
    })
}

fn float_unary(name: &str) -> Option<FloatUnary> {
    Some(match name {
        "negf" => FloatUnary::Neg,
        "absf" => FloatUnary::Abs,
        "exp" => FloatUnary::Exp,
        "exp2" => FloatUnary::Exp2,
        "expm1" => FloatUnary::ExpM1,
        "log" => FloatUnary::Log,
        "log2" => FloatUnary::Log2,
        "log10" => FloatUnary::Log10,
        "log1p" => FloatUnary::Log1p,
        "sqrt" => FloatUnary::Sqrt,
        "rsqrt" => FloatUnary::Rsqrt,
        "sin" => FloatUnary::Sin,
        "cos" => FloatUnary::Cos,
        "tanh" => FloatUnary::Tanh,
        "floor" => FloatUnary::Floor,
        "ceil" => FloatUnary::Ceil,
        "trunc" => FloatUnary::Trunc,
        "round" => FloatUnary::Round,
        "roundeven" => FloatUnary::RoundEven,
        _ => return None,
    })
}

fn integer_predicate(op: Op) -> Option<IntegerPredicate> {
    use IntegerPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    const ARITH: [IntegerPredicate; 10] = [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge];
    if let Some(number) = int_attr(op, "predicate") {
        return ARITH.get(usize::try_from(number).ok()?).copied();
    }
    // `index.cmp` has an enum attribute of its own.
    let text = op.attr("pred")?.to_string();
    let names = [
        "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
    ];
    let found = names
        .iter()
        .position(|name| text.contains(&format!("({name})")))?;
    ARITH.get(found).copied()
}

fn float_predicate(op: Op) -> Option<FloatPredicate> {
    // In the order of `arith`: which of equal, greater, less, unordered answer yes.
    const TABLE: [&str; 16] = [
        "", "e", "g", "ge", "l", "le", "gl", "gle", "eu", "gu", "geu", "lu", "leu", "glu", "u",
        "gleu",
    ];
    let relations = TABLE.get(usize::try_from(int_attr(op, "predicate")?).ok()?)?;
    Some(FloatPredicate {
        equal: relations.contains('e'),
        greater: relations.contains('g'),
        less: relations.contains('l'),
        unordered: relations.contains('u'),
    })
}
