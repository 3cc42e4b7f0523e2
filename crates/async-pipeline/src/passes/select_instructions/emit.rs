//! Emits expansions: vectors stay vectors, but for instructions that exist for scalars only.

use super::{arithmetic::Arithmetic, is_half};
use async_pipeline_sys::ir::{Builder, Type, Value};

/// A scalar, or a vector of rank 1 and fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    element: Type,
    length: Option<i64>,
}

impl Lanes {
    pub(super) fn of(ty: Type) -> Option<Self> {
        if !ty.is_vector() {
            let scalar = ty.is_float() || ty.is_signless_or_index();
            return scalar.then_some(Self {
                element: ty,
                length: None,
            });
        }
        match ty.shape().as_slice() {
            [Some(length)] if !ty.is_scalable() => Some(Self {
                element: ty.element(),
                length: Some(*length),
            }),
            _ => None,
        }
    }

    pub(super) fn element(self) -> Type {
        self.element
    }

    pub(super) fn length(self) -> Option<i64> {
        self.length
    }

    /// The same number of lanes of another type.
    pub(super) fn with(self, element: Type) -> Type {
        match self.length {
            Some(length) => element.context().vector(length, element),
            None => element,
        }
    }
}

/// Makes ops on so many lanes at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emit {
    builder: Builder,
    lanes: Lanes,
}

/// π/2 · 2^-64.
pub(super) const QUARTER_TURN: f64 = std::f64::consts::FRAC_PI_2 / 18_446_744_073_709_551_616.0;

/// Predicates, numbered as `arith.cmpf` and `arith.cmpi` number them.
pub(super) const ORDERED_AT_LEAST: (&str, i64) = ("arith.cmpf", 3);
pub(super) const ORDERED_LESS: (&str, i64) = ("arith.cmpf", 4);
pub(super) const ORDERED: (&str, i64) = ("arith.cmpf", 7);
pub(super) const UNSIGNED_LESS: (&str, i64) = ("arith.cmpi", 6);
pub(super) const UNSIGNED_AT_MOST: (&str, i64) = ("arith.cmpi", 7);
pub(super) const NOT_EQUAL: (&str, i64) = ("arith.cmpi", 1);

impl Emit {
    pub(super) fn new(builder: Builder, lanes: Lanes) -> Self {
        Self { builder, lanes }
    }

    pub(super) fn builder(self) -> Builder {
        self.builder
    }

    pub(super) fn f32(self) -> Type {
        self.parse("f32")
    }

    pub(super) fn parse(self, text: &str) -> Type {
        self.builder
            .context()
            .parse_type(text)
            .expect("the name of a type")
    }

    pub(super) fn int_type(self, bits: u32) -> Type {
        self.builder.context().int(bits)
    }

    /// The same number in every lane; `text` is how MLIR writes it.
    pub(super) fn constant(self, element: Type, text: &str) -> Value {
        let ty = self.lanes.with(element);
        let text = match self.lanes.length {
            Some(_) => format!("dense<{text}> : {ty}"),
            // The type of a truth value is not written.
            None if matches!(text, "true" | "false") => text.to_owned(),
            None => format!("{text} : {ty}"),
        };
        let context = self.builder.context();
        let value = context.parse_attr(&text).expect("a constant of the type");
        self.builder
            .op("arith.constant")
            .results(&[ty])
            .attr("value", value)
            .value()
    }

    /// An op whose result has as many lanes.
    pub(super) fn op(self, name: &'static str, operands: &[Value], element: Type) -> Value {
        self.builder
            .op(name)
            .operands(operands)
            .results(&[self.lanes.with(element)])
            .value()
    }

    /// A conversion to another element type, if there is one to make.
    pub(super) fn cast(self, name: Option<&'static str>, value: Value, element: Type) -> Value {
        match name {
            Some(name) => self.op(name, &[value], element),
            None => value,
        }
    }

    /// 16-bit floats as f32, others as they are.
    pub(super) fn widen(self, value: Value) -> Value {
        let element = Lanes::of(value.ty()).map(Lanes::element);
        let half = element.is_some_and(is_half);
        self.cast(half.then_some("arith.extf"), value, self.f32())
    }

