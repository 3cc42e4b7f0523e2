//! The launch manifest: what a launcher must know about a PTX file.
//!
//! The compiler writes it as `K.json` beside `K.ptx`; a launcher needs nothing else. All array
//! orders are row-major, outermost dimension first, as in MLIR: a launcher reverses them for the
//! driver's tensor maps.
//!
//! [`Manifest::from_json`] reads and validates, [`Manifest::to_json`] writes; the field order is
//! the order of declaration below, so that the same input gives the same bytes.

mod element;
mod validate;

use serde::{Deserialize, Serialize};

pub use crate::grid::{GridEnv, GridError, GridExpr};
pub use element::{ElementType, Fill, Swizzle};
pub use validate::{InvalidManifest, ManifestError};

/// The schema version that this crate reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// The launch manifest of one PTX file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this format; [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The PTX target, for example `sm_90a`.
    pub target: String,
    /// The PTX version, for example `8.6`.
    pub ptx_version: String,
    /// The kernels, in the order of their entries in the PTX.
    pub kernels: Vec<Kernel>,
}

/// One kernel of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The entry's name in the PTX.
    pub name: String,
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Blocks per cluster in x, y and z; none where the kernel uses no clusters.
    pub cluster: Option<[u32; 3]>,
    /// Blocks in x, y and z; none where the caller decides.
    pub grid: Option<[GridExpr; 3]>,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The arguments as the kernel's author declared them.
    pub arguments: Vec<Argument>,
    /// The parameters of the PTX entry, in order.
    pub parameters: Vec<Parameter>,
    /// Which warps do what; empty where all do the same.
    pub roles: Vec<Role>,
    /// The rings through which roles hand data to each other.
    pub channels: Vec<Channel>,
    /// The mbarriers in shared memory.
    pub barriers: Vec<Barrier>,
    /// Registers per thread of each warpgroup, where the kernel moves registers between them.
    pub registers_per_warpgroup: Option<Vec<u32>>,
    /// How a wait that runs too long reports itself, where the kernel was compiled to do so.
    pub wait_report: Option<WaitReport>,
}

/// An argument as the kernel's author declared it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Argument {
    /// A tensor in global memory.
    Memref(MemrefArgument),
    /// A number.
    Scalar(ScalarArgument),
}

/// A tensor in global memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemrefArgument {
    /// The argument's name.
    pub name: String,
    /// What it holds.
    pub element_type: ElementType,
    /// Its sizes in elements; none where known only at launch.
    pub shape: Vec<Option<u64>>,
    /// Its strides in elements; none where known only at launch.
    pub strides: Vec<Option<i64>>,
    /// What the base address and every outer stride, in bytes, must be a multiple of.
    pub alignment: u32,
    /// Whether it may overlap other arguments.
    pub aliases: bool,
}

/// A number passed by value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarArgument {
    /// The argument's name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub scalar_type: ElementType,
}

/// One parameter of the PTX entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Parameter {
    /// A 128-byte tensor map of a memref argument.
    TensorMap(TensorMap),
    /// The base address of a memref argument (64 bits).
    Pointer {
        /// Which argument.
        argument: u32,
    },
    /// A size of a memref argument, in elements (64 bits).
    Size {
        /// Which argument.
        argument: u32,
        /// Which dimension.
        dimension: u32,
    },
    /// A stride of a memref argument, in elements (64 bits).
    Stride {
        /// Which argument.
        argument: u32,
        /// Which dimension.
        dimension: u32,
    },
    /// The value of a scalar argument.
    Scalar {
        /// Which argument.
        argument: u32,
        /// Its type; the same as the argument's.
        #[serde(rename = "type")]
        scalar_type: ElementType,
    },
}

/// How a tensor map is to be encoded. Its sizes and strides are those of the argument at launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMap {
    /// Of which argument.
    pub argument: u32,
    /// The map's element type; it may differ from the argument's (`tf32` rounds on load).
    pub element_type: ElementType,
    /// The box that one copy moves, in elements.
    #[serde(rename = "box")]
    pub box_shape: Vec<u32>,
    /// Steps between the elements of the box.
    pub element_strides: Vec<u32>,
    /// How the box is laid out in shared memory.
    pub swizzle: Swizzle,
    /// What elements outside the tensor read as.
    pub fill: Fill,
}

