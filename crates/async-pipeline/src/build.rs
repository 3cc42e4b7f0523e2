//! Shorthand for the arithmetic and control flow that passes insert.

use async_pipeline_sys::ir::{Builder, Type, Value};

/// Integer comparisons, numbered as `arith.cmpi` numbers them.
#[derive(Clone, Copy, Debug)]
#[repr(i64)]
pub(crate) enum Compare {
    Eq = 0,
    SignedLess = 2,
    SignedLessEq = 3,
    UnsignedLess = 6,
}

/// Builds arithmetic at one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build(pub(crate) Builder);

impl Build {
    pub(crate) fn index(self, value: i64) -> Value {
        self.constant(self.0.context().index(), value)
    }

    pub(crate) fn i32(self, value: i64) -> Value {
        self.constant(self.0.context().i32(), value)
    }

    pub(crate) fn i64(self, value: i64) -> Value {
        self.constant(self.0.context().i64(), value)
    }

    /// A boolean.
    pub(crate) fn flag(self, value: bool) -> Value {
        self.constant(self.0.context().i1(), i64::from(value))
    }

    /// A constant from the text of its attribute.
    pub(crate) fn parsed_constant(self, text: &str, ty: Type) -> Value {
        let attr = self
            .0
            .context()
            .parse_attr(text)
            .unwrap_or_else(|| panic!("MLIR refuses the attribute {text}"));
        self.0
            .op("arith.constant")
            .results(&[ty])
            .attr("value", attr)
            .value()
    }

    /// All zeros.
    pub(crate) fn zeros(self, vector: Type) -> Value {
        let zero = if vector.element().is_float() {
            "0.0"
        } else {
            "0"
        };
        self.parsed_constant(&format!("dense<{zero}> : {vector}"), vector)
    }

    /// 0, 1, 2, … as a vector of indices.
    pub(crate) fn counting(self, length: i64) -> Value {
        let ty = self.0.context().vector(length, self.0.context().index());
        let numbers: Vec<String> = (0..length).map(|number| number.to_string()).collect();
        self.parsed_constant(&format!("dense<[{}]> : {ty}", numbers.join(", ")), ty)
    }

    /// A vector of equal elements.
    pub(crate) fn splat(self, value: Value, length: i64) -> Value {
        let ty = self.0.context().vector(length, value.ty());
        self.0
            .op("vector.broadcast")
            .operands(&[value])
            .results(&[ty])
            .value()
    }

    /// One element of a vector of rank 1.
    pub(crate) fn extract(self, vector: Value, index: i64) -> Value {
        let context = self.0.context();
        self.0
            .op("vector.extract")
            .operands(&[vector])
            .attr("static_position", context.dense_i64_attr(&[index]))
            .results(&[vector.ty().element()])
            .value()
    }

    /// A vector of these elements, of which there is at least one.
    pub(crate) fn elements(self, elements: &[Value]) -> Value {
        let ty = self
            .0
            .context()
            .vector(elements.len() as i64, elements[0].ty());
        self.0
            .op("vector.from_elements")
            .operands(elements)
            .results(&[ty])
            .value()
    }

    /// `arith.cmpi` of vectors.
    pub(crate) fn compare_vectors(self, how: Compare, left: Value, right: Value) -> Value {
        let context = self.0.context();
        let length = left.ty().static_shape()[0];
        self.0
            .op("arith.cmpi")
            .operands(&[left, right])
            .results(&[context.vector(length, context.i1())])
            .attr("predicate", context.i64_attr(how as i64))
            .value()
    }

    fn constant(self, ty: Type, value: i64) -> Value {
        let attr = self.0.context().int_attr(ty, value);
        self.0
            .op("arith.constant")
            .results(&[ty])
            .attr("value", attr)
            .value()
    }

    fn binary(self, name: &'static str, left: Value, right: Value) -> Value {
        self.0
            .op(name)
            .operands(&[left, right])
            .results(&[left.ty()])
            .value()
    }

    pub(crate) fn add(self, left: Value, right: Value) -> Value {
        match right.constant_int() {
            Some(0) => left,
            _ => self.binary("arith.addi", left, right),
        }
    }

    pub(crate) fn sub(self, left: Value, right: Value) -> Value {
        self.binary("arith.subi", left, right)
    }

    pub(crate) fn mul(self, left: Value, right: Value) -> Value {
        match right.constant_int() {
            Some(1) => left,
            _ => self.binary("arith.muli", left, right),
        }
    }

    pub(crate) fn div(self, left: Value, right: Value) -> Value {
        match right.constant_int() {
            Some(1) => left,
            _ => self.binary("arith.divui", left, right),
        }
    }

