//! The CPU emulator of `ptx-emulator` as a device.
//!
//! Kernels see exactly the bytes of their arguments: guards stay with the host, so that an access
//! outside an argument is a report at its instruction, a read as well as a write.

use std::{
    fmt,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use ptx_emulator::{
    Emulator, Monitor, Options, Program, Schedule,
    syntax::{self, ast::Module},
    tensor_map::{MapElement, TensorMap},
};
use ptx_model::{
    manifest::{Kernel, Parameter},
    target::Target,
};

use super::{
    Buffer, Code, Device, DeviceError, Launch, Launched, Memory, Run, Runs, TensorMapValue, Value,
};
use crate::{progress, wait_report::WaitWords};

/// How the emulator runs a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmulatorOptions {
    /// Under which schedules: positions in the list of [`Schedule::nth`].
    pub schedules: Range<u64>,
    /// Seed of the schedules.
    pub schedule_seed: u64,
    /// Whether to look for races and uninitialised reads.
    pub detect: bool,
    /// Whether missing fences that NVIDIA's compilers leave out are errors.
    pub strict: bool,
    /// Whether to record the timeline of the first schedule.
    pub trace: bool,
    /// Warp-instructions after which a run is ended.
    pub max_steps: u64,
    /// The most bytes of arguments and module variables.
    pub memory: u64,
}

impl Default for EmulatorOptions {
    fn default() -> Self {
        Self {
            schedules: 0..DEFAULT_SCHEDULES,
            schedule_seed: 1,
            detect: true,
            strict: false,
            trace: false,
            max_steps: Options::default().max_steps,
            memory: DEFAULT_MEMORY,
        }
    }
}

/// A fair schedule, one in which asynchronous work finishes late, and one in which it finishes
/// early.
pub const DEFAULT_SCHEDULES: u64 = 3;

/// What arguments may take. Host images and the detector's memory of accesses cost a multiple.
pub const DEFAULT_MEMORY: u64 = 512 << 20;

/// The emulator with one loaded kernel.
pub struct EmulatorDevice {
    options: EmulatorOptions,
    target: String,
    loaded: Option<Loaded>,
    buffers: Vec<Option<Allocation>>,
    report: Option<WaitWords>,
    thread_instructions: u64,
}

struct Loaded {
    kernel: Kernel,
    emulator: Emulator,
    /// Where waits that give up write their words.
    report: Option<u64>,
}

struct Allocation {
    /// Where `accessible` begins on the device.
    address: u64,
    accessible: Range<usize>,
    /// All bytes as they were written; those outside `accessible` live only here.
    bytes: Vec<u8>,
}

impl fmt::Debug for EmulatorDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulatorDevice")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

fn unsupported<T>(message: impl Into<String>) -> Result<T, DeviceError> {
    Err(DeviceError::Unsupported(message.into()))
}

impl EmulatorDevice {
    /// An emulator for kernels of `target`.
    pub fn new(options: EmulatorOptions, target: &str) -> Self {
        Self {
            options,
            target: target.to_owned(),
            loaded: None,
            buffers: Vec::new(),
            report: None,
            thread_instructions: 0,
        }
    }

    fn loaded(&mut self) -> Result<&mut Loaded, DeviceError> {
        match &mut self.loaded {
            Some(loaded) => Ok(loaded),
            None => unsupported("no kernel is loaded"),
        }
    }

    fn emulate(
        &mut self,
        launch: &Launch,
        options: &Options,
        timeout: Option<Duration>,
    ) -> Result<ptx_emulator::Outcome, DeviceError> {
        let target = target_of(&self.target);
        let loaded = self.loaded()?;
        let launch = loaded.resolve(launch, target)?;
        let monitor = Arc::new(Monitor::default());
        let ctas: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let of_cluster: u64 = launch.cluster.iter().map(|&n| u64::from(n)).product();
        let clusters = ctas / of_cluster.max(1);
        let name = loaded.kernel.name.clone();
        let emulator = &mut loaded.emulator;
        let ran = progress::watched(&name, clusters, &monitor, timeout, || {
            emulator.run_watched(&launch, options, &monitor)
        });
        let outcome = ran.map_err(|fault| DeviceError::Unsupported(fault.message))?;
        self.thread_instructions = outcome.thread_instructions;
        Ok(outcome)
    }

