//! What a run needs to be told.

use crate::program::{ScalarType, Space};
use ptx_model::target::Target;
use thiserror::Error;

/// A kernel argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A memref: its extents, its strides in elements (row-major without gaps if `None`),
    /// and the bytes it starts with.
    MemRef {
        /// Extents, outermost first.
        shape: Vec<u64>,
        /// Strides in elements.
        strides: Option<Vec<u64>>,
        /// Its memory, little-endian.
        data: Vec<u8>,
    },
    /// An integer or index.
    Integer(i64),
    /// A float.
    Float(f64),
}

impl ArgumentValue {
    /// A row-major memref of f32 values.
    pub fn f32(shape: &[u64], values: &[f32]) -> Self {
        let data = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        ArgumentValue::MemRef {
            shape: shape.to_vec(),
            strides: None,
            data,
        }
    }
}

/// In which order threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other, a synchronising operation each.
    RoundRobin,
    /// The first role as far as it can, then the next.
    ProducerFirst,
    /// The last role as far as it can, then the one before.
    ConsumerFirst,
    /// Warps by a priority that changes at random.
    Random(u64),
    /// This warp only when no other can run.
    LaggingWarp(u32),
    /// This thread only when no other can run.
    LaggingThread(u32),
}

/// When asynchronous copies and arrives complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// At once, in the order of issue.
    Early,
    /// Only when no thread can run, oldest first.
    Late,
    /// Only when no thread can run, youngest first.
    LateReversed,
    /// At random.
    Random(u64),
}

/// One way to run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The order of threads.
    pub order: Order,
    /// The order of completions.
    pub completion: Completion,
}

impl Schedule {
    /// Schedules that between them show most faults: each fixed order with a completion
    /// order that suits it, then `random` seeded ones.
    pub fn standard(random: u64) -> Vec<Schedule> {
        let schedule = |order, completion| Schedule { order, completion };
        let fixed = [
            schedule(Order::RoundRobin, Completion::Early),
            schedule(Order::ProducerFirst, Completion::Late),
            schedule(Order::ConsumerFirst, Completion::LateReversed),
        ];
        let seeded =
            (0..random).map(|seed| schedule(Order::Random(seed), Completion::Random(seed)));
        fixed.into_iter().chain(seeded).collect()
    }
}

/// A launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchInput {
    /// Values of the arguments in order.
    pub arguments: Vec<ArgumentValue>,
    /// CTAs of the grid (x, y, z).
    pub grid: [u32; 3],
    /// The CTAs to run, one after the other; all of them if `None`.
    pub blocks: Option<Vec<[u32; 3]>>,
    /// Threads of a CTA, for a kernel that has no roles and states none (default 32).
    pub threads: Option<u32>,
    /// The target.
    pub target: Target,
    /// The schedule.
    pub schedule: Schedule,
    /// Steps after which a run is given up, over all CTAs.
    pub max_steps: u64,
    /// Reports after which further ones are only counted.
    pub max_reports: usize,
}

impl LaunchInput {
    /// One CTA, round robin, copies at once, twenty million steps, 32 reports.
    pub fn new(target: Target, arguments: Vec<ArgumentValue>) -> Self {
        Self {
            arguments,
            grid: [1; 3],
            blocks: None,
            threads: None,
            target,
            schedule: Schedule {
                order: Order::RoundRobin,
                completion: Completion::Early,
            },
            max_steps: 20_000_000,
            max_reports: 32,
        }
    }
}

/// A launch that the program does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Too many or too few arguments.
    #[error("expected {expected} arguments, got {got}")]
    ArgumentCount {
        /// What the kernel has.
        expected: usize,
        /// What was given.
        got: usize,
    },
    /// An argument of another kind.
    #[error("argument {index}: expected {expected}")]
    ArgumentKind {
        /// Which argument.
        index: usize,
        /// What the kernel has there.
        expected: String,
    },
    /// Extents that contradict the argument's type.
    #[error("argument {index}: expected extents that match its type, got {got:?}")]
    Shape {
        /// Which argument.
        index: usize,
        /// The extents as given.
        got: Vec<u64>,
    },
    /// Too little or too much memory.
    #[error("argument {index}: expected {expected} bytes of data, got {got}")]
    Data {
        /// Which argument.
        index: usize,
        /// The bytes that shape and strides need.
        expected: u64,
        /// The bytes as given.
        got: u64,
    },
    /// A memref argument outside global memory.
    #[error("argument {index}: expected a memref in global memory, got one in {space:?} memory")]
    Space {
        /// Which argument.
        index: usize,
        /// Where its type puts it.
        space: Space,
    },
    /// An element type that no argument can have.
    #[error("argument {index}: cannot take a scalar of type {ty}")]
    Scalar {
        /// Which argument.
        index: usize,
        /// Its type.
        ty: ScalarType,
    },
    /// More threads than a CTA can have.
    #[error("expected 1 to 1024 threads, got {0}")]
    Threads(u32),
    /// More shared memory than is modelled.
    #[error("the buffers need {needed} bytes of shared memory, the interpreter has {limit}")]
    SharedMemory {
        /// What the buffers need.
        needed: u64,
        /// What there is.
        limit: u64,
    },
    /// Registers of all threads together.
    #[error("{needed} registers in all threads together, the interpreter has {limit}")]
    Registers {
        /// What the program needs.
        needed: u64,
        /// What there is.
        limit: u64,
    },
    /// A grid without CTAs, or one that is too large to run through.
    #[error("expected 1 to {limit} CTAs to run, got {got}")]
    Grid {
        /// The most CTAs of one run.
        limit: u64,
        /// What was asked for.
        got: u64,
    },
}