/// A group of warps with one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// The role's name.
    pub name: String,
    /// Its first warp in the block.
    pub first_warp: u32,
    /// How many warps it has.
    pub warps: u32,
    /// Whether one elected thread does the work of the role.
    pub elected: bool,
    /// Registers per thread, where the role sets them.
    pub registers: Option<u32>,
}

/// How the data of a channel's slot becomes complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// Bulk and tensor copies that count bytes on an mbarrier.
    Tma,
    /// `cp.async` copies of each thread.
    CpAsync,
    /// Tensor-core work of `tcgen05`, by its commit.
    Tcgen05,
    /// Tensor-core work of `wgmma`.
    Wgmma,
    /// Ordinary stores of the producing threads.
    Threads,
}

/// A ring of slots through which roles hand data to each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// The channel's name.
    pub name: String,
    /// How many slots the ring has.
    pub stages: u32,
    /// Bytes per slot.
    pub slot_bytes: u32,
    /// How a slot's data becomes complete.
    pub completion: Completion,
    /// What a slot holds.
    pub fields: Vec<ChannelField>,
    /// Where slot 0 starts, in bytes from the start of dynamic shared memory.
    pub shared_offset: u32,
}

/// One buffer inside a channel's slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelField {
    /// Its sizes in elements.
    pub shape: Vec<u64>,
    /// What it holds.
    pub element_type: ElementType,
}

/// An array of mbarriers, one per stage, 8 bytes each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// The array's name.
    pub name: String,
    /// How many barriers it has.
    pub stages: u32,
    /// Arrivals that complete a phase.
    pub arrival_count: u32,
    /// Bytes expected per phase; 0 where none are.
    pub tx_bytes: u32,
    /// Where barrier 0 stands, in bytes from the start of dynamic shared memory.
    pub shared_offset: u32,
}

/// How a wait that runs too long reports itself before it traps.
///
/// The module has a global of the name [`symbol`](Self::symbol), which begins with one 64-bit address;
/// the launcher stores there the address of pinned host memory. The words of the report are
/// written flag (1), barrier's byte offset in dynamic shared memory, parity, role, block x, y and
/// z, thread x, each 32 bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitReport {
    /// Name of the module's global.
    pub symbol: String,
    /// Size of the report.
    pub bytes: u32,
    /// Names of the roles, by the number in the report.
    pub roles: Vec<String>,
}

impl Manifest {
    /// The manifest as indented JSON with a newline at the end.
    pub fn to_json(&self) -> String {
        // Plain data with string keys: serialising it into memory has no way to fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The kernel of this name, or the only one where no name is given.
    pub fn kernel(&self, name: Option<&str>) -> Option<&Kernel> {
        match (name, self.kernels.as_slice()) {
            (Some(name), kernels) => kernels.iter().find(|kernel| kernel.name == name),
            (None, [kernel]) => Some(kernel),
            (None, _) => None,
        }
    }
}

impl Kernel {
    /// The memref argument at `index`, if that argument is a memref.
    pub fn memref(&self, index: u32) -> Option<&MemrefArgument> {
        match self.arguments.get(usize::try_from(index).ok()?)? {
            Argument::Memref(memref) => Some(memref),
            Argument::Scalar(_) => None,
        }
    }

    /// The scalar argument at `index`, if that argument is a scalar.
    pub fn scalar(&self, index: u32) -> Option<&ScalarArgument> {
        match self.arguments.get(usize::try_from(index).ok()?)? {
            Argument::Scalar(scalar) => Some(scalar),
            Argument::Memref(_) => None,
        }
    }
}

impl Argument {
    /// The argument's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Memref(memref) => &memref.name,
            Self::Scalar(scalar) => &scalar.name,
        }
    }
}

#[cfg(test)]
mod tests;
