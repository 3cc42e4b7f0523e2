//! Reading and making attributes.

use super::{Attr, Ctx, Type, borrow_str, string_ref};

impl Attr {
    /// The value of an integer (or index, or boolean) attribute.
    pub fn int(self) -> Option<i64> {
        // SAFETY: each reader is guarded by its own test.
        unsafe {
            if mlir_sys::mlirAttributeIsABool(self.raw()) {
                return Some(i64::from(mlir_sys::mlirBoolAttrGetValue(self.raw())));
            }
            if !mlir_sys::mlirAttributeIsAInteger(self.raw()) {
                return None;
            }
            let ty = Type(mlir_sys::mlirAttributeGetType(self.raw()));
            match ty.bit_width() {
                Some(width) if width > 64 => None,
                _ if ty.is_signless_or_index() => {
                    Some(mlir_sys::mlirIntegerAttrGetValueInt(self.raw()))
                }
                _ => None,
            }
        }
    }

    /// The value of a float attribute.
    pub fn float(self) -> Option<f64> {
        // SAFETY: guarded by the test.
        unsafe {
            mlir_sys::mlirAttributeIsAFloat(self.raw())
                .then(|| mlir_sys::mlirFloatAttrGetValueDouble(self.raw()))
        }
    }

    /// The value of a string attribute.
    pub fn string(self) -> Option<String> {
        // SAFETY: guarded by the test; the text is copied.
        unsafe {
            mlir_sys::mlirAttributeIsAString(self.raw())
                .then(|| borrow_str(mlir_sys::mlirStringAttrGetValue(self.raw())).to_owned())
        }
    }

    /// Whether it is a unit attribute.
    pub fn is_unit(self) -> bool {
        // SAFETY: the attribute is live.
        unsafe { mlir_sys::mlirAttributeIsAUnit(self.raw()) }
    }

    /// The type of a type attribute.
    pub fn ty(self) -> Option<Type> {
        // SAFETY: guarded by the test.
        unsafe {
            mlir_sys::mlirAttributeIsAType(self.raw())
                .then(|| Type(mlir_sys::mlirTypeAttrGetValue(self.raw())))
        }
    }

    /// The elements of an array attribute.
    pub fn array(self) -> Option<Vec<Attr>> {
        // SAFETY: guarded by the test; the index is below the count.
        unsafe {
            mlir_sys::mlirAttributeIsAArray(self.raw()).then(|| {
                (0..mlir_sys::mlirArrayAttrGetNumElements(self.raw()))
                    .map(|index| Attr(mlir_sys::mlirArrayAttrGetElement(self.raw(), index)))
                    .collect()
            })
        }
    }

    /// An entry of a dictionary attribute.
    pub fn entry(self, name: &str) -> Option<Attr> {
        // SAFETY: guarded by the test; the string lives for the call.
        unsafe {
            mlir_sys::mlirAttributeIsADictionary(self.raw())
                .then(|| {
                    Attr::optional(mlir_sys::mlirDictionaryAttrGetElementByName(
                        self.raw(),
                        string_ref(name),
                    ))
                })
                .flatten()
        }
    }

    /// Names and values of a dictionary attribute.
    pub fn entries(self) -> Vec<(String, Attr)> {
        // SAFETY: guarded by the test; the index is below the count.
        unsafe {
            if !mlir_sys::mlirAttributeIsADictionary(self.raw()) {
                return Vec::new();
            }
            (0..mlir_sys::mlirDictionaryAttrGetNumElements(self.raw()))
                .map(|index| {
                    let named = mlir_sys::mlirDictionaryAttrGetElement(self.raw(), index);
                    (
                        borrow_str(mlir_sys::mlirIdentifierStr(named.name)).to_owned(),
                        Attr(named.attribute),
                    )
                })
                .collect()
        }
    }