    fn emulator_options(&self, schedule: u64) -> Options {
        Options {
            schedule: Schedule::nth(schedule, self.options.schedule_seed),
            detect: self.options.detect,
            strict: self.options.strict,
            trace: self.options.trace && schedule == self.options.schedules.start,
            max_steps: self.options.max_steps,
            ..Options::default()
        }
    }
}

impl Loaded {
    fn new(program: Arc<Program>, kernel: &Kernel) -> Result<Self, DeviceError> {
        let fits = |fault: ptx_emulator::Fault| DeviceError::Unsupported(fault.message);
        let mut emulator = Emulator::new(program.clone()).map_err(fits)?;
        let mut report = None;
        if let Some(wanted) = &kernel.wait_report {
            let Some((symbol, 8..)) = program.global(&wanted.symbol) else {
                return unsupported(format!(
                    "the PTX has no global of 8 bytes of the name `{}`",
                    wanted.symbol
                ));
            };
            let memory = emulator.memory_mut();
            let address = memory
                .allocate(REPORT_BYTES, "the wait report")
                .map_err(fits)?;
            memory.write(symbol, &address.to_le_bytes()).map_err(fits)?;
            report = Some(address);
        }
        Ok(Self {
            kernel: kernel.clone(),
            emulator,
            report,
        })
    }

    /// The launch in the emulator's terms.
    fn resolve(
        &self,
        launch: &Launch,
        target: Target,
    ) -> Result<ptx_emulator::Launch, DeviceError> {
        let most = target.limits().max_dynamic_shared_bytes;
        let dynamic = launch.dynamic_shared_bytes;
        if dynamic > most {
            return unsupported(format!(
                "kernel `{}` needs {dynamic} bytes of shared memory, {} has {most}",
                self.kernel.name,
                target.name()
            ));
        }
        let declared = self.emulator.program().parameters();
        if declared.len() != launch.parameters.len() {
            return unsupported(format!(
                "kernel `{}` has {} parameters in the PTX and {} in the manifest",
                self.kernel.name,
                declared.len(),
                launch.parameters.len()
            ));
        }
        let mut parameters = Vec::new();
        let all = launch
            .parameters
            .iter()
            .zip(&self.kernel.parameters)
            .zip(declared);
        for (index, ((value, parameter), (_, bytes))) in all.enumerate() {
            parameters.push(parameter_bytes(index, value, parameter, *bytes, target)?);
        }
        Ok(ptx_emulator::Launch {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster.unwrap_or([1; 3]),
            dynamic_shared_bytes: dynamic,
            parameters,
        })
    }

    fn report_words(&self) -> Option<WaitWords> {
        let mut bytes = [0; REPORT_BYTES as usize];
        self.emulator.memory().read(self.report?, &mut bytes).ok()?;
        let mut words = WaitWords::default();
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = bytes
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        Some(words)
    }
}

const REPORT_BYTES: u64 = size_of::<WaitWords>() as u64;

/// The value of parameter `index` in the `declared` bytes that the PTX has for it.
fn parameter_bytes(
    index: usize,
    value: &Value,
    parameter: &Parameter,
    declared: u64,
    target: Target,
) -> Result<Vec<u8>, DeviceError> {
    let described: u64 = match parameter {
        Parameter::TensorMap(_) => 128,
        Parameter::Scalar { scalar_type, .. } => u64::from(scalar_type.size_bytes()),
        Parameter::Pointer { .. } | Parameter::Size { .. } | Parameter::Stride { .. } => 8,
    };
    // Sizes are often 32 bits wide in kernels that others have written.
    let may_narrow = matches!(parameter, Parameter::Size { .. } | Parameter::Stride { .. });
    if declared != described && !(may_narrow && declared == 4) {
        return unsupported(format!(
            "parameter {index} has {declared} bytes in the PTX and {described} in the manifest"
        ));
    }
    match value {
        Value::Plain(bytes) => {
            let (kept, dropped) = bytes.split_at(usize::try_from(declared).unwrap_or(8).min(8));
            if may_narrow && dropped.iter().any(|byte| *byte != 0) {
                return unsupported(format!(
                    "parameter {index} is {} and has only {declared} bytes in the PTX",
                    u64::from_le_bytes(*bytes)
                ));
            }
            Ok(kept.to_vec())
        }
        Value::TensorMap(map) => match encode(map, target) {
            Ok(bytes) => Ok(bytes),
            Err(rule) => unsupported(format!("the tensor map of parameter {index}: {rule}")),
        },
    }
}

