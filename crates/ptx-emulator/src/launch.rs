//! What to run and how: the crate's front door.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::{
    machine::{Machine, trace::Trace},
    memory::{GlobalMemory, RESERVED_SHARED},
    program::{GLOBALS_BASE, Program},
    report::{Fault, Kind, Report, Severity},
};

/// One launch, resolved to numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks per cluster; `[1, 1, 1]` without clusters.
    pub cluster: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The value of each parameter, little-endian; shorter than declared means zeros follow.
    /// Tensor maps are 128 bytes, made by [`crate::tensor_map::TensorMap::encode`].
    pub parameters: Vec<Vec<u8>>,
}

impl Launch {
    /// Threads of one CTA.
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().product()
    }

    /// `%ctaid` of a CTA by cluster and rank: clusters are numbered x first, and so are the CTAs
    /// in one.
    pub fn block_id(&self, cluster: u32, rank: u32) -> [u32; 3] {
        let split = |linear: u32, sizes: [u32; 3]| {
            [
                linear % sizes[0],
                linear / sizes[0] % sizes[1],
                linear / sizes[0] / sizes[1],
            ]
        };
        let clusters: [u32; 3] =
            std::array::from_fn(|i| (self.grid[i] / self.cluster[i].max(1)).max(1));
        let base = split(cluster, clusters);
        let inside = split(rank, self.cluster);
        std::array::from_fn(|i| base[i] * self.cluster[i] + inside[i])
    }
}

/// Who runs when. One schedule and one input make one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Warps take turns; asynchronous work takes a fixed time.
    RoundRobin,
    /// Everything in a random order.
    Random(u64),
    /// Adversarial: asynchronous work finishes as late as it may, in a random order, and each
    /// warp runs as far as it can.
    Late(u64),
    /// Asynchronous work finishes as early as it may.
    Early(u64),
}

impl Schedule {
    /// The `n`-th of a list that begins with the adversarial ones: round robin, late, early, then
    /// random, late and early ones in turn with new seeds.
    pub fn nth(n: u64, seed: u64) -> Self {
        let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n);
        match n {
            0 => Self::RoundRobin,
            1 => Self::Late(seed),
            2 => Self::Early(seed),
            n if n % 4 == 1 => Self::Late(seed),
            n if n % 8 == 2 => Self::Early(seed),
            _ => Self::Random(seed),
        }
    }
}

/// `round robin`, `late (seed 7)`.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RoundRobin => f.write_str("round robin"),
            Self::Random(seed) => write!(f, "random (seed {seed})"),
            Self::Late(seed) => write!(f, "late (seed {seed})"),
            Self::Early(seed) => write!(f, "early (seed {seed})"),
        }
    }
}

/// How far a run has come, for other threads to read, and a way for them to end it.
#[derive(Debug, Default)]
pub struct Monitor {
    steps: AtomicU64,
    clusters: AtomicU64,
    stop: AtomicBool,
}

impl Monitor {
    /// Warp-instructions so far.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Clusters that have started so far; without clusters, blocks.
    pub fn clusters(&self) -> u64 {
        self.clusters.load(Ordering::Relaxed)
    }

    /// Ends the run at the next turn of a warp, with a report of the class [`Kind::Limit`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn update(&self, steps: u64, clusters: u64) {
        self.steps.store(steps, Ordering::Relaxed);
        self.clusters.store(clusters, Ordering::Relaxed);
    }
}

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Who runs when.
    pub schedule: Schedule,
    /// Whether to look for races and uninitialised reads.
    pub detect: bool,
    /// Whether missing tcgen05, init and read-to-write proxy fences are errors.
    pub strict: bool,
    /// Whether to record a timeline.
    pub trace: bool,
    /// The end of patience, in warp-instructions.
    pub max_steps: u64,
    /// How many warp-instructions may pass without any change that another thread could see.
    pub livelock_steps: u64,
    /// How many CTAs run side by side; more start when all of those wait.
    pub resident: u32,
    /// Multiprocessors that `%nsmid` speaks of, and the most CTAs that are ever resident.
    pub sm_count: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            schedule: Schedule::RoundRobin,
            detect: true,
            strict: false,
            trace: false,
            max_steps: 2_000_000_000,
            livelock_steps: 20_000_000,
            resident: 4,
            sm_count: 132,
        }
    }
}

/// What a run has shown.
#[derive(Debug)]
pub struct Outcome {
    /// Defects, in the order in which they were found.
    pub reports: Vec<Report>,
    /// Whether every thread ran to its end.
    pub completed: bool,
    /// Warp-instructions executed.
    pub steps: u64,
    /// Thread-instructions executed.
    pub thread_instructions: u64,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
}

impl Outcome {
    /// No errors; warnings do not count.
    pub fn is_clean(&self) -> bool {
        self.completed && self.reports.iter().all(|r| r.severity == Severity::Warning)
    }
}

/// A kernel that can be launched, and device memory.
#[derive(Debug, Clone)]
pub struct Emulator {
    program: Arc<Program>,
    memory: GlobalMemory,
}

/// The most device memory a run may use, in bytes, unless said otherwise.
pub const DEFAULT_MEMORY: u64 = 8 << 30;

