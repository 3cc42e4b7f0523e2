//! What every op on register values computes: one row per op.
//!
//! The interpreter runs the rows, `async-pipeline-verify-tiles` accepts the ops that have
//! one, and `docs/reference/tile-semantics.md` prints them.

use super::{
    element::Element,
    functions::{erf, maximum, maxnum, minimum, minnum, rsqrt},
};
use crate::program::IntegerBinary;

/// What an op does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Apply {
    /// A function of one float, computed in double precision and rounded to the type.
    Float1(fn(f64) -> f64),
    /// A function of two floats, computed in double precision and rounded to the type.
    Float2(fn(f64, f64) -> f64),
    /// `a * b + c`, rounded once.
    Fma,
    /// A function of two integers.
    Int2(IntegerBinary),
    /// The magnitude of an integer.
    IntAbs,
    /// `arith.cmpi`
    CompareInt,
    /// `arith.cmpf`
    CompareFloat,
    /// `arith.select`
    Select,
    /// `arith.constant`
    Constant,
    /// A change of type.
    Convert(Convert),
    /// `vector.broadcast`
    Broadcast,
    /// `vector.step`
    Step,
    /// `vector.shape_cast`
    ShapeCast,
    /// `vector.multi_reduction`
    Reduce,
}

/// A change of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convert {
    Float,
    SignedToFloat,
    UnsignedToFloat,
    FloatToSigned,
    FloatToUnsigned,
    SignExtend,
    ZeroExtend,
}

/// Which elements an op takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Integers,
    Floats,
    Anything,
}

/// One op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// What it computes.
    pub(super) meaning: &'static str,
    /// Special values.
    pub(super) edges: &'static str,
    pub(crate) apply: Apply,
}

impl Row {
    /// Whether the op works on elements of this type.
    pub(crate) fn accepts(&self, element: Element) -> bool {
        let converts = matches!(self.apply, Apply::Convert(_));
        match self.takes {
            Takes::Integers => !element.is_float(),
            Takes::Floats => element.is_float() && (element.computes() || converts),
            // Reductions are arithmetic, the rest of these move values.
            Takes::Anything => element.computes() || !matches!(self.apply, Apply::Reduce),
        }
    }
}

/// The row of an op.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    ROWS.binary_search_by(|row| row.name.cmp(name))
        .ok()
        .map(|index| &ROWS[index])
}

const fn integers(
    name: &'static str,
    apply: IntegerBinary,
    meaning: &'static str,
    edges: &'static str,
) -> Row {
    Row {
        name,
        takes: Takes::Integers,
        meaning,
        edges,
        apply: Apply::Int2(apply),
    }
}

const fn float1(
    name: &'static str,
    apply: fn(f64) -> f64,
    meaning: &'static str,
    edges: &'static str,
) -> Row {
    Row {
        name,
        takes: Takes::Floats,
        meaning,
        edges,
        apply: Apply::Float1(apply),
    }
}

const fn float2(
    name: &'static str,
    apply: fn(f64, f64) -> f64,
    meaning: &'static str,
    edges: &'static str,
) -> Row {
    Row {
        name,
        takes: Takes::Floats,
        meaning,
        edges,
        apply: Apply::Float2(apply),
    }
}

const fn other(
    name: &'static str,
    takes: Takes,
    apply: Apply,
    meaning: &'static str,
    edges: &'static str,
) -> Row {
    Row {
        name,
        takes,
        meaning,
        edges,
        apply,
    }
}

const WRAPS: &str = "wraps";
const BY_ZERO: &str = "by 0, or a quotient that does not fit: not defined, the interpreter stops";
const SHIFTS: &str = "by the width or more: 0";
const IEEE: &str = "as IEEE 754";