/// A tensor map as the emulator's 128 bytes; the driver's order has the innermost dimension first.
fn encode(map: &TensorMapValue, target: Target) -> Result<Vec<u8>, String> {
    let reversed = |list: &[u64]| -> Vec<u64> { list.iter().rev().copied().collect() };
    let boxes: Vec<u32> = map.box_shape.iter().rev().copied().collect();
    let Some(element) = MapElement::from_driver_code(map.element.driver_code()) else {
        return Err(format!("there are no tensor maps of {}", map.element));
    };
    let (sizes, strides) = (reversed(&map.sizes), reversed(&map.outer_strides));
    let mut encoded = TensorMap::tiled(element, map.address, &sizes, &strides, &boxes)
        .map_err(|rule| rule.to_string())?;
    for (to, step) in encoded
        .element_strides
        .iter_mut()
        .zip(map.element_strides.iter().rev())
    {
        *to = *step;
    }
    encoded.swizzle = map.swizzle;
    encoded.fill = map.fill;
    encoded.validate(target).map_err(|rule| rule.to_string())?;
    Ok(encoded.encode().to_vec())
}

/// The target whose limits a `.target` has.
fn target_of(name: &str) -> Target {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u32>() {
        Ok(100..) => Target::Sm100a,
        Ok(90..) => Target::Sm90a,
        _ => Target::Sm80,
    }
}

fn parse(text: &[u8]) -> Result<Module, DeviceError> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let number = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        DeviceError::Source {
            line: number(lines),
            column: number(before.len() - line_start),
            message: "the text is not UTF-8".to_owned(),
        }
    })?;
    syntax::parse(text).map_err(|error| DeviceError::Source {
        line: error.span.line,
        column: error.span.column,
        message: error.message,
    })
}

impl Device for EmulatorDevice {
    fn describe(&self) -> String {
        let sms = Options::default().sm_count;
        format!("emulator, {}, {sms} SMs", self.target)
    }