    pub(super) fn compare(
        self,
        (name, predicate): (&'static str, i64),
        a: Value,
        b: Value,
    ) -> Value {
        let context = self.builder.context();
        self.builder
            .op(name)
            .operands(&[a, b])
            .results(&[self.lanes.with(context.i1())])
            .attr("predicate", context.i64_attr(predicate))
            .value()
    }

    pub(super) fn choose(self, condition: Value, yes: Value, no: Value) -> Value {
        self.builder
            .op("arith.select")
            .operands(&[condition, yes, no])
            .results(&[yes.ty()])
            .value()
    }

    /// The lanes of a value.
    pub(super) fn scalars(self, value: Value) -> Vec<Value> {
        let Some(length) = self.lanes.length else {
            return vec![value];
        };
        let context = self.builder.context();
        (0..length)
            .map(|lane| {
                self.builder
                    .op("vector.extract")
                    .operands(&[value])
                    .results(&[value.ty().element()])
                    .attr("static_position", context.dense_i64_attr(&[lane]))
                    .value()
            })
            .collect()
    }

    /// A value of these lanes.
    pub(super) fn gather(self, scalars: &[Value]) -> Value {
        match (self.lanes.length, scalars) {
            (None, [scalar]) => *scalar,
            _ => self.vector(scalars),
        }
    }

    pub(super) fn vector(self, scalars: &[Value]) -> Value {
        let ty = self
            .builder
            .context()
            .vector(scalars.len() as i64, scalars[0].ty());
        self.builder
            .op("vector.from_elements")
            .operands(scalars)
            .results(&[ty])
            .value()
    }

    /// Makes an op on each lane.
    fn each(self, operands: &[Value], make: impl Fn(&[Value]) -> Value) -> Value {
        let columns: Vec<Vec<Value>> = operands.iter().map(|value| self.scalars(*value)).collect();
        let lanes = columns.first().map_or(0, Vec::len);
        let made: Vec<Value> = (0..lanes)
            .map(|lane| {
                let row: Vec<Value> = columns.iter().map(|column| column[lane]).collect();
                make(&row)
            })
            .collect();
        self.gather(&made)
    }

    /// One PTX instruction without side effects, on scalars; the result is `$0`.
    pub(super) fn instruction(
        self,
        text: &str,
        constraints: &str,
        operands: &[Value],
        result: Type,
    ) -> Value {
        let context = self.builder.context();
        self.builder
            .op("llvm.inline_asm")
            .operands(operands)
            .results(&[result])
            .attr("asm_string", context.string_attr(text))
            .attr("constraints", context.string_attr(constraints))
            .value()
    }

    /// One PTX instruction per lane.
    pub(super) fn ptx(
        self,
        text: &str,
        constraints: &str,
        operands: &[Value],
        result: Type,
    ) -> Value {
        self.each(operands, |row| {
            self.instruction(text, constraints, row, result)
        })
    }
}

impl Arithmetic for Emit {
    type Float = Value;
    type Int = Value;
    type Flag = Value;

    fn float(self, value: f32) -> Value {
        // Bits say exactly which number is meant.
        self.constant(self.f32(), &format!("0x{:08X}", value.to_bits()))
    }

    fn int(self, value: u32) -> Value {
        self.constant(self.int_type(32), &value.cast_signed().to_string())
    }

    fn add(self, a: Value, b: Value) -> Value {
        self.op("arith.addf", &[a, b], self.f32())
    }

    fn sub(self, a: Value, b: Value) -> Value {
        self.op("arith.subf", &[a, b], self.f32())
    }

    fn mul(self, a: Value, b: Value) -> Value {
        self.op("arith.mulf", &[a, b], self.f32())
    }

    fn fma(self, a: Value, b: Value, c: Value) -> Value {
        self.op("math.fma", &[a, b, c], self.f32())
    }

    fn abs(self, a: Value) -> Value {
        self.op("math.absf", &[a], self.f32())
    }

    fn copysign(self, a: Value, b: Value) -> Value {
        self.op("math.copysign", &[a, b], self.f32())
    }

    fn minimum(self, a: Value, b: Value) -> Value {
        self.op("arith.minimumf", &[a, b], self.f32())
    }

    fn maximum(self, a: Value, b: Value) -> Value {
        self.op("arith.maximumf", &[a, b], self.f32())
    }

    fn fma_sat(self, a: Value, b: Value, c: Value) -> Value {
        self.ptx(
            "fma.rn.sat.f32 $0, $1, $2, $3;",
            "=f,f,f,f",
            &[a, b, c],
            self.f32(),
        )
    }

