//! Small `Copy` handles to IR, and a builder.
//!
//! melior's handles carry a lifetime that ties them to one immutable module, which
//! rewriting cannot keep. These handles carry none: they are made only while a hook
//! runs, and code that erases an op drops every handle to it. They never leave the
//! library's passes.

use crate::ffi;
use mlir_sys::{
    MlirAttribute, MlirBlock, MlirContext, MlirLocation, MlirOperation, MlirRegion, MlirStringRef,
    MlirType, MlirValue,
};
use std::{
    ffi::c_void,
    fmt::{self, Display, Formatter},
    hash::{Hash, Hasher},
    slice,
};

mod attributes;
mod builder;
mod operations;
mod types;

pub use builder::{Builder, OpBuilder};
pub use types::TypeKind;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($raw);

        impl $name {
            /// Wraps a raw handle, which must not be null.
            pub fn from_raw(raw: $raw) -> Self {
                debug_assert!(!raw.ptr.is_null());
                Self(raw)
            }

            /// The raw handle.
            pub fn raw(self) -> $raw {
                self.0
            }

            #[allow(dead_code)]
            fn optional(raw: $raw) -> Option<Self> {
                (!raw.ptr.is_null()).then_some(Self(raw))
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.ptr == other.0.ptr
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.ptr.hash(state);
            }
        }
    };
}

handle!(
    /// An operation.
    Op, MlirOperation
);
handle!(
    /// A block.
    Block, MlirBlock
);
handle!(
    /// A region.
    Region, MlirRegion
);
handle!(
    /// An SSA value.
    Value, MlirValue
);
handle!(
    /// A type.
    Type, MlirType
);
handle!(
    /// An attribute.
    Attr, MlirAttribute
);
handle!(
    /// A source location.
    Loc, MlirLocation
);
handle!(
    /// A context.
    Ctx, MlirContext
);

/// A string reference for the duration of one call.
pub fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef {
        data: text.as_ptr().cast(),
        length: text.len(),
    }
}

pub(crate) fn borrow_bytes<'a>(text: MlirStringRef) -> &'a [u8] {
    if text.length == 0 {
        return &[];
    }
    // SAFETY: MLIR hands over `length` readable bytes; callers copy before they are freed.
    unsafe { slice::from_raw_parts(text.data.cast::<u8>(), text.length) }
}

pub(crate) fn borrow_str<'a>(text: MlirStringRef) -> &'a str {
    std::str::from_utf8(borrow_bytes(text)).unwrap_or("<not UTF-8>")
}

pub(crate) extern "C" fn collect_text(text: MlirStringRef, out: *mut c_void) {
    // SAFETY: every caller passes a `*mut String` that outlives the call.
    let out = unsafe { &mut *out.cast::<String>() };
    out.push_str(borrow_str(text));
}

fn printed(print: impl FnOnce(extern "C" fn(MlirStringRef, *mut c_void), *mut c_void)) -> String {
    let mut text = String::new();
    print(collect_text, (&raw mut text).cast());
    text
}

unsafe extern "C" fn collect_text_unsafe(text: MlirStringRef, out: *mut c_void) {
    collect_text(text, out);
}

impl Display for Type {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        // SAFETY: the callback gets the string it expects.
        formatter.write_str(&printed(|_, out| unsafe {
            mlir_sys::mlirTypePrint(self.0, Some(collect_text_unsafe), out);
        }))
    }
}

impl Display for Attr {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        // SAFETY: as for types.
        formatter.write_str(&printed(|_, out| unsafe {
            mlir_sys::mlirAttributePrint(self.0, Some(collect_text_unsafe), out);
        }))
    }
}

impl Display for Op {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        // SAFETY: as for types.
        formatter.write_str(&printed(|_, out| unsafe {
            mlir_sys::mlirOperationPrint(self.0, Some(collect_text_unsafe), out);
        }))
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, formatter)
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, formatter)
    }
}

impl Display for Loc {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        // SAFETY: as for types.
        formatter.write_str(&printed(|_, out| unsafe {
            mlir_sys::mlirLocationPrint(self.0, Some(collect_text_unsafe), out);
        }))
    }
}

impl Ctx {
    /// Parses an attribute.
    pub fn parse_attr(self, text: &str) -> Option<Attr> {
        // SAFETY: the string lives for the call.
        Attr::optional(unsafe { mlir_sys::mlirAttributeParseGet(self.0, string_ref(text)) })
    }

    /// Parses a type.
    pub fn parse_type(self, text: &str) -> Option<Type> {
        // SAFETY: the string lives for the call.
        Type::optional(unsafe { mlir_sys::mlirTypeParseGet(self.0, string_ref(text)) })
    }

    /// A location that says nothing.
    pub fn unknown(self) -> Loc {
        // SAFETY: the context is live.
        Loc(unsafe { mlir_sys::mlirLocationUnknownGet(self.0) })
    }
}

/// Emits an error, with an optional note elsewhere.
pub fn emit_error(location: Loc, text: &str, note: Option<(Loc, String)>) {
    let (note_location, note_text) = note.unwrap_or((location, String::new()));
    // SAFETY: the shim copies both strings.
    unsafe {
        ffi::apEmitError(
            location.0,
            string_ref(text),
            note_location.0,
            string_ref(&note_text),
        );
    }
}

/// Emits a remark.
pub fn emit_remark(location: Loc, text: &str) {
    // SAFETY: the shim copies the string.
    unsafe { ffi::apEmitRemark(location.0, string_ref(text)) };
}

/// Emits a warning.
pub fn emit_warning(location: Loc, text: &str) {
    // SAFETY: the shim copies the string.
    unsafe { ffi::apEmitWarning(location.0, string_ref(text)) };
}
