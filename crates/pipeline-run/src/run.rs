//! One run: read, bind, launch for every size, compare, measure.

mod case;
mod document;
mod result;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueEnum;
use ptx_model::manifest::{GridExpr, Kernel, Manifest};

use crate::{
    bind::{BindOptions, Binding},
    compile,
    device::{
        Code, Device, Runs,
        cuda::{self, CudaDevice},
        emulator::{EmulatorDevice, EmulatorOptions},
    },
    error::RunError,
    options::{Named, SizeOption},
    plan,
    verify::{Prepared, ValueOptions},
};

/// Everything that the command line asks of a run.
#[derive(Debug, Clone)]
pub struct Request {
    /// The kernel's file.
    pub input: PathBuf,
    /// The manifest, where it is not beside the input.
    pub manifest: Option<PathBuf>,
    /// Which kernel.
    pub kernel: Option<String>,
    /// Where to run; none for a GPU where one is, and the emulator elsewhere.
    pub device: Option<DeviceKind>,
    /// Which GPU.
    pub ordinal: u32,
    /// How the emulator runs kernels.
    pub emulator: EmulatorOptions,
    /// An option that was given and means nothing on a GPU.
    pub emulator_option: Option<&'static str>,
    /// When a kernel counts as hanging; none for the device's default.
    pub timeout: Option<Duration>,
    /// Where to write the timeline of the first schedule of the first size.
    pub trace: Option<PathBuf>,
    /// What to print.
    pub report: ReportFormat,
    /// Where to write the JSON document besides.
    pub report_file: Option<PathBuf>,
    /// For which target to compile.
    pub target: Option<String>,
    /// With how many stages to compile.
    pub stages: Option<u32>,
    /// Sizes to run one after the other.
    pub lengths: Option<Vec<Vec<u64>>>,
    /// Blocks to launch, against the manifest.
    pub grid: Option<[u32; 3]>,
    /// Sizes, pitches and scalars.
    pub bind: BindOptions,
    /// Inputs and expectations.
    pub values: ValueOptions,
    /// Arguments to write to files afterwards.
    pub save: Vec<Named<PathBuf>>,
    /// What to measure, if anything.
    pub bench: Option<BenchOptions>,
}

/// Where kernels run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceKind {
    /// An NVIDIA GPU, through the CUDA driver.
    Gpu,
    /// The emulator: PTX on the CPU, with races, missing fences and deadlocks found.
    Emulator,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Lines for people.
    Text,
    /// One JSON object.
    Json,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    /// How often.
    pub runs: Runs,
    /// Whether to measure a copy beside it.
    pub copy: bool,
    /// Bytes moved per launch; none for all memref arguments once.
    pub bytes: Option<GridExpr>,
    /// Floating-point operations per launch.
    pub flops: Option<GridExpr>,
}

/// How a run ended that could be carried through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Whether all results are right.
    pub right: bool,
    /// Whether a kernel still runs, so that the process has to be ended without the driver's
    /// consent.
    pub device_hangs: bool,
}

impl Outcome {
    /// Nothing wrong.
    pub const RIGHT: Self = Self {
        right: true,
        device_hangs: false,
    };
}

/// Carries out a run and prints what came out for every size.
///
/// # Errors
/// Unusable input, and a device that is missing or refuses. Wrong results and failed kernels are
/// outcomes.
pub fn run(request: &Request, out: &mut dyn Write) -> Result<Outcome, RunError> {
    let result = run_input(request, out);
    if let Err(error) = &result {
        document::Document::unusable(error).write(request, out)?;
    }
    result
}

fn run_input(request: &Request, out: &mut dyn Write) -> Result<Outcome, RunError> {
    let extension = request.input.extension().and_then(|e| e.to_str());
    match extension {
        Some("mlir") => run_mlir(request, out),
        Some("ptx" | "cubin") => {
            let loaded = LoadedKernel::read(request, &request.input, request.input.clone())?;
            let kind = kind(request, &loaded.code)?;
            // Before the device is opened: bad arguments are reported on every machine.
            let bindings = bind_all(request, &loaded.kernel)?;
            let mut device = open(request, kind, &loaded.target)?;
            case::run_cases(&mut *device, &loaded, &bindings, request, out)
        }
        _ => Err(RunError::UnknownInput(request.input.clone())),
    }
}

/// What the emulator compiles for unless told otherwise: the oldest target with tensor copies.
const EMULATOR_TARGET: &str = "sm_90a";

