//! What runs a kernel.
//!
//! Everything above this trait is plain data: bytes, sizes, numbers. A device allocates memory,
//! launches, and hands the bytes back; whether it is a GPU or a program makes no difference.

pub mod cuda;
pub mod emulator;

use std::{ops::Range, time::Duration};

use ptx_emulator::{Report, machine::trace::Trace};
use ptx_model::manifest::{ElementType, Fill, Kernel, Swizzle};

use crate::wait_report::WaitWords;

/// A kernel's code as a device loads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// PTX text.
    Ptx(Vec<u8>),
    /// A binary for one architecture.
    Cubin(Vec<u8>),
}

/// Memory that a device has allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer(pub usize);

/// One launch, with everything resolved to numbers and addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z; none of them 0.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks per cluster.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The parameters, in order.
    pub parameters: Vec<Value>,
}

/// The value of one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A tensor map to encode.
    TensorMap(TensorMapValue),
    /// A plain value of up to 8 bytes, little-endian.
    Plain([u8; 8]),
}

/// A tensor map with the sizes of one launch, outermost dimension first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMapValue {
    /// The address of the first element.
    pub address: u64,
    /// The element type.
    pub element: ElementType,
    /// Sizes in elements, none of them 0.
    pub sizes: Vec<u64>,
    /// Strides of all dimensions but the last, in bytes.
    pub outer_strides: Vec<u64>,
    /// The box in elements.
    pub box_shape: Vec<u32>,
    /// Steps between the elements of the box.
    pub element_strides: Vec<u32>,
    /// The layout in shared memory.
    pub swizzle: Swizzle,
    /// What elements outside the tensor read as.
    pub fill: Fill,
}

/// Why a device could not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no such device here.
    #[error("{0}")]
    Unavailable(String),
    /// The device exists and cannot run this kernel.
    #[error("{0}")]
    Unsupported(String),
    /// The code was refused.
    #[error("the driver refused the kernel's code: {error}\n{log}")]
    Code {
        /// The driver's error.
        error: cuda::CudaError,
        /// What its compiler printed.
        log: String,
    },
    /// The text of the kernel is wrong, or holds what the device does not do.
    #[error("{line}:{column}: {message}")]
    Source {
        /// Line of the PTX, counted from 1.
        line: u32,
        /// Column, counted from 1.
        column: u32,
        /// One sentence.
        message: String,
    },
    /// The kernel was launched and failed.
    #[error("the kernel failed: {0}")]
    Kernel(#[source] cuda::CudaError),
    /// The kernel did not end.
    #[error("the kernel did not end within {0:?}; it hangs or --timeout is too short")]
    Timeout(Duration),
    /// A call of the driver failed.
    #[error(transparent)]
    Driver(#[from] cuda::CudaError),
}

/// Something that runs kernels.
pub trait Device {
    /// Name and capabilities in words.
    fn describe(&self) -> String;

    /// The compiler target that suits the device, if there is one.
    fn target(&self) -> Option<&'static str>;

    /// How many multiprocessors it has.
    fn sm_count(&self) -> u32;

    /// Loads `kernel` from `code`; launches use the kernel loaded last.
    ///
    /// # Errors
    /// Code that the device refuses, or a kernel that it has no room for.
    fn load(&mut self, code: &Code, kernel: &Kernel) -> Result<(), DeviceError>;

    /// The most bytes that a launch may have allocated, where the device sets itself a limit.
    fn memory_limit(&self) -> Option<u64> {
        None
    }

    /// Allocates memory.
    ///
    /// # Errors
    /// Not enough of it.
    fn allocate(&mut self, memory: &Memory<'_>) -> Result<Buffer, DeviceError>;

    /// The address of a buffer, at least 256-byte aligned; 0 for one that was freed.
    fn address(&self, buffer: Buffer) -> u64;

    /// Copies `bytes` to the start of a buffer.
    ///
    /// # Errors
    /// Failure of the device.
    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies from the start of a buffer.
    ///
    /// # Errors
    /// Failure of the device.
    fn read(&mut self, buffer: Buffer, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Gives memory back.
    fn free(&mut self, buffer: Buffer);

    /// The schedules under which a launch is to run, each on fresh memory. A GPU has the one that
    /// happens.
    fn schedules(&self) -> Vec<u64> {
        vec![0]
    }

    /// Launches under one of the [`schedules`](Self::schedules) and waits until the kernel ends.
    ///
    /// # Errors
    /// A launch that is refused, a kernel that fails or does not end in time.
    fn launch(
        &mut self,
        launch: &Launch,
        schedule: u64,
        timeout: Option<Duration>,
    ) -> Result<Launched, DeviceError>;

    /// Launches `warm_up + iterations` times; milliseconds of each but the first `warm_up`.
    ///
    /// # Errors
    /// As [`launch`](Self::launch); also devices that have no clock worth reading.
    fn time_launches(
        &mut self,
        launch: &Launch,
        runs: Runs,
        timeout: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError>;

    /// The same for a copy of `bytes` from one place of the device's memory to another.
    ///
    /// # Errors
    /// Not enough memory; failure of the device.
    fn time_copies(
        &mut self,
        bytes: usize,
        runs: Runs,
        timeout: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError>;

    /// Thread-instructions of the last launch, where the device counts them.
    fn thread_instructions(&self) -> Option<u64> {
        None
    }

    /// What a wait that gave up has left behind, if the loaded kernel does that and one did.
    fn wait_report(&self) -> Option<WaitWords>;
}

/// Memory to allocate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory<'a> {
    /// What for, in messages.
    pub name: &'a str,
    /// How many bytes.
    pub bytes: usize,
    /// Those of them that a kernel may touch. A device that can tell refuses accesses to the
    /// others; on one that cannot, they are guards to look at afterwards.
    pub accessible: Range<usize>,
}

/// What a launch has shown besides the memory that it leaves behind. A GPU shows no more than that
/// the kernel has ended.
#[derive(Debug, Default)]
pub struct Launched {
    /// What the device looked into, if it did.
    pub run: Option<Run>,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
    /// Address of dynamic shared memory in reports and in the timeline.
    pub dynamic_shared: u32,
}

/// A run that was watched from inside.
#[derive(Debug)]
pub struct Run {
    /// The schedule in words.
    pub schedule: String,
    /// Whether every thread ran to its end.
    pub completed: bool,
    /// Warp-instructions executed.
    pub steps: u64,
    /// Thread-instructions executed.
    pub thread_instructions: u64,
    /// Defects.
    pub reports: Vec<Report>,
}

/// How often something is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// Unmeasured runs before.
    pub warm_up: u32,
    /// Measured runs.
    pub iterations: u32,
}
