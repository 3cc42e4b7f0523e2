//! One size: launch, compare, measure, print.

use std::{
    fs,
    io::{self, BufWriter, Write},
    iter,
    path::Path,
};

use ptx_emulator::machine::trace::Trace;
use ptx_model::manifest::{GridExpr, Kernel};

use super::{
    BenchOptions, LoadedKernel, Outcome, ReportFormat, Request, document::Document,
    result::CaseResult,
};
use crate::{
    bench::Times,
    bind::{Binding, Tensor},
    device::{self, Buffer, Device, DeviceError, Launch, Run},
    error::RunError,
    image::Image,
    plan,
    verify::Prepared,
    wait_report::{WaitReport, barrier_at, name_barriers},
};

pub(super) fn run_cases(
    device: &mut dyn Device,
    loaded: &LoadedKernel,
    bindings: &[Binding],
    request: &Request,
    out: &mut dyn Write,
) -> Result<Outcome, RunError> {
    let description = device.describe();
    let text = request.report == ReportFormat::Text;
    let print = |out: &mut dyn Write, line: &str| match text {
        true => out
            .write_all(line.as_bytes())
            .and_then(|()| out.flush())
            .map_err(RunError::Output),
        false => Ok(()),
    };
    print(out, &format!("device: {description}\n"))?;
    device
        .load(&loaded.code, &loaded.kernel)
        .map_err(|error| locate(error, loaded))?;
    let mut results = Vec::new();
    let mut device_hangs = false;
    for (number, binding) in bindings.iter().enumerate() {
        let trace = request.trace.as_deref().filter(|_| number == 0);
        let (result, measured) = match run_case(device, &loaded.kernel, binding, request, trace) {
            Ok(done) => done,
            Err(RunError::Device(error)) if fails_kernel(&error) => {
                device_hangs = matches!(error, DeviceError::Timeout(_));
                let mut result = describe(&loaded.kernel, binding);
                result.failure = Some(error.to_string());
                result.wait = wait_report(device, &loaded.kernel);
                print(out, &result.text(&loaded.shown))?;
                results.push(result);
                // The context is lost; later sizes could not run.
                break;
            }
            Err(error) => return Err(error),
        };
        print(out, &result.text(&loaded.shown))?;
        print(out, &measured)?;
        results.push(result);
    }
    if let Some(path) = &request.trace {
        let path = path.display();
        print(
            out,
            &format!("trace: {path} (open it at ui.perfetto.dev)\n"),
        )?;
    }
    Document::new(loaded, &description, &results).write(request, out)?;
    Ok(Outcome {
        right: results.iter().all(CaseResult::is_right),
        device_hangs,
    })
}

/// Puts the file's name to a place in it.
fn locate(error: DeviceError, loaded: &LoadedKernel) -> RunError {
    match error {
        DeviceError::Source {
            line,
            column,
            message,
        } => RunError::Source {
            path: loaded.shown.clone(),
            line,
            column,
            message,
        },
        other => other.into(),
    }
}

fn fails_kernel(error: &DeviceError) -> bool {
    matches!(error, DeviceError::Kernel(_) | DeviceError::Timeout(_))
}

fn wait_report(device: &dyn Device, kernel: &Kernel) -> Option<WaitReport> {
    WaitReport::decode(&device.wait_report()?, kernel)
}

/// A result with nothing but what was to be run.
fn describe(kernel: &Kernel, binding: &Binding) -> CaseResult {
    let shape = |tensor: &Tensor| (tensor.name.clone(), tensor.layout.shape().to_vec());
    CaseResult {
        label: format!("{} [{}]", kernel.name, binding.describe()),
        sizes: binding.tensors().map(shape).collect(),
        grid: [1; 3],
        ..CaseResult::default()
    }
}

/// Memory of one case, given back whatever happens.
struct Memory<'a> {
    device: &'a mut dyn Device,
    buffers: Vec<Buffer>,
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        for buffer in self.buffers.drain(..) {
            self.device.free(buffer);
        }
    }
}

/// Runs one size under all schedules, up to the first that goes wrong; also the text of what was
/// measured.
fn run_case(
    device: &mut dyn Device,
    kernel: &Kernel,
    binding: &Binding,
    request: &Request,
    trace: Option<&Path>,
) -> Result<(CaseResult, String), RunError> {
    check_memory(device, binding)?;
    let prepared = Prepared::new(binding, &request.values)?;
    let mut result = describe(kernel, binding);
    result.checked = prepared.expectations() > 0;
    result.grid = plan::grid(kernel, binding, device.sm_count(), request.grid)?;
    // Nothing to do is right for a length of 0, and the driver refuses to launch it.
    let empty = result.grid.contains(&0);
    let mut measured = String::new();
    for (number, schedule) in device.schedules().into_iter().enumerate() {
        let mut memory = Memory {
            device,
            buffers: Vec::new(),
        };
        let launch = memory.upload(kernel, binding, &prepared, result.grid)?;
        let mut right = true;
        if !empty {
            let launched = memory.device.launch(&launch, schedule, request.timeout)?;
            let base = launched.dynamic_shared;
            if let Some(mut run) = launched.run {
                name_barriers_in(&mut run, kernel, base);
                right = result.add(run);
                result.wait = wait_report(memory.device, kernel);
            }
            if let (Some(path), Some(trace)) = (trace.filter(|_| number == 0), launched.trace) {
                write_trace(path, &trace, kernel, base)?;
            }
        }
        let after = memory.download(&prepared)?;
        save(request, binding, &after)?;
        // What a kernel leaves that was stopped half-way says nothing.
        if result.runs.last().is_none_or(|run| run.completed) {
            result.findings = prepared.check(binding, &after);
        }
        if empty || !right || !result.findings.is_empty() {
            break;
        }
        if let Some(bench) = request.bench.as_ref().filter(|_| number == 0) {
            measured = measure(memory.device, binding, &launch, bench, request)?;
        }
    }
    Ok((result, measured))
}

