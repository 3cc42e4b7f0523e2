//! One run: read, bind, launch for every size, compare, measure.

mod case;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use ptx_model::manifest::{GridExpr, Kernel, Manifest};

use crate::{
    bind::{BindOptions, Binding},
    compile,
    device::{Code, Device, Runs, cuda::CudaDevice},
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
    /// Which GPU.
    pub ordinal: u32,
    /// When a kernel counts as hanging.
    pub timeout: Duration,
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

/// Carries out a run and prints one line per size.
///
/// # Errors
/// Unusable input, and a device that is missing or refuses. Wrong results and failed kernels are
/// outcomes.
pub fn run(request: &Request, out: &mut dyn Write) -> Result<Outcome, RunError> {
    let extension = request.input.extension().and_then(|e| e.to_str());
    match extension {
        Some("mlir") => run_mlir(request, out),
        Some("ptx" | "cubin") => {
            let loaded = LoadedKernel::read(request, &request.input)?;
            // Before the device is opened: bad arguments are reported on every machine.
            let bindings = bind_all(request, &loaded.kernel)?;
            let mut device = CudaDevice::open(request.ordinal)?;
            case::run_cases(&mut device, &loaded, &bindings, request, out)
        }
        _ => Err(RunError::UnknownInput(request.input.clone())),
    }
}

fn run_mlir(request: &Request, out: &mut dyn Write) -> Result<Outcome, RunError> {
    if let Err(source) = fs::File::open(&request.input) {
        let path = request.input.clone();
        return Err(RunError::Read { path, source });
    }
    // The device is asked only for what the command line leaves open, so that a kernel that does
    // not compile is reported on every machine.
    let mut opened = None;
    let target = match &request.target {
        Some(target) => target.clone(),
        None => {
            let device = opened.insert(CudaDevice::open(request.ordinal)?);
            let target = device.target().ok_or(compile::CompileError::NoTarget)?;
            target.to_owned()
        }
    };
    let compiled = compile::compile(&request.input, &target, request.stages)?;
    let loaded = LoadedKernel::read(request, &compiled.ptx)?;
    let bindings = bind_all(request, &loaded.kernel)?;
    let mut device = match opened {
        Some(device) => device,
        None => CudaDevice::open(request.ordinal)?,
    };
    case::run_cases(&mut device, &loaded, &bindings, request, out)
}

/// A kernel's manifest entry and its code.
#[derive(Debug)]
struct LoadedKernel {
    kernel: Kernel,
    code: Code,
}

impl LoadedKernel {
    fn read(request: &Request, code: &Path) -> Result<Self, RunError> {
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
        Ok(Self { kernel, code })
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