fn run_mlir(request: &Request, out: &mut dyn Write) -> Result<Outcome, RunError> {
    if let Err(source) = fs::File::open(&request.input) {
        let path = request.input.clone();
        return Err(RunError::Read { path, source });
    }
    let kind = kind(request, &Code::Ptx(Vec::new()))?;
    // A GPU is asked only for what the command line leaves open, so that a kernel that does not
    // compile is reported on every machine.
    let mut opened = None;
    let target = match (&request.target, kind) {
        (Some(target), _) => target.clone(),
        (None, DeviceKind::Emulator) => EMULATOR_TARGET.to_owned(),
        (None, DeviceKind::Gpu) => {
            let device = opened.insert(open(request, kind, "")?);
            let target = device.target().ok_or(compile::CompileError::NoTarget)?;
            target.to_owned()
        }
    };
    let lines = kind == DeviceKind::Emulator;
    let compiled = compile::compile(&request.input, &target, request.stages, lines)?;
    // The file itself is gone when the user reads its name.
    let shown = compiled
        .ptx
        .file_name()
        .map_or_else(PathBuf::new, PathBuf::from);
    let loaded = LoadedKernel::read(request, &compiled.ptx, shown)?;
    let bindings = bind_all(request, &loaded.kernel)?;
    let mut device = match opened {
        Some(device) => device,
        None => open(request, kind, &loaded.target)?,
    };
    case::run_cases(&mut *device, &loaded, &bindings, request, out)
}

/// Where to run.
fn kind(request: &Request, code: &Code) -> Result<DeviceKind, RunError> {
    let binary = matches!(code, Code::Cubin(_));
    match request.device {
        Some(DeviceKind::Emulator) if binary => Err(RunError::CubinOnEmulator),
        Some(kind) => Ok(kind),
        // A cubin has only one place to run at, and there it is said what is missing.
        None if binary || cuda::is_present() => Ok(DeviceKind::Gpu),
        None => Ok(DeviceKind::Emulator),
    }
}

fn open(request: &Request, kind: DeviceKind, target: &str) -> Result<Box<dyn Device>, RunError> {
    match (kind, request.emulator_option) {
        (DeviceKind::Gpu, Some(option)) => Err(RunError::EmulatorOption(option)),
        (DeviceKind::Gpu, None) => Ok(Box::new(CudaDevice::open(request.ordinal)?)),
        (DeviceKind::Emulator, _) => {
            let options = request.emulator.clone();
            Ok(Box::new(EmulatorDevice::new(options, target)))
        }
    }
}

/// A kernel's manifest entry and its code.
#[derive(Debug)]
struct LoadedKernel {
    kernel: Kernel,
    /// The manifest's target.
    target: String,
    code: Code,
    /// The code's file as messages name it.
    shown: PathBuf,
}

impl LoadedKernel {
    fn read(request: &Request, code: &Path, shown: PathBuf) -> Result<Self, RunError> {
        let beside = code.with_extension("json");
        let manifest = read_manifest(request.manifest.as_ref().unwrap_or(&beside))?;
        let kernel = find_kernel(&manifest, request.kernel.as_deref())?.clone();
        let bytes = fs::read(code).map_err(|source| RunError::Read {
            path: code.to_owned(),
            source,
        })?;
        let binary = code
            .extension()
            .is_some_and(|extension| extension == "cubin");
        let code = if binary {
            Code::Cubin(bytes)
        } else {
            Code::Ptx(bytes)
        };
        Ok(Self {
            kernel,
            target: manifest.target,
            code,
            shown,
        })
    }
}

/// Reads and validates a manifest.
///
/// # Errors
/// A file that cannot be read or is none.
pub fn read_manifest(path: &Path) -> Result<Manifest, RunError> {
    let text = fs::read_to_string(path).map_err(|source| RunError::Read {
        path: path.to_owned(),
        source,
    })?;
    Manifest::from_json(&text).map_err(|source| RunError::Manifest {
        path: path.to_owned(),
        source,
    })
}

fn find_kernel<'a>(manifest: &'a Manifest, name: Option<&str>) -> Result<&'a Kernel, RunError> {
    manifest.kernel(name).ok_or_else(|| {
        let names: Vec<&str> = manifest.kernels.iter().map(|k| k.name.as_str()).collect();
        let known = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        let problem = match name {
            Some(name) => format!("there is no kernel `{name}`"),
            None => "--kernel has to say which kernel".to_owned(),
        };
        RunError::NoKernel { problem, known }
    })
}

/// One binding per size asked for; also resolves the expectations, so that a wrong name in one is
/// reported before anything runs.
fn bind_all(request: &Request, kernel: &Kernel) -> Result<Vec<Binding>, RunError> {
    let one = vec![None];
    let lengths = request.lengths.as_ref();
    let all = lengths.map_or(one, |shapes| shapes.iter().cloned().map(Some).collect());
    let mut bindings = Vec::new();
    for shape in all {
        let mut options = request.bind.clone();
        options.sizes.extend(shape.map(|shape| SizeOption {
            argument: None,
            shape,
        }));
        bindings.push(Binding::new(kernel, &options)?);
    }
    for binding in &bindings {
        Prepared::check_names(binding, &request.values)?;
        for saved in &request.save {
            Prepared::check_target(binding, "--save", &saved.argument)?;
        }
        // With any number of multiprocessors: this is about the expression, not its value.
        plan::grid(kernel, binding, 1, request.grid)?;
    }
    Ok(bindings)
}