/// Before the host fills images that would not fit anyway.
fn check_memory(device: &dyn Device, binding: &Binding) -> Result<(), RunError> {
    let extents = binding.tensors().map(|tensor| tensor.layout.extent_bytes());
    let bytes = extents.fold(0u64, |sum, bytes| {
        sum.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX))
    });
    match device.memory_limit() {
        Some(limit) if bytes > limit => Err(RunError::TooLarge { bytes, limit }),
        _ => Ok(()),
    }
}

/// Puts the manifest's names of barriers into the reports.
fn name_barriers_in(run: &mut Run, kernel: &Kernel, base: u32) {
    for report in &mut run.reports {
        for text in iter::once(&mut report.message).chain(&mut report.notes) {
            *text = name_barriers(text, &kernel.barriers, base);
        }
    }
}

fn write_trace(path: &Path, trace: &Trace, kernel: &Kernel, base: u32) -> Result<(), RunError> {
    let name = |address: u32| barrier_at(&kernel.barriers, address.checked_sub(base)?);
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(fs::File::create(path)?);
        trace.write_chrome(&mut file, &name)?;
        file.flush()
    };
    write().map_err(|source| RunError::Write {
        path: path.to_owned(),
        source,
    })
}

impl Memory<'_> {
    fn upload(
        &mut self,
        kernel: &Kernel,
        binding: &Binding,
        prepared: &Prepared,
        grid: [u32; 3],
    ) -> Result<Launch, RunError> {
        let mut addresses = Vec::new();
        for (tensor, image) in binding.tensors().zip(&prepared.images) {
            let buffer = self.device.allocate(&device::Memory {
                name: &tensor.name,
                bytes: image.bytes().len(),
                accessible: image.accessible(),
            })?;
            self.buffers.push(buffer);
            self.device.write(buffer, image.bytes())?;
            let start = u64::try_from(image.start()).unwrap_or(0);
            addresses.push((tensor.index, self.device.address(buffer) + start));
        }
        let address = |argument: u32| {
            let found = addresses.iter().find(|(index, _)| *index == argument);
            found.map_or(0, |(_, address)| *address)
        };
        Ok(plan::launch(kernel, binding, grid, address)?)
    }

    fn download(&mut self, prepared: &Prepared) -> Result<Vec<Image>, RunError> {
        let mut after = prepared.images.clone();
        for (image, buffer) in after.iter_mut().zip(&self.buffers) {
            self.device.read(*buffer, image.bytes_mut())?;
        }
        Ok(after)
    }
}

fn save(request: &Request, binding: &Binding, after: &[Image]) -> Result<(), RunError> {
    for saved in &request.save {
        let mut tensors = binding.tensors().zip(after);
        let Some((tensor, image)) = tensors.find(|(t, _)| t.name == saved.argument) else {
            continue;
        };
        let path = saved.value.clone();
        let written = fs::write(&path, image.packed(&tensor.layout));
        written.map_err(|source| RunError::Write { path, source })?;
    }
    Ok(())
}

fn measure(
    device: &mut dyn Device,
    binding: &Binding,
    launch: &Launch,
    bench: &BenchOptions,
    request: &Request,
) -> Result<String, RunError> {
    let env = binding.env(device.sm_count());
    let value = |option, expr: &Option<GridExpr>| match expr {
        None => Ok(None),
        Some(expr) => match expr.eval(&env) {
            Ok(value) => Ok(Some(u64::try_from(value).unwrap_or(0))),
            Err(source) => Err(RunError::Evaluate { option, source }),
        },
    };
    let bytes = value("bytes", &bench.bytes)?.unwrap_or_else(|| binding.data_bytes());
    let flops = value("flops", &bench.flops)?;
    let mut text = String::new();
    let times = device.time_launches(launch, bench.runs, request.timeout)?;
    let kernel = Times::of(&times);
    if let Some(times) = kernel {
        text += &format!("  kernel: {times}");
        if let Some(instructions) = device.thread_instructions() {
            // Bytes per second of an emulator say nothing about any kernel.
            let rate = times.giga_per_second(instructions as f64) * 1e3;
            text += &format!(" on this CPU, {rate:.1} M thread-instructions/s");
        } else {
            let rate = times.giga_per_second(bytes as f64);
            text += &format!(", {rate:.1} GB/s");
            if let Some(flops) = flops {
                let tera = times.giga_per_second(flops as f64) / 1e3;
                text += &format!(", {tera:.1} TFLOP/s");
            }
        }
        text.push('\n');
    }
    if bench.copy {
        // A copy reads and writes every byte, so it moves twice its length.
        let length = usize::try_from(bytes / 2).unwrap_or(0).max(1);
        let times = device.time_copies(length, bench.runs, request.timeout)?;
        if let (Some(copy), Some(kernel)) = (Times::of(&times), kernel) {
            let rate = copy.giga_per_second(2.0 * length as f64);
            let ratio = kernel.giga_per_second(bytes as f64) / rate;
            text += &format!("  copy:   {copy}, {rate:.1} GB/s\n  ratio kernel/copy: {ratio:.4}\n");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
