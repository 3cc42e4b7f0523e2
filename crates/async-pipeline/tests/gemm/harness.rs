//! Compiles a kernel, launches it from the manifest on the emulator, and looks at what it left.

use async_pipeline::{CompileError, CompileOptions, Compiler, Sync, Target};
use pipeline_run::{
    bind::{BindOptions, Binding, Tensor},
    device::{
        Code, Device, Launch, Memory,
        emulator::{EmulatorDevice, EmulatorOptions},
    },
    fill::{Fill, fill},
    image::Image,
    numeric,
    options::{Named, SizeOption},
    plan,
};
use ptx_model::manifest::{Argument, ElementType, Kernel, Manifest, Parameter};
use std::fmt;

/// Sizes of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) m: u64,
    pub(crate) n: u64,
    pub(crate) k: u64,
}

impl Sizes {
    pub(crate) fn new(m: u64, n: u64, k: u64) -> Self {
        Self { m, n, k }
    }

    /// The sizes of an argument, by the names that products of this project use.
    pub(crate) fn of(self, argument: &str) -> Vec<u64> {
        match argument {
            "A" => vec![self.m, self.k],
            "B" => vec![self.n, self.k],
            "C" | "R" => vec![self.m, self.n],
            "bias" => vec![self.n],
            other => panic!("expected an argument A, B, C, R or bias, got {other}"),
        }
    }
}

/// Where the arguments lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memories {
    /// Rows as near to each other as the contract allows.
    Tight,
    /// Gaps between rows, and bases that are multiples of 16 bytes and of nothing more.
    Spread,
}

/// What a kernel was given and what it left in C, in row-major order.
pub(crate) struct Run {
    pub(crate) inputs: Vec<(String, ElementType, Vec<f64>)>,
    pub(crate) element: ElementType,
    pub(crate) c: Vec<f64>,
}

/// Why a kernel is wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The compiler refuses it.
    Refused(String),
    /// The launcher or the emulator does not take the launch.
    Launch(String),
    /// The emulator has found a defect, or the kernel did not end.
    Defect(String),
    /// Bytes outside C are not what they were.
    Damage(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(text) => write!(formatter, "refused: {text}"),
            Self::Launch(text) => write!(formatter, "launch: {text}"),
            Self::Defect(text) => write!(formatter, "defect: {text}"),
            Self::Damage(text) => write!(formatter, "damage: {text}"),
        }
    }
}

/// PTX and what its manifest says about the one kernel.
pub(crate) struct Compiled {
    pub(crate) ptx: String,
    pub(crate) kernel: Kernel,
    target: Target,
}

impl Compiled {
    /// Compiles with default options; a kernel that the compiler refuses is a failure, anything
    /// else that goes wrong a bug.
    pub(crate) fn new(text: &str, target: Target) -> Result<Self, Failure> {
        Self::with(text, target, Sync::Mbarrier)
    }

    /// The same with a choice of how rings of one role are kept.
    pub(crate) fn with(text: &str, target: Target, sync: Sync) -> Result<Self, Failure> {
        let options = CompileOptions::builder(target).sync(sync).build();
        let compiled = Compiler::new(options.expect("legal options")).compile(text);
        let artifact = match compiled {
            Ok(artifact) => artifact,
            Err(error @ CompileError::Rejected(_)) => {
                return Err(Failure::Refused(error.to_string()));
            }
            Err(error) => panic!("{target}: {error}"),
        };
        // A launcher has the text of the manifest and nothing else.
        let manifest = Manifest::from_json(&artifact.manifest.to_json()).expect("a valid manifest");
        let [kernel] = <[Kernel; 1]>::try_from(manifest.kernels).expect("one kernel");
        Ok(Self {
            ptx: artifact.ptx,
            kernel,
            target,
        })
    }