/// The most threads of a CTA, shared memory of one in bytes, and CTAs of a cluster (PTX ISA and
/// CUDA programming guide; 16 CTAs are the opt-in size).
const MOST_THREADS: u64 = 1024;
const MOST_SHARED: u64 = 228 * 1024;
const MOST_CLUSTER: u64 = 16;

impl Emulator {
    /// For a kernel, with empty memory.
    ///
    /// # Errors
    /// Module variables that exceed the memory.
    pub fn new(program: Arc<Program>) -> Result<Self, Fault> {
        let mut memory = GlobalMemory::new(DEFAULT_MEMORY);
        let base = memory.allocate(program.globals.len() as u64, "the module's variables")?;
        debug_assert_eq!(base, GLOBALS_BASE);
        if !program.globals.is_empty() {
            memory.write(base, &program.globals)?;
        }
        Ok(Self { program, memory })
    }

    /// The kernel.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Device memory.
    pub fn memory(&self) -> &GlobalMemory {
        &self.memory
    }

    /// Device memory, to allocate and fill.
    pub fn memory_mut(&mut self) -> &mut GlobalMemory {
        &mut self.memory
    }

    /// Checks a launch against the kernel and the hardware's limits.
    ///
    /// # Errors
    /// One sentence on the first thing that does not fit.
    pub fn check(&self, launch: &Launch) -> Result<(), Fault> {
        let refuse = |message: String| Err(Fault::new(Kind::InvalidOperand, message));
        let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
        if threads == 0 || threads > MOST_THREADS {
            return refuse(format!(
                "a block has 1 to {MOST_THREADS} threads, not {threads}"
            ));
        }
        if let Some(required) = self.program.required_block
            && required != launch.block
        {
            return refuse(format!(
                "the kernel requires blocks of {required:?}, the launch has {:?}",
                launch.block
            ));
        }
        if let Some(most) = self.program.max_block {
            let most: u64 = most.iter().map(|&n| u64::from(n)).product();
            if threads > most {
                return refuse(format!(
                    "the kernel allows {most} threads per block, not {threads}"
                ));
            }
        }
        let ctas: u64 = launch.cluster.iter().map(|&n| u64::from(n)).product();
        if ctas == 0 || ctas > MOST_CLUSTER {
            return refuse(format!(
                "a cluster has 1 to {MOST_CLUSTER} blocks, not {ctas}"
            ));
        }
        if let Some(required) = self.program.cluster
            && required != launch.cluster
        {
            return refuse(format!(
                "the kernel requires clusters of {required:?}, the launch has {:?}",
                launch.cluster
            ));
        }
        for axis in 0..3 {
            if launch.grid[axis] == 0 || !launch.grid[axis].is_multiple_of(launch.cluster[axis]) {
                return refuse(format!(
                    "a grid of {:?} is not made of clusters of {:?}",
                    launch.grid, launch.cluster
                ));
            }
        }
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        if blocks > u64::from(u32::MAX) {
            return refuse(format!("{blocks} blocks are too many"));
        }
        let shared = self.program.dynamic_shared + u64::from(launch.dynamic_shared_bytes);
        if shared - RESERVED_SHARED > MOST_SHARED {
            return refuse(format!(
                "{} bytes of shared memory are more than the {MOST_SHARED} of any target",
                shared - RESERVED_SHARED
            ));
        }
        if launch.parameters.len() != self.program.parameters.len() {
            return refuse(format!(
                "the kernel has {} parameters, the launch gives {}",
                self.program.parameters.len(),
                launch.parameters.len()
            ));
        }
        for (index, (value, (_, size))) in launch
            .parameters
            .iter()
            .zip(&self.program.parameters)
            .enumerate()
        {
            if value.len() as u64 > *size {
                return refuse(format!(
                    "parameter {index} has {size} bytes, the launch gives {}",
                    value.len()
                ));
            }
        }
        Ok(())
    }

    /// Runs a launch to its end, or to the first thing that cannot go on. Memory keeps what the
    /// kernel has written.
    ///
    /// # Errors
    /// A launch that does not fit the kernel; what happens in the run is in the outcome.
    pub fn run(&mut self, launch: &Launch, options: &Options) -> Result<Outcome, Fault> {
        self.run_watched(launch, options, &Arc::default())
    }

    /// The same, with a monitor for other threads.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_watched(
        &mut self,
        launch: &Launch,
        options: &Options,
        monitor: &Arc<Monitor>,
    ) -> Result<Outcome, Fault> {
        self.check(launch)?;
        let memory = std::mem::replace(&mut self.memory, GlobalMemory::new(0));
        let mut machine = Machine::new(
            self.program.clone(),
            memory,
            launch.clone(),
            options.clone(),
        );
        machine.monitor = Some(monitor.clone());
        let completed = machine.run();
        let outcome = Outcome {
            reports: machine.take_reports(),
            completed,
            steps: machine.now,
            thread_instructions: machine.thread_instructions,
            trace: machine.trace.take(),
        };
        self.memory = machine.memory;
        Ok(outcome)
    }
}