    pub(crate) fn rem(self, left: Value, right: Value) -> Value {
        match right.constant_int() {
            Some(1) => self.constant(left.ty(), 0),
            _ => self.binary("arith.remui", left, right),
        }
    }

    pub(crate) fn and(self, left: Value, right: Value) -> Value {
        self.binary("arith.andi", left, right)
    }

    pub(crate) fn or(self, left: Value, right: Value) -> Value {
        self.binary("arith.ori", left, right)
    }

    pub(crate) fn xor(self, left: Value, right: Value) -> Value {
        self.binary("arith.xori", left, right)
    }

    /// A boolean as i32.
    pub(crate) fn extend(self, flag: Value) -> Value {
        let i32 = self.0.context().i32();
        self.0
            .op("arith.extui")
            .operands(&[flag])
            .results(&[i32])
            .value()
    }

    pub(crate) fn max(self, left: Value, right: Value) -> Value {
        self.binary("arith.maxsi", left, right)
    }

    pub(crate) fn min(self, left: Value, right: Value) -> Value {
        self.binary("arith.minsi", left, right)
    }

    pub(crate) fn compare(self, how: Compare, left: Value, right: Value) -> Value {
        let context = self.0.context();
        self.0
            .op("arith.cmpi")
            .operands(&[left, right])
            .results(&[context.i1()])
            .attr("predicate", context.i64_attr(how as i64))
            .value()
    }

    pub(crate) fn select(self, condition: Value, yes: Value, no: Value) -> Value {
        self.0
            .op("arith.select")
            .operands(&[condition, yes, no])
            .results(&[yes.ty()])
            .value()
    }

    /// `arith.index_cast` between `index` and an integer type.
    pub(crate) fn index_cast(self, value: Value, ty: Type) -> Value {
        if value.ty() == ty {
            return value;
        }
        self.0
            .op("arith.index_cast")
            .operands(&[value])
            .results(&[ty])
            .value()
    }

    /// Extent of a memref's dimension, index.
    pub(crate) fn dim(self, memref: Value, dim: usize) -> Value {
        match memref.ty().shape()[dim] {
            Some(extent) => self.index(extent),
            None => {
                let at = self.index(dim as i64);
                self.0
                    .op("memref.dim")
                    .operands(&[memref, at])
                    .results(&[self.0.context().index()])
                    .value()
            }
        }
    }

    /// `scf.if` without results; `body` fills it.
    pub(crate) fn when(self, condition: Value, body: impl FnOnce(Build)) {
        self.if_else(condition, body, None::<fn(Build)>);
    }

    /// `scf.if` with an optional else part, without results.
    pub(crate) fn if_else(
        self,
        condition: Value,
        then: impl FnOnce(Build),
        otherwise: Option<impl FnOnce(Build)>,
    ) {
        let op = self
            .0
            .op("scf.if")
            .operands(&[condition])
            .regions(2)
            .build();
        let (_, inner) = op.regions()[0].new_block(&[], self.0.location(), self.0.context());
        then(Build(inner));
        inner.op("scf.yield").build();
        if let Some(otherwise) = otherwise {
            let (_, inner) = op.regions()[1].new_block(&[], self.0.location(), self.0.context());
            otherwise(Build(inner));
            inner.op("scf.yield").build();
        }
    }

    /// `scf.if` with one result.
    pub(crate) fn if_value(
        self,
        condition: Value,
        ty: Type,
        then: impl FnOnce(Build) -> Value,
        otherwise: impl FnOnce(Build) -> Value,
    ) -> Value {
        let op = self
            .0
            .op("scf.if")
            .operands(&[condition])
            .results(&[ty])
            .regions(2)
            .build();
        let inner = |region: usize| {
            let place = (self.0.location(), self.0.context());
            op.regions()[region].new_block(&[], place.0, place.1).1
        };
        let build = inner(0);
        build
            .op("scf.yield")
            .operands(&[then(Build(build))])
            .build();
        let build = inner(1);
        build
            .op("scf.yield")
            .operands(&[otherwise(Build(build))])
            .build();
        op.result(0)
    }

    /// `scf.for` from `from` to `to` by `step` without carried values.
    pub(crate) fn count(
        self,
        from: Value,
        to: Value,
        step: Value,
        body: impl FnOnce(Build, Value),
    ) {
        let op = self
            .0
            .op("scf.for")
            .operands(&[from, to, step])
            .regions(1)
            .build();
        let context = self.0.context();
        let (block, inner) = op.regions()[0].new_block(
            &[(context.index(), self.0.location())],
            self.0.location(),
            context,
        );
        body(Build(inner), block.arguments()[0]);
        inner.op("scf.yield").build();
    }
}