    /// Slots of the deepest ring.
    pub(crate) fn stages(&self) -> u64 {
        let channels = self.kernel.channels.iter().map(|channel| channel.stages);
        let barriers = self.kernel.barriers.iter().map(|barrier| barrier.stages);
        // A ring without barriers is at most as deep as what the examples ask for.
        channels.chain(barriers).max().unwrap_or(4).into()
    }

    /// Sizes and places for every argument; `change` may make a wrong launch of it.
    pub(crate) fn options(&self, sizes: Sizes, memories: Memories) -> BindOptions {
        let mut options = BindOptions::default();
        for (index, argument) in (1..).zip(&self.kernel.arguments) {
            let Argument::Memref(memref) = argument else {
                panic!("expected arguments in memory, got {}", argument.name());
            };
            let shape = sizes.of(&memref.name);
            if memories == Memories::Spread {
                let unit = 16 / u64::from(memref.element_type.size_bytes());
                if let ([_, columns], true) = (&shape[..], self.spaces(&memref.name)) {
                    let pitch = columns.next_multiple_of(unit) + index * unit;
                    options.pitches.push(named(&memref.name, pitch));
                }
                options
                    .misalign
                    .push(named(&memref.name, 16 * (2 * index - 1)));
            }
            options.sizes.push(SizeOption {
                argument: Some(memref.name.clone()),
                shape,
            });
        }
        options
    }

    /// Whether the kernel is told how far the rows of an argument are apart; the rows of others
    /// follow each other.
    pub(crate) fn spaces(&self, name: &str) -> bool {
        let is = |argument: &u32| {
            self.kernel
                .memref(*argument)
                .is_some_and(|m| m.name == name)
        };
        self.kernel
            .parameters
            .iter()
            .any(|parameter| match parameter {
                Parameter::TensorMap(map) => is(&map.argument),
                Parameter::Stride { argument, .. } => is(argument),
                _ => false,
            })
    }

    /// Runs the kernel under the first `schedules` schedules, each on fresh memory; all have to
    /// leave the same bytes.
    pub(crate) fn emulate(
        &self,
        options: &BindOptions,
        schedules: u64,
        seed: u64,
    ) -> Result<Run, Failure> {
        let binding = Binding::new(&self.kernel, options)
            .map_err(|error| Failure::Launch(error.to_string()))?;
        let mut first: Option<Vec<Image>> = None;
        let before = images(&binding, seed);
        for schedule in 0..schedules {
            let after = self.launch(&binding, &before, schedule, seed)?;
            check_memory(&binding, &before, &after)?;
            if *first.get_or_insert_with(|| after.clone()) != after {
                return Err(Failure::Damage(format!(
                    "schedule {schedule} leaves another result than schedule 0"
                )));
            }
        }
        let after = first.expect("at least one schedule");
        let mut run = Run {
            inputs: Vec::new(),
            element: ElementType::F32,
            c: Vec::new(),
        };
        for (tensor, image) in binding.tensors().zip(&after) {
            let values = values(tensor, image);
            if tensor.name == "C" {
                (run.element, run.c) = (tensor.element, values);
            } else {
                run.inputs
                    .push((tensor.name.clone(), tensor.element, values));
            }
        }
        Ok(run)
    }

    /// One run on fresh memory; every report is an error.
    fn launch(
        &self,
        binding: &Binding,
        before: &[Image],
        schedule: u64,
        seed: u64,
    ) -> Result<Vec<Image>, Failure> {
        let device = &mut self.device(seed);
        let (launch, buffers) = prepare(device, &self.kernel, binding, before)?;
        let launched = device
            .launch(&launch, schedule, None)
            .map_err(|error| Failure::Launch(error.to_string()))?;
        let run = launched.run.expect("the emulator tells what it saw");
        if !run.completed || !run.reports.is_empty() {
            let reports: Vec<String> = run.reports.iter().map(ToString::to_string).collect();
            let how = run.schedule;
            return Err(Failure::Defect(format!("{how}: {}", reports.join("\n"))));
        }
        let mut after = before.to_vec();
        for (image, buffer) in after.iter_mut().zip(buffers) {
            device
                .read(buffer, image.bytes_mut())
                .map_err(|error| Failure::Launch(error.to_string()))?;
        }
        Ok(after)
    }

