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