    fn target(&self) -> Option<&'static str> {
        Some(target_of(&self.target).name())
    }

    fn sm_count(&self) -> u32 {
        Options::default().sm_count
    }

    fn load(&mut self, code: &Code, kernel: &Kernel) -> Result<(), DeviceError> {
        let Code::Ptx(text) = code else {
            return unsupported("the emulator runs PTX, not cubins");
        };
        let module = parse(text)?;
        let Some(entry) = module
            .entries
            .iter()
            .find(|entry| entry.name == kernel.name)
        else {
            let names: Vec<&str> = module.entries.iter().map(|e| e.name.as_str()).collect();
            let known = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            return unsupported(format!(
                "the PTX has no kernel `{}`, it has {known}",
                kernel.name
            ));
        };
        let program = Program::new(&module, entry).map_err(|error| DeviceError::Source {
            line: error.span.line,
            column: error.span.column,
            message: error.message,
        })?;
        self.target = module.target;
        self.loaded = Some(Loaded::new(Arc::new(program), kernel)?);
        Ok(())
    }

    fn memory_limit(&self) -> Option<u64> {
        Some(self.options.memory)
    }

    fn allocate(&mut self, memory: &Memory<'_>) -> Result<Buffer, DeviceError> {
        let accessible = memory.accessible.clone();
        let length = u64::try_from(accessible.len()).unwrap_or(u64::MAX);
        let emulator = &mut self.loaded()?.emulator;
        let address = emulator.memory_mut().allocate(length, memory.name);
        let address = address.map_err(|fault| DeviceError::Unsupported(fault.message))?;
        self.buffers.push(Some(Allocation {
            address,
            accessible,
            bytes: vec![0; memory.bytes],
        }));
        Ok(Buffer(self.buffers.len() - 1))
    }

    fn address(&self, buffer: Buffer) -> u64 {
        let allocation = self.buffers.get(buffer.0).and_then(Option::as_ref);
        allocation.map_or(0, |allocation| {
            let front = u64::try_from(allocation.accessible.start).unwrap_or(0);
            allocation.address.wrapping_sub(front)
        })
    }

    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), DeviceError> {
        let Some(Some(allocation)) = self.buffers.get_mut(buffer.0) else {
            return unsupported("a transfer to memory that was freed");
        };
        let Some(place) = allocation.bytes.get_mut(..bytes.len()) else {
            return unsupported(format!(
                "a transfer of {} bytes does not fit its buffer",
                bytes.len()
            ));
        };
        place.copy_from_slice(bytes);
        let inside = allocation
            .bytes
            .get(allocation.accessible.clone())
            .unwrap_or(&[]);
        let Some(loaded) = self.loaded.as_mut().filter(|_| !inside.is_empty()) else {
            return Ok(());
        };
        let written = loaded
            .emulator
            .memory_mut()
            .write(allocation.address, inside);
        written.map_err(|fault| DeviceError::Unsupported(fault.message))
    }

    fn read(&mut self, buffer: Buffer, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let Some(Some(allocation)) = self.buffers.get_mut(buffer.0) else {
            return unsupported("a transfer from memory that was freed");
        };
        let inside = allocation
            .bytes
            .get_mut(allocation.accessible.clone())
            .unwrap_or(&mut []);
        if let Some(loaded) = self.loaded.as_ref().filter(|_| !inside.is_empty()) {
            let read = loaded.emulator.memory().read(allocation.address, inside);
            read.map_err(|fault| DeviceError::Unsupported(fault.message))?;
        }
        let length = bytes.len().min(allocation.bytes.len());
        bytes[..length].copy_from_slice(&allocation.bytes[..length]);
        Ok(())
    }

    fn free(&mut self, buffer: Buffer) {
        if let Some(slot) = self.buffers.get_mut(buffer.0) {
            *slot = None;
        }
        if !self.buffers.iter().all(Option::is_none) {
            return;
        }
        // Device memory has no holes to reuse: the next case starts on a new one, and with module
        // variables as the PTX initialises them.
        self.buffers.clear();
        if let Some(loaded) = self.loaded.take() {
            let program = loaded.emulator.program().clone();
            self.loaded = Loaded::new(program, &loaded.kernel).ok();
        }
    }

    fn schedules(&self) -> Vec<u64> {
        self.options.schedules.clone().collect()
    }

    fn launch(
        &mut self,
        launch: &Launch,
        schedule: u64,
        timeout: Option<Duration>,
    ) -> Result<Launched, DeviceError> {
        let options = self.emulator_options(schedule);
        let outcome = self.emulate(launch, &options, timeout)?;
        let loaded = self.loaded()?;
        let words = loaded.report_words();
        let dynamic_shared = loaded.emulator.program().dynamic_shared();
        self.report = words;
        Ok(Launched {
            dynamic_shared: u32::try_from(dynamic_shared).unwrap_or(u32::MAX),
            run: Some(Run {
                schedule: options.schedule.to_string(),
                completed: outcome.completed,
                steps: outcome.steps,
                thread_instructions: outcome.thread_instructions,
                reports: outcome.reports,
            }),
            trace: outcome.trace,
        })
    }

    fn time_launches(
        &mut self,
        launch: &Launch,
        runs: Runs,
        timeout: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError> {
        let options = Options {
            trace: false,
            ..self.emulator_options(self.options.schedules.start)
        };
        let mut times = Vec::new();
        for run in 0..runs.warm_up + runs.iterations {
            let start = Instant::now();
            self.emulate(launch, &options, timeout)?;
            if run >= runs.warm_up {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        Ok(times)
    }

    fn time_copies(
        &mut self,
        _bytes: usize,
        _runs: Runs,
        _timeout: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError> {
        unsupported("--bench-copy needs a GPU: a copy on the emulator says nothing about one")
    }

    fn thread_instructions(&self) -> Option<u64> {
        Some(self.thread_instructions)
    }

    fn wait_report(&self) -> Option<WaitWords> {
        self.report
    }
}