    /// An emulator with the kernel loaded.
    pub(crate) fn device(&self, seed: u64) -> EmulatorDevice {
        let options = EmulatorOptions {
            schedule_seed: seed,
            strict: true,
            ..EmulatorOptions::default()
        };
        let mut device = EmulatorDevice::new(options, &self.target.to_string());
        let code = Code::Ptx(self.ptx.clone().into_bytes());
        device
            .load(&code, &self.kernel)
            .unwrap_or_else(|error| panic!("the emulator does not take the PTX: {error}"));
        device
    }
}

pub(crate) fn named(argument: &str, value: u64) -> Named<u64> {
    Named {
        argument: argument.to_owned(),
        value,
    }
}

/// Random inputs, and an output that holds nonsense, with guards around all.
pub(crate) fn images(binding: &Binding, seed: u64) -> Vec<Image> {
    let tensors = binding.tensors();
    let images = tensors.map(|tensor| {
        let mut image = Image::new(&tensor.layout, tensor.alignment, tensor.misalign)
            .expect("memory for an argument");
        if tensor.name != "C" {
            let (layout, element) = (&tensor.layout, tensor.element);
            fill(
                &mut image,
                layout,
                element,
                Fill::Random,
                seed,
                tensor.index,
            );
        }
        image
    });
    images.collect()
}

/// Puts the arguments on the device and binds every parameter.
pub(crate) fn prepare(
    device: &mut EmulatorDevice,
    kernel: &Kernel,
    binding: &Binding,
    images: &[Image],
) -> Result<(Launch, Vec<pipeline_run::device::Buffer>), Failure> {
    let refuse = |error: &dyn fmt::Display| Failure::Launch(error.to_string());
    let mut buffers = Vec::new();
    let mut addresses = Vec::new();
    for (tensor, image) in binding.tensors().zip(images) {
        let memory = Memory {
            name: &tensor.name,
            bytes: image.bytes().len(),
            accessible: image.accessible(),
        };
        let buffer = device.allocate(&memory).map_err(|error| refuse(&error))?;
        device
            .write(buffer, image.bytes())
            .map_err(|error| refuse(&error))?;
        let start = u64::try_from(image.start()).expect("small");
        addresses.push((tensor.index, device.address(buffer) + start));
        buffers.push(buffer);
    }
    let grid =
        plan::grid(kernel, binding, device.sm_count(), None).map_err(|error| refuse(&error))?;
    let address = |index: u32| {
        let found = addresses.iter().find(|(argument, _)| *argument == index);
        found.map_or(0, |(_, address)| *address)
    };
    let launch = plan::launch(kernel, binding, grid, address).map_err(|error| refuse(&error))?;
    Ok((launch, buffers))
}

/// Inputs are as before, and so is everything around all arguments.
pub(crate) fn check_memory(
    binding: &Binding,
    before: &[Image],
    after: &[Image],
) -> Result<(), Failure> {
    for ((tensor, before), after) in binding.tensors().zip(before).zip(after) {
        let name = &tensor.name;
        if let Some(damage) = after.guard_damage(&tensor.layout) {
            return Err(Failure::Damage(format!(
                "{} bytes around {name}, the first {} at {}",
                damage.count, damage.region, damage.offset
            )));
        }
        if name != "C" && before != after {
            return Err(Failure::Damage(format!("input {name} was written to")));
        }
    }
    Ok(())
}

fn values(tensor: &Tensor, image: &Image) -> Vec<f64> {
    let packed = image.packed(&tensor.layout);
    packed
        .chunks_exact(tensor.layout.element_bytes())
        .map(|bytes| numeric::decode(tensor.element, bytes))
        .collect()
}