    fn ex2(self, a: Value) -> Value {
        // LLVM selects the instruction, for vectors too.
        self.op("math.exp2", &[a], self.f32())
    }

    fn ex2_ftz(self, a: Value) -> Value {
        self.ptx("ex2.approx.ftz.f32 $0, $1;", "=f,f", &[a], self.f32())
    }

    fn lg2(self, a: Value) -> Value {
        self.ptx("lg2.approx.f32 $0, $1;", "=f,f", &[a], self.f32())
    }

    fn rcp_ftz(self, a: Value) -> Value {
        self.ptx("rcp.approx.ftz.f32 $0, $1;", "=f,f", &[a], self.f32())
    }

    fn rsqrt(self, a: Value) -> Value {
        self.ptx("rsqrt.approx.f32 $0, $1;", "=f,f", &[a], self.f32())
    }

    fn bits(self, a: Value) -> Value {
        self.op("arith.bitcast", &[a], self.int_type(32))
    }

    fn float_of(self, a: Value) -> Value {
        self.op("arith.bitcast", &[a], self.f32())
    }

    fn int_add(self, a: Value, b: Value) -> Value {
        self.op("arith.addi", &[a, b], self.int_type(32))
    }

    fn int_sub(self, a: Value, b: Value) -> Value {
        self.op("arith.subi", &[a, b], self.int_type(32))
    }

    fn int_and(self, a: Value, b: Value) -> Value {
        self.op("arith.andi", &[a, b], self.int_type(32))
    }

    fn int_or(self, a: Value, b: Value) -> Value {
        self.op("arith.ori", &[a, b], self.int_type(32))
    }

    fn int_xor(self, a: Value, b: Value) -> Value {
        self.op("arith.xori", &[a, b], self.int_type(32))
    }

    fn choose_int(self, condition: Value, yes: Value, no: Value) -> Value {
        self.choose(condition, yes, no)
    }

    fn shift_right(self, a: Value, count: u32) -> Value {
        self.op("arith.shrui", &[a, self.int(count)], self.int_type(32))
    }

    fn funnel(self, high: Value, low: Value, count: Value) -> Value {
        self.op("llvm.intr.fshl", &[high, low, count], self.int_type(32))
    }

    fn multiply(self, a: Value, b: Value, c: Value) -> (Value, Value) {
        let [word, wide] = [32, 64].map(|bits| self.int_type(bits));
        let [a, b, c] = [a, b, c].map(|value| self.op("arith.extui", &[value], wide));
        let product = self.op("arith.muli", &[a, b], wide);
        let sum = self.op("arith.addi", &[product, c], wide);
        let high = self.op("arith.shrui", &[sum, self.constant(wide, "32")], wide);
        (
            self.op("arith.trunci", &[sum], word),
            self.op("arith.trunci", &[high], word),
        )
    }

    fn quarter_turn(self, high: Value, low: Value) -> Value {
        let (wide, double) = (self.int_type(64), self.parse("f64"));
        let [high, low] = [high, low].map(|word| self.op("arith.extui", &[word], wide));
        let high = self.op("arith.shli", &[high, self.constant(wide, "32")], wide);
        let both = self.op("arith.ori", &[high, low], wide);
        // The bits in front of the point leave; the sign is the first one behind it.
        let fraction = self.op("arith.shli", &[both, self.constant(wide, "2")], wide);
        let turns = self.op("arith.sitofp", &[fraction], double);
        let unit = format!("0x{:016X}", QUARTER_TURN.to_bits());
        let angle = self.op("arith.mulf", &[turns, self.constant(double, &unit)], double);
        self.op("arith.truncf", &[angle], self.f32())
    }

    fn shift_left(self, a: Value, count: u32) -> Value {
        self.op("arith.shli", &[a, self.int(count)], self.int_type(32))
    }

    fn signed_to_float(self, a: Value) -> Value {
        self.op("arith.sitofp", &[a], self.f32())
    }

    fn at_least(self, a: Value, b: Value) -> Value {
        self.compare(ORDERED_AT_LEAST, a, b)
    }

    fn less(self, a: Value, b: Value) -> Value {
        self.compare(ORDERED_LESS, a, b)
    }

    fn below(self, a: Value, b: Value) -> Value {
        self.compare(UNSIGNED_LESS, a, b)
    }

    fn select(self, condition: Value, yes: Value, no: Value) -> Value {
        self.choose(condition, yes, no)
    }
}
