//! Matrix products.

use super::{
    Accumulator, Buffer, BuildError, BuildProblem, Element, FactorA, FactorB, KernelBuilder,
};

/// One side of a product, as text and as the product sees it.
struct Factor {
    name: String,
    ty: String,
    element: Element,
    /// Rows and columns, exchanged if it is transposed.
    extents: [u64; 2],
}

impl KernelBuilder {
    /// Adds the product of A (M×K) and B (K×N) to an accumulator. Elements are f16, bf16 or
    /// f32 on both sides, or 8-bit floats in any mix; f32 takes part as tf32.
    ///
    /// # Errors
    /// Shapes that do not fit, another rank than 2, other element types.
    pub fn mma(
        &mut self,
        accumulator: Accumulator,
        a: impl Into<FactorA>,
        b: impl Into<FactorB>,
    ) -> Result<(), BuildError> {
        let a = match a.into() {
            FactorA::Buffer(buffer) => self.factor(buffer, false)?,
            FactorA::Transposed(buffer) => self.factor(buffer, true)?,
            FactorA::Value(value) => Factor {
                name: self.used(value.id)?,
                ty: value.ty.to_string(),
                element: value.element(),
                extents: self.rows_and_columns(value.shape().extents())?,
            },
        };
        let b = match b.into() {
            FactorB::Buffer(buffer) => self.factor(buffer, false)?,
            FactorB::Transposed(buffer) => self.factor(buffer, true)?,
        };
        let [m, n] = accumulator.extents;
        if a.extents[0] != m || b.extents[1] != n || a.extents[1] != b.extents[0] {
            return self.wrong(BuildProblem::Product {
                accumulator: accumulator.extents,
                a: a.extents,
                b: b.extents,
            });
        }
        self.multipliable(a.element, b.element)?;
        let (sum, ty) = (self.used(accumulator.id)?, accumulator.type_text());
        self.op(&format!(
            "async_pipeline.work.mma {sum} += {} * {} : {ty}, {}, {}",
            a.name, b.name, a.ty, b.ty
        ));
        Ok(())
    }

    fn multipliable(&self, a: Element, b: Element) -> Result<(), BuildError> {
        let bytes = |element| matches!(element, Element::F8E4M3FN | Element::F8E5M2);
        let wide = |element| matches!(element, Element::F16 | Element::BF16 | Element::F32);
        if let Some(got) = [a, b].into_iter().find(|e| !bytes(*e) && !wide(*e)) {
            return self.wrong(BuildProblem::Elements {
                what: "factors",
                allowed: "f16, bf16, f32, f8E4M3FN or f8E5M2",
                got,
            });
        }
        if a != b && !(bytes(a) && bytes(b)) {
            return self.wrong(BuildProblem::Element {
                expected: a,
                got: b,
            });
        }
        Ok(())
    }

    fn factor(&self, buffer: Buffer, transposed: bool) -> Result<Factor, BuildError> {
        let [rows, columns] = self.rows_and_columns(buffer.extents())?;
        let name = self.used(buffer.id)?;
        let (name, extents) = if transposed {
            (format!("transpose {name}"), [columns, rows])
        } else {
            (name, [rows, columns])
        };
        Ok(Factor {
            name,
            ty: buffer.type_text(),
            element: buffer.element,
            extents,
        })
    }

    fn rows_and_columns(&self, extents: &[u64]) -> Result<[u64; 2], BuildError> {
        match *extents {
            [rows, columns] => Ok([rows, columns]),
            _ => self.wrong(BuildProblem::Count {
                what: "dimensions of a factor",
                expected: 2,
                got: extents.len(),
            }),
        }
    }
}
