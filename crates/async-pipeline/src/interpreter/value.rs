//! What registers hold.

use std::rc::Rc;

/// Which memory a view points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// A memref argument, by position.
    Argument(u32),
    /// Bytes of shared memory.
    Shared {
        /// Byte offset of the slot.
        start: u64,
        /// Bytes of the slot.
        length: u64,
    },
    /// An allocation of the thread, by number.
    Local(u32),
}

/// A memref.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) base: Base,
    pub(super) element_bytes: u32,
    /// In elements from the start of the base.
    pub(super) offset: i64,
    pub(super) sizes: Vec<i64>,
    /// In elements.
    pub(super) strides: Vec<i64>,
}

/// The contents of a register. Integers are kept without their unused upper bits.
#[derive(Clone, Debug, Default)]
pub(super) enum Value {
    /// Nothing has been computed yet.
    #[default]
    Empty,
    /// A scalar.
    Bits(u64),
    /// A vector.
    Vector(Rc<[u64]>),
    /// A memref.
    View(Rc<View>),
}

impl Value {
    /// The lanes of a vector, or the one of a scalar.
    pub(super) fn lanes(&self) -> &[u64] {
        match self {
            Value::Bits(bits) => std::slice::from_ref(bits),
            Value::Vector(lanes) => lanes,
            Value::Empty | Value::View(_) => &[],
        }
    }

    /// The scalar, or the first lane.
    pub(super) fn bits(&self) -> Option<u64> {
        self.lanes().first().copied()
    }
}

/// Strides of a row-major memref without gaps; they saturate.
pub(super) fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut stride = 1_i64;
    let mut strides = Vec::with_capacity(sizes.len());
    for size in sizes.iter().rev() {
        strides.push(stride);
        stride = stride.saturating_mul((*size).max(1));
    }
    strides.reverse();
    strides
}

/// The low `width` bits.
pub(crate) fn truncate(value: u64, width: u32) -> u64 {
    if width >= 64 {
        value
    } else {
        value & ((1 << width) - 1)
    }
}

/// The number that `width` bits mean in two's complement.
pub(crate) fn signed(value: u64, width: u32) -> i64 {
    if width >= 64 || width == 0 {
        return value.cast_signed();
    }
    let unused = 64 - width;
    (value << unused).cast_signed() >> unused
}

#[cfg(test)]
mod tests {
    use super::{signed, truncate};

    #[test]
    fn integers_wrap_at_their_width() {
        assert_eq!(truncate(0x1ff, 8), 0xff);
        assert_eq!(truncate(u64::MAX, 64), u64::MAX);
        assert_eq!(signed(0xff, 8), -1);
        assert_eq!(signed(1, 1), -1);
        assert_eq!(signed(0x7fff_ffff, 32), 0x7fff_ffff);
        assert_eq!(signed(u64::MAX, 64), -1);
    }
}
