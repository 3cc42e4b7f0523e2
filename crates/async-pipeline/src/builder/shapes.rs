//! Changes of element type and shape, and reductions.

use super::{
    BuildError, BuildProblem, Element, KernelBuilder, Operand, ReduceOp, Shape, Value, ValueType,
    handle::Id, types::dimension_of,
};

/// One op of a conversion.
type Step = (&'static str, Element);

impl KernelBuilder {
    /// The same value in another element type. Floats are rounded to nearest, ties to even; of
    /// floats integers keep what lies towards 0; integers have a sign, but i1 is 0 or 1; what
    /// does not fit into a narrower integer is cut off.
    ///
    /// # Errors
    /// A type that registers do not hold.
    pub fn convert(&mut self, value: impl Operand, element: Element) -> Result<Value, BuildError> {
        self.converted(value.into(), element, true)
    }

    /// As [`convert`](Self::convert), with integers that have no sign.
    ///
    /// # Errors
    /// A type that registers do not hold.
    pub fn convert_unsigned(
        &mut self,
        value: impl Operand,
        element: Element,
    ) -> Result<Value, BuildError> {
        self.converted(value.into(), element, false)
    }

    /// An integer as an index, with its sign.
    ///
    /// # Errors
    /// No scalar, or no integer.
    pub fn to_index(&mut self, value: Value) -> Result<super::Index, BuildError> {
        if value.element().is_float() || !value.ty.is_scalar() {
            return self.wrong(BuildProblem::Unsupported {
                op: "arith.index_cast",
                ty: value.ty,
            });
        }
        let id = self.converted(value, Element::Index, true)?.id;
        Ok(super::Index { id })
    }

    fn converted(
        &mut self,
        value: Value,
        element: Element,
        signed: bool,
    ) -> Result<Value, BuildError> {
        self.located(value.ty.with(element).check())?;
        self.used(value.id)?;
        let mut value = value;
        for (op, element) in steps(value.element(), element, signed) {
            let (name, to) = (self.used(value.id)?, value.ty.with(element));
            value = self.valued(&format!("{op} {name} : {} to {to}", value.ty), to);
        }
        Ok(value)
    }

    /// Repeats a value along new outer dimensions and along extents of 1.
    ///
    /// # Errors
    /// A shape that the value does not fit, or that registers do not hold.
    pub fn broadcast(
        &mut self,
        value: impl Operand,
        shape: impl Into<Shape>,
    ) -> Result<Value, BuildError> {
        let value: Value = value.into();
        let to = self.located(value.ty.shaped(shape.into()).check())?;
        let (old, new) = (value.shape(), to.shape());
        let (old, new) = (old.extents(), new.extents());
        let added = new.len().checked_sub(old.len());
        let fits = added.is_some_and(|added| {
            old.iter()
                .zip(&new[added..])
                .all(|(old, new)| old == new || *old == 1)
        });
        if !fits {
            return self.wrong(BuildProblem::Broadcast { from: value.ty, to });
        }
        let name = self.used(value.id)?;
        if value.ty == to {
            return Ok(value);
        }
        let text = format!("vector.broadcast {name} : {} to {to}", value.ty);
        Ok(self.valued(&text, to))
    }

    /// The same elements, in row-major order, under another shape.
    ///
    /// # Errors
    /// Another number of elements, or a scalar.
    pub fn shape_cast(
        &mut self,
        value: Value,
        shape: impl Into<Shape>,
    ) -> Result<Value, BuildError> {
        let to = self.located(value.ty.shaped(shape.into()).check())?;
        let scalar = value.ty.is_scalar() || to.is_scalar();
        if scalar || value.shape().elements() != to.shape().elements() {
            return self.wrong(BuildProblem::ShapeCast { from: value.ty, to });
        }
        let name = self.used(value.id)?;
        let text = format!("vector.shape_cast {name} : {} to {to}", value.ty);
        Ok(self.valued(&text, to))
    }

    /// 0, 1, 2, … as so many elements of type index.
    ///
    /// # Errors
    /// A number of elements that registers do not hold.
    pub fn step(&mut self, elements: u64) -> Result<Value, BuildError> {
        let ty = self.located(ValueType::new(Element::Index, [elements]).check())?;
        Ok(self.valued(&format!("vector.step : {ty}"), ty))
    }

    /// Combines all elements along some dimensions, which the result does not have: a scalar
    /// if they are all. Floats are rounded once, at the end, and combined in no defined order.
    ///
    /// # Errors
    /// No dimension, one twice, or one that the value does not have; an op that does not exist
    /// for these elements.
    pub fn reduce(
        &mut self,
        op: ReduceOp,
        value: Value,
        dimensions: &[usize],
    ) -> Result<Value, BuildError> {
        let kind = self.exists(&op.names(), value.ty)?;
        let rank = value.shape().extents().len();
        let mut sorted = dimensions.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.is_empty() || sorted.len() != dimensions.len() {
            return self.wrong(BuildProblem::Dimensions(dimensions.to_vec()));
        }
        if let Some(outside) = sorted.iter().find(|dimension| **dimension >= rank) {
            return self.wrong(dimension_of(rank, *outside));
        }
        let name = self.used(value.id)?;
        let ty = value.ty.shaped(value.shape().without(&sorted));
        let start = self.identity(op, ty)?;
        let start = self.used(start)?;
        let text = format!(
            "vector.multi_reduction <{kind}>, {name}, {start} {sorted:?} : {} to {ty}",
            value.ty
        );
        Ok(self.valued(&text, ty))
    }

    fn identity(&mut self, op: ReduceOp, ty: ValueType) -> Result<Id, BuildError> {
        let element = ty.element();
        let start = if element.is_float() {
            self.float(ty, op.float_identity())
        } else {
            self.int(ty, op.integer_identity(element.bits()))
        };
        Ok(start?.id)
    }
}

/// How one element type becomes another: no op, one, or two where none does it alone.
fn steps(from: Element, to: Element, signed: bool) -> Vec<Step> {
    // A truth is 0 or 1, never -1.
    let signed = signed && from != Element::Int(1);
    let either = |with: &'static str, without: &'static str| if signed { with } else { without };
    match (from, to) {
        _ if from == to => Vec::new(),
        (Element::Index, _) if to.is_float() => {
            let wide = Element::Int(64);
            let cast = either("arith.index_cast", "arith.index_castui");
            let mut all = vec![(cast, wide)];
            all.extend(steps(wide, to, signed));
            all
        }
        (_, Element::Index) if from.is_float() => {
            let wide = Element::Int(64);
            let mut all = steps(from, wide, signed);
            all.push((either("arith.index_cast", "arith.index_castui"), to));
            all
        }
        (Element::Index, _) | (_, Element::Index) => {
            vec![(either("arith.index_cast", "arith.index_castui"), to)]
        }
        _ if from.is_float() && to.is_float() => match from.bits().cmp(&to.bits()) {
            std::cmp::Ordering::Less => vec![("arith.extf", to)],
            std::cmp::Ordering::Greater => vec![("arith.truncf", to)],
            // f16 and bf16, and the 8-bit floats: by way of a type that holds both.
            std::cmp::Ordering::Equal => {
                vec![("arith.extf", Element::F32), ("arith.truncf", to)]
            }
        },
        _ if from.is_float() => vec![(either("arith.fptosi", "arith.fptoui"), to)],
        _ if to.is_float() => vec![(either("arith.sitofp", "arith.uitofp"), to)],
        _ if from.bits() < to.bits() => vec![(either("arith.extsi", "arith.extui"), to)],
        _ => vec![("arith.trunci", to)],
    }
}