/// Every op, in the order of names.
pub(crate) static ROWS: &[Row] = &[
    float2("arith.addf", |a, b| a + b, "a + b", IEEE),
    integers("arith.addi", IntegerBinary::Add, "a + b", WRAPS),
    integers("arith.andi", IntegerBinary::And, "bitwise and", ""),
    integers(
        "arith.ceildivsi",
        IntegerBinary::CeilDivS,
        "⌈a / b⌉, signed",
        BY_ZERO,
    ),
    integers(
        "arith.ceildivui",
        IntegerBinary::CeilDivU,
        "⌈a / b⌉, unsigned",
        BY_ZERO,
    ),
    other(
        "arith.cmpf",
        Takes::Floats,
        Apply::CompareFloat,
        "whether a and b stand in the relation",
        "with a NaN the ordered predicates are false, the unordered ones true",
    ),
    other(
        "arith.cmpi",
        Takes::Integers,
        Apply::CompareInt,
        "whether a and b stand in the relation",
        "",
    ),
    other(
        "arith.constant",
        Takes::Anything,
        Apply::Constant,
        "the value, a splat or one value per element",
        "",
    ),
    float2("arith.divf", |a, b| a / b, "a / b", IEEE),
    integers(
        "arith.divsi",
        IntegerBinary::DivS,
        "a / b towards 0, signed",
        BY_ZERO,
    ),
    integers(
        "arith.divui",
        IntegerBinary::DivU,
        "a / b towards 0, unsigned",
        BY_ZERO,
    ),
    other(
        "arith.extf",
        Takes::Floats,
        Apply::Convert(Convert::Float),
        "the same value in a wider type",
        "exact",
    ),
    other(
        "arith.extsi",
        Takes::Integers,
        Apply::Convert(Convert::SignExtend),
        "the same signed value in a wider type",
        "exact",
    ),
    other(
        "arith.extui",
        Takes::Integers,
        Apply::Convert(Convert::ZeroExtend),
        "the same unsigned value in a wider type",
        "exact",
    ),
    integers(
        "arith.floordivsi",
        IntegerBinary::FloorDivS,
        "⌊a / b⌋, signed",
        BY_ZERO,
    ),
    other(
        "arith.fptosi",
        Takes::Floats,
        Apply::Convert(Convert::FloatToSigned),
        "the signed integer towards 0",
        "beyond the type: its limit; NaN: 0",
    ),
    other(
        "arith.fptoui",
        Takes::Floats,
        Apply::Convert(Convert::FloatToUnsigned),
        "the unsigned integer towards 0",
        "beyond the type: its limit, 0 below 0; NaN: 0",
    ),
    other(
        "arith.index_cast",
        Takes::Integers,
        Apply::Convert(Convert::SignExtend),
        "the same signed value",
        "what does not fit is cut off",
    ),
    other(
        "arith.index_castui",
        Takes::Integers,
        Apply::Convert(Convert::ZeroExtend),
        "the same unsigned value",
        "what does not fit is cut off",
    ),
    float2(
        "arith.maximumf",
        maximum,
        "the greater",
        "NaN if one is NaN; -0 < 0",
    ),
    float2(
        "arith.maxnumf",
        maxnum,
        "the greater",
        "the other one if one is NaN; -0 < 0",
    ),
    integers(
        "arith.maxsi",
        IntegerBinary::MaxS,
        "the greater, signed",
        "",
    ),
    integers(
        "arith.maxui",
        IntegerBinary::MaxU,
        "the greater, unsigned",
        "",
    ),
    float2(
        "arith.minimumf",
        minimum,
        "the smaller",
        "NaN if one is NaN; -0 < 0",
    ),
    float2(
        "arith.minnumf",
        minnum,
        "the smaller",
        "the other one if one is NaN; -0 < 0",
    ),
    integers(
        "arith.minsi",
        IntegerBinary::MinS,
        "the smaller, signed",
        "",
    ),
    integers(
        "arith.minui",
        IntegerBinary::MinU,
        "the smaller, unsigned",
        "",
    ),
    float2("arith.mulf", |a, b| a * b, "a · b", IEEE),
    integers("arith.muli", IntegerBinary::Mul, "a · b", WRAPS),
    float1("arith.negf", |a| -a, "-a", "changes the sign of zero too"),
    integers("arith.ori", IntegerBinary::Or, "bitwise or", ""),
    integers(
        "arith.remsi",
        IntegerBinary::RemS,
        "rest of a / b towards 0, signed",
        BY_ZERO,
    ),
    integers(
        "arith.remui",
        IntegerBinary::RemU,
        "rest of a / b, unsigned",
        BY_ZERO,
    ),
    other(
        "arith.select",
        Takes::Anything,
        Apply::Select,
        "a where the condition holds, else b",
        "",
    ),
    integers("arith.shli", IntegerBinary::ShiftLeft, "a · 2^b", SHIFTS),
    integers(
        "arith.shrsi",
        IntegerBinary::ShiftRightS,
        "⌊a / 2^b⌋, signed",
        "by the width or more: 0 or -1",
    ),
    integers(
        "arith.shrui",
        IntegerBinary::ShiftRightU,
        "⌊a / 2^b⌋, unsigned",
        SHIFTS,
    ),
    other(
        "arith.sitofp",
        Takes::Integers,
        Apply::Convert(Convert::SignedToFloat),
        "the nearest float of a signed integer",
        "beyond the type: as arith.truncf",
    ),
    float2("arith.subf", |a, b| a - b, "a - b", IEEE),
    integers("arith.subi", IntegerBinary::Sub, "a - b", WRAPS),
    other(
        "arith.truncf",
        Takes::Floats,
        Apply::Convert(Convert::Float),
        "the nearest value of a narrower type, ties to even",
        "beyond the type: infinite for f32, f16 and bf16; the largest value for 8-bit floats, also for infinities",
    ),
    other(
        "arith.trunci",
        Takes::Integers,
        Apply::Convert(Convert::ZeroExtend),
        "the low bits",
        "",
    ),
    other(
        "arith.uitofp",
        Takes::Integers,
        Apply::Convert(Convert::UnsignedToFloat),
        "the nearest float of an unsigned integer",
        "beyond the type: as arith.truncf",
    ),
    integers("arith.xori", IntegerBinary::Xor, "bitwise exclusive or", ""),
    float1(
        "math.absf",
        f64::abs,
        "the magnitude",
        "clears the sign of zero too",
    ),
    other(
        "math.absi",
        Takes::Integers,
        Apply::IntAbs,
        "the magnitude, signed",
        "of the lowest value: itself",
    ),
    float1(
        "math.ceil",
        f64::ceil,
        "⌈a⌉",
        "keeps infinities and the sign",
    ),
    float2(
        "math.copysign",
        f64::copysign,
        "the magnitude of a with the sign of b",
        "",
    ),
    float1("math.cos", f64::cos, "cos a", "infinite: NaN"),
    float1("math.erf", erf, "the error function", "±1 at infinities"),
    float1("math.exp", f64::exp, "e^a", "0 and infinity at infinities"),
    float1(
        "math.exp2",
        f64::exp2,
        "2^a",
        "0 and infinity at infinities",
    ),
    float1(
        "math.expm1",
        f64::exp_m1,
        "e^a - 1",
        "-1 and infinity at infinities",
    ),
    float1(
        "math.floor",
        f64::floor,
        "⌊a⌋",
        "keeps infinities and the sign",
    ),
    other(
        "math.fma",
        Takes::Floats,
        Apply::Fma,
        "a · b + c",
        "rounded once; as IEEE 754",
    ),
    float1(
        "math.log",
        f64::ln,
        "natural logarithm",
        "of 0: -infinity; below 0: NaN",
    ),
    float1(
        "math.log10",
        f64::log10,
        "logarithm to base 10",
        "of 0: -infinity; below 0: NaN",
    ),
    float1(
        "math.log1p",
        f64::ln_1p,
        "log(1 + a)",
        "of -1: -infinity; below: NaN",
    ),
    float1(
        "math.log2",
        f64::log2,
        "logarithm to base 2",
        "of 0: -infinity; below 0: NaN",
    ),
    float2("math.powf", f64::powf, "a^b", "as pow of C"),
    float1(
        "math.round",
        f64::round,
        "the nearest integer, ties away from 0",
        "keeps infinities",
    ),
    float1(
        "math.roundeven",
        f64::round_ties_even,
        "the nearest integer, ties to even",
        "keeps infinities",
    ),
    float1(
        "math.rsqrt",
        rsqrt,
        "1 / √a",
        "of ±0: ±infinity; below 0: NaN",
    ),
    float1("math.sin", f64::sin, "sin a", "infinite: NaN"),
    float1("math.sqrt", f64::sqrt, "√a", "below 0: NaN; of -0: -0"),
    float1("math.tanh", f64::tanh, "tanh a", "±1 at infinities"),
    float1(
        "math.trunc",
        f64::trunc,
        "the integer towards 0",
        "keeps infinities and the sign",
    ),
    other(
        "vector.broadcast",
        Takes::Anything,
        Apply::Broadcast,
        "repeats along new outer dimensions and along extents of 1",
        "",
    ),
    other(
        "vector.multi_reduction",
        Takes::Anything,
        Apply::Reduce,
        "the start value and all elements along the dimensions, combined",
        "floats: not rounded in between, rounded once at the end, in no defined order; NaN and -0 as in the arith op",
    ),
    other(
        "vector.shape_cast",
        Takes::Anything,
        Apply::ShapeCast,
        "the same elements in row-major order under another shape",
        "",
    ),
    other(
        "vector.step",
        Takes::Integers,
        Apply::Step,
        "0, 1, 2, …",
        "",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        for pair in ROWS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        assert!(ROWS.iter().all(|row| find(row.name).is_some()));
    }
}
