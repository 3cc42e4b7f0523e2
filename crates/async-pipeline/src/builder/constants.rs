//! Constants, and how MLIR writes them.

use super::{BuildError, BuildProblem, Element, Index, KernelBuilder, Value, ValueType};

impl KernelBuilder {
    /// An index that is known now.
    pub fn index(&mut self, value: i64) -> Index {
        let id = self.result(&format!("arith.constant {value} : index"));
        Index { id }
    }

    /// A float, or a tile full of it, rounded to the element type: to nearest, ties to even.
    ///
    /// # Errors
    /// An element type that is no float, a type that registers do not hold, an infinity or NaN
    /// of 8-bit floats.
    pub fn float(&mut self, ty: impl Into<ValueType>, value: f64) -> Result<Value, BuildError> {
        let ty = self.located(ty.into().check())?;
        match float_text(ty.element(), value) {
            Some(text) => Ok(self.constant(ty, &text)),
            None => self.wrong(BuildProblem::Constant {
                element: ty.element(),
                value: value.to_string(),
            }),
        }
    }

    /// An integer, or a tile full of it.
    ///
    /// # Errors
    /// An element type that is no integer or that does not hold the value, neither with a sign
    /// nor without; a type that registers do not hold.
    pub fn int(&mut self, ty: impl Into<ValueType>, value: i64) -> Result<Value, BuildError> {
        let ty = self.located(ty.into().check())?;
        let bits = ty.element().bits();
        let fits = |least: i128, most: i128| (least..=most).contains(&i128::from(value));
        if ty.element().is_float() || !fits(-(1 << (bits - 1)), (1 << bits) - 1) {
            return self.wrong(BuildProblem::Constant {
                element: ty.element(),
                value: value.to_string(),
            });
        }
        let text = match ty.element() {
            Element::Int(1) => (value != 0).to_string(),
            _ => value.to_string(),
        };
        Ok(self.constant(ty, &text))
    }

    fn constant(&mut self, ty: ValueType, text: &str) -> Value {
        let text = if ty.is_scalar() {
            text.to_owned()
        } else {
            format!("dense<{text}>")
        };
        // A scalar of type i1 is written without its type.
        let typed = if ty == Element::Int(1).into() {
            String::new()
        } else {
            format!(" : {ty}")
        };
        self.valued(&format!("arith.constant {text}{typed}"), ty)
    }
}

/// A float as MLIR reads it: a decimal that the element type holds, or bits.
fn float_text(element: Element, value: f64) -> Option<String> {
    if !element.is_float() {
        return None;
    }
    let value = element.round(value);
    if value.is_finite() {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e')?;
        let point = if digits.contains('.') { "" } else { ".0" };
        let exponent = match exponent {
            "0" => String::new(),
            other => format!("e{other}"),
        };
        return Some(format!("{digits}{point}{exponent}"));
    }
    // Quiet NaN, infinity, and the sign bit.
    let (nan, infinity, sign, digits) = match element {
        Element::F16 => (0x7e00, 0x7c00, 0x8000, 4),
        Element::BF16 => (0x7fc0, 0x7f80, 0x8000, 4),
        Element::F32 => (0x7fc0_0000, 0x7f80_0000, 0x8000_0000, 8),
        Element::F64 => (0x7ff8 << 48, 0x7ff0 << 48, 1_u64 << 63, 16),
        _ => return None,
    };
    let bits = if value.is_nan() {
        nan
    } else if value < 0.0 {
        infinity | sign
    } else {
        infinity
    };
    Some(format!("0x{bits:0digits$X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_the_element_type_holds_them() {
        let text = |element, value| float_text(element, value).unwrap_or_default();
        assert_eq!(text(Element::F32, 0.5), "5.0e-1");
        assert_eq!(text(Element::F32, -3.0), "-3.0");
        assert_eq!(text(Element::F32, 0.1), "1.0000000149011612e-1");
        assert_eq!(text(Element::F16, 1e9), "0x7C00");
        assert_eq!(text(Element::BF16, f64::NEG_INFINITY), "0xFF80");
        assert_eq!(text(Element::F64, f64::NAN), "0x7FF8000000000000");
        assert_eq!(text(Element::F32, -0.0), "-0.0");
        assert_eq!(text(Element::F8E4M3FN, 1e9), "4.48e2");
        assert_eq!(text(Element::F8E4M3FN, f64::NAN), "");
        assert_eq!(text(Element::Index, 1.0), "");
    }
}