    /// The values of an `array<i32: …>` attribute; empty for any other.
    pub fn dense_i32(self) -> Vec<i32> {
        // SAFETY: guarded by the test; the index is below the count.
        unsafe {
            if !mlir_sys::mlirAttributeIsADenseI32Array(self.raw()) {
                return Vec::new();
            }
            (0..mlir_sys::mlirDenseArrayGetNumElements(self.raw()))
                .map(|index| mlir_sys::mlirDenseI32ArrayGetElement(self.raw(), index))
                .collect()
        }
    }

    /// The values of an `array<i64: …>` attribute; empty for any other.
    pub fn dense_i64(self) -> Vec<i64> {
        // SAFETY: guarded by the test; the index is below the count.
        unsafe {
            if !mlir_sys::mlirAttributeIsADenseI64Array(self.raw()) {
                return Vec::new();
            }
            (0..mlir_sys::mlirDenseArrayGetNumElements(self.raw()))
                .map(|index| mlir_sys::mlirDenseI64ArrayGetElement(self.raw(), index))
                .collect()
        }
    }
}

impl Ctx {
    /// An integer attribute of a type.
    pub fn int_attr(self, ty: Type, value: i64) -> Attr {
        // SAFETY: the type is an integer or index type of this context.
        Attr(unsafe { mlir_sys::mlirIntegerAttrGet(ty.raw(), value) })
    }

    /// An i32 attribute.
    pub fn i32_attr(self, value: i64) -> Attr {
        self.int_attr(self.i32(), value)
    }

    /// An i64 attribute.
    pub fn i64_attr(self, value: i64) -> Attr {
        self.int_attr(self.i64(), value)
    }

    /// A string attribute.
    pub fn string_attr(self, value: &str) -> Attr {
        // SAFETY: the string is copied.
        Attr(unsafe { mlir_sys::mlirStringAttrGet(self.raw(), string_ref(value)) })
    }

    /// A flat symbol reference.
    pub fn symbol_ref(self, name: &str) -> Attr {
        // SAFETY: the string is copied.
        Attr(unsafe { mlir_sys::mlirFlatSymbolRefAttrGet(self.raw(), string_ref(name)) })
    }

    /// The unit attribute.
    pub fn unit_attr(self) -> Attr {
        // SAFETY: the context is live.
        Attr(unsafe { mlir_sys::mlirUnitAttrGet(self.raw()) })
    }

    /// A type attribute.
    pub fn type_attr(self, ty: Type) -> Attr {
        // SAFETY: the type is live.
        Attr(unsafe { mlir_sys::mlirTypeAttrGet(ty.raw()) })
    }

    /// An `array<i32: …>` attribute.
    pub fn dense_i32_attr(self, values: &[i32]) -> Attr {
        // SAFETY: the array has as many elements as announced.
        Attr(unsafe {
            mlir_sys::mlirDenseI32ArrayGet(self.raw(), values.len() as isize, values.as_ptr())
        })
    }

    /// An `array<i64: …>` attribute.
    pub fn dense_i64_attr(self, values: &[i64]) -> Attr {
        // SAFETY: the array has as many elements as announced.
        Attr(unsafe {
            mlir_sys::mlirDenseI64ArrayGet(self.raw(), values.len() as isize, values.as_ptr())
        })
    }

    /// An array attribute.
    pub fn array_attr(self, values: &[Attr]) -> Attr {
        let raw: Vec<_> = values.iter().map(|value| value.raw()).collect();
        // SAFETY: the array has as many elements as announced.
        Attr(unsafe { mlir_sys::mlirArrayAttrGet(self.raw(), raw.len() as isize, raw.as_ptr()) })
    }

    /// A dictionary attribute.
    pub fn dict_attr(self, entries: &[(&str, Attr)]) -> Attr {
        // SAFETY: names and values belong to this context; the array is as long as announced.
        unsafe {
            let raw: Vec<_> = entries
                .iter()
                .map(|(name, value)| {
                    mlir_sys::mlirNamedAttributeGet(
                        mlir_sys::mlirIdentifierGet(self.raw(), string_ref(name)),
                        value.raw(),
                    )
                })
                .collect();
            Attr(mlir_sys::mlirDictionaryAttrGet(
                self.raw(),
                raw.len() as isize,
                raw.as_ptr(),
            ))
        }
    }
}
