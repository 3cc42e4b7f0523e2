//! Arithmetic, comparisons and selections, element by element.

use super::{
    BinaryOp, BuildError, BuildProblem, Element, KernelBuilder, Operand, Predicate, UnaryOp, Value,
    ValueType, ops::Names,
};

impl KernelBuilder {
    /// An op with one operand.
    ///
    /// # Errors
    /// An op that does not exist for these elements.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Result<Value, BuildError> {
        let name = self.exists(&op.names(), a.ty)?;
        let operand = self.used(a.id)?;
        Ok(self.valued(&format!("{name} {operand} : {}", a.ty), a.ty))
    }

    /// An op with two operands of one type.
    ///
    /// # Errors
    /// Operands of different types, or an op that does not exist for these elements.
    pub fn binary<T: Operand>(&mut self, op: BinaryOp, a: T, b: T) -> Result<T, BuildError> {
        let (a, b): (Value, Value) = (a.into(), b.into());
        let name = self.exists(&op.names(), a.ty)?;
        self.same_type(a.ty, b)?;
        let operands = self.used_all([a.id, b.id])?.join(", ");
        let made = self.valued(&format!("{name} {operands} : {}", a.ty), a.ty);
        Ok(T::from_value(made))
    }

    /// `a + b`; see [`binary`](Self::binary).
    ///
    /// # Errors
    /// Operands of different types or without arithmetic.
    pub fn add<T: Operand>(&mut self, a: T, b: T) -> Result<T, BuildError> {
        self.binary(BinaryOp::Add, a, b)
    }

    /// `a - b`; see [`binary`](Self::binary).
    ///
    /// # Errors
    /// Operands of different types or without arithmetic.
    pub fn sub<T: Operand>(&mut self, a: T, b: T) -> Result<T, BuildError> {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// `a · b`; see [`binary`](Self::binary).
    ///
    /// # Errors
    /// Operands of different types or without arithmetic.
    pub fn mul<T: Operand>(&mut self, a: T, b: T) -> Result<T, BuildError> {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// `a / b`; see [`binary`](Self::binary).
    ///
    /// # Errors
    /// Operands of different types or without arithmetic.
    pub fn div<T: Operand>(&mut self, a: T, b: T) -> Result<T, BuildError> {
        self.binary(BinaryOp::Div, a, b)
    }

    /// `a · b + c` of floats, rounded once.
    ///
    /// # Errors
    /// Operands of different types, or no floats.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Result<Value, BuildError> {
        let names = Names {
            float: "math.fma",
            integer: "",
        };
        let name = self.exists(&names, a.ty)?;
        self.same_type(a.ty, b)?;
        self.same_type(a.ty, c)?;
        let operands = self.used_all([a.id, b.id, c.id])?.join(", ");
        Ok(self.valued(&format!("{name} {operands} : {}", a.ty), a.ty))
    }

    /// Whether two operands of one type stand in a relation: i1, element by element.
    ///
    /// # Errors
    /// Operands of different types, or a relation that does not exist for these elements.
    pub fn compare<T: Operand>(
        &mut self,
        predicate: Predicate,
        a: T,
        b: T,
    ) -> Result<Value, BuildError> {
        let (a, b): (Value, Value) = (a.into(), b.into());
        let relation = self.exists(&predicate.names(), a.ty)?;
        self.same_type(a.ty, b)?;
        let operands = self.used_all([a.id, b.id])?.join(", ");
        let op = if a.element().is_float() {
            "arith.cmpf"
        } else {
            "arith.cmpi"
        };
        let text = format!("{op} {relation}, {operands} : {}", a.ty);
        Ok(self.valued(&text, a.ty.with(Element::Int(1))))
    }

    /// `a` where the condition holds, else `b`. The condition is of i1 and of the operands'
    /// shape.
    ///
    /// # Errors
    /// Operands of different types, or another condition.
    pub fn select<T: Operand>(&mut self, condition: Value, a: T, b: T) -> Result<T, BuildError> {
        let (a, b): (Value, Value) = (a.into(), b.into());
        self.same_type(a.ty.with(Element::Int(1)), condition)?;
        self.same_type(a.ty, b)?;
        let operands = self.used_all([condition.id, a.id, b.id])?.join(", ");
        let conditions = if a.ty.is_scalar() {
            String::new()
        } else {
            format!("{}, ", condition.ty)
        };
        let text = format!("arith.select {operands} : {conditions}{}", a.ty);
        Ok(T::from_value(self.valued(&text, a.ty)))
    }

    /// The name of an op for a type.
    pub(super) fn exists(&self, names: &Names, ty: ValueType) -> Result<&'static str, BuildError> {
        let element = ty.element();
        match names.of(element.is_float()) {
            Ok(name) if element.computes() => Ok(name),
            Ok(op) | Err(op) => self.wrong(BuildProblem::Unsupported { op, ty }),
        }
    }
}
