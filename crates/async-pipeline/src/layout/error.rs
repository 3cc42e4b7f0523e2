//! What can be wrong with a request for a layout.

use super::Name;

/// Why there is no such layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Sizes of bit-linear maps are powers of two.
    #[error("expected a power of two as the size of `{what}`, got {got}")]
    NotPowerOfTwo {
        /// The axis or quantity.
        what: Name,
        /// Its size.
        got: u32,
    },
    /// A packed point has 64 bits, an axis 31.
    #[error("expected at most 64 bits of indices and 31 per axis, got {got} in all")]
    TooManyBits {
        /// The bits of all axes.
        got: u64,
    },
    /// An axis is named twice on one side.
    #[error("axis `{name}` is named twice")]
    Repeated {
        /// The axis.
        name: Name,
    },
    /// A name that the layout does not have.
    #[error("expected one of the axes {known}, got `{name}`")]
    UnknownAxis {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A coordinate beyond its axis.
    #[error("expected an index of `{name}` below {size}, got {got}")]
    OutOfRange {
        /// The axis.
        name: Name,
        /// The coordinate.
        got: u32,
        /// The size of the axis.
        size: u32,
    },
    /// Two layouts do not fit together.
    #[error("expected the axes {expected}, got {got}")]
    AxesDiffer {
        /// The axes of the one.
        expected: String,
        /// The axes of the other.
        got: String,
    },
    /// A coordinate of one layout has no place in the other.
    #[error("expected a size of at most {expected} for `{name}`, got {got}")]
    SizesDiffer {
        /// The axis.
        name: Name,
        /// The size in the one.
        expected: u32,
        /// The size in the other.
        got: u32,
    },
    /// The inverse of a map that is not bijective.
    #[error("expected a bijective layout, got rank {rank} from {inputs} to {outputs} bits")]
    NotBijective {
        /// Independent bits.
        rank: u32,
        /// Input bits.
        inputs: u32,
        /// Output bits.
        outputs: u32,
    },
    /// The right inverse of a map that does not reach everything.
    #[error("expected every place to be reached, got rank {rank} of {outputs} bits")]
    NotSurjective {
        /// Independent bits.
        rank: u32,
        /// Output bits.
        outputs: u32,
    },
    /// One layout has places that another one does not reach.
    #[error("the first layout reaches places that the second one does not reach")]
    NotContained,
    /// A quantity outside what the instruction or mode has.
    #[error("expected {expected} as {what}, got {got}")]
    Unsupported {
        /// The quantity.
        what: &'static str,
        /// What is possible.
        expected: &'static str,
        /// What was asked for.
        got: u32,
    },
}
