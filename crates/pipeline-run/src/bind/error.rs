//! What can be wrong with the arguments of a launch.

use ptx_model::manifest::ElementType;

use crate::layout::LayoutError;

/// Why a kernel cannot be launched with these options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// An option names what the kernel does not have.
    #[error(
        "--{option} names `{name}`, which is no {what} argument of the kernel; there are {known}"
    )]
    UnknownName {
        /// The option without its dashes.
        option: &'static str,
        /// The name.
        name: String,
        /// `memref` or `scalar`.
        what: &'static str,
        /// The names that exist.
        known: String,
    },
    /// No size was given for a memref with dynamic sizes.
    #[error("argument `{name}` has no size; give --size {name}={example}")]
    NoSize {
        /// The argument.
        name: String,
        /// What a size for it looks like.
        example: String,
    },
    /// The size given does not fit the argument's type.
    #[error("argument `{name}` is declared {declared}, --size gives {given}")]
    WrongSize {
        /// The argument.
        name: String,
        /// Its sizes in the manifest.
        declared: String,
        /// The sizes given.
        given: String,
    },
    /// A pitch was given where there is nothing to choose.
    #[error(
        "--pitch {name}: the rows of argument `{name}` cannot be spaced, the kernel takes no stride for it"
    )]
    FixedPitch {
        /// The argument.
        name: String,
    },
    /// The strides are unusable.
    #[error("argument `{name}` has an unusable layout")]
    Layout {
        /// The argument.
        name: String,
        /// Why.
        source: LayoutError,
    },
    /// A stride in the manifest is zero or negative.
    #[error("argument `{name}` has stride {stride}; only positive strides can be launched")]
    NegativeStride {
        /// The argument.
        name: String,
        /// The stride.
        stride: i64,
    },
    /// The base address would break the alignment contract.
    #[error(
        "argument `{name}` must start at a multiple of {alignment} bytes, --misalign moves it by {misalign}"
    )]
    MisalignedBase {
        /// The argument.
        name: String,
        /// The contract.
        alignment: u32,
        /// The offset asked for.
        misalign: u32,
    },
    /// A row pitch would break the alignment contract.
    #[error(
        "argument `{name}` needs strides of a multiple of {alignment} bytes, dimension {dimension} has {bytes}"
    )]
    MisalignedPitch {
        /// The argument.
        name: String,
        /// The contract.
        alignment: u32,
        /// Which dimension.
        dimension: usize,
        /// Its stride in bytes.
        bytes: u64,
    },
    /// A scalar has no value.
    #[error("argument `{name}` has no value; give --arg {name}=VALUE")]
    NoValue {
        /// The argument.
        name: String,
    },
    /// A scalar's value is none of its type.
    #[error("`{value}` is no value of type {element} for argument `{name}`")]
    BadValue {
        /// The argument.
        name: String,
        /// The text given.
        value: String,
        /// The argument's type.
        element: ElementType,
    },
    /// An offset that no allocation has room for.
    #[error("--misalign {name}={bytes}: at most 65536 bytes")]
    MisalignTooLarge {
        /// The argument.
        name: String,
        /// The offset asked for.
        bytes: u64,
    },
}
