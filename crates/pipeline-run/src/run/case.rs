//! One size: launch, compare, measure, print.

use std::{fs, io::Write};

use ptx_model::manifest::{GridExpr, Kernel};

use super::{BenchOptions, LoadedKernel, Outcome, Request};
use crate::{
    bench::Times,
    bind::Binding,
    device::{Buffer, Device, DeviceError, Launch},
    error::RunError,
    image::Image,
    plan,
    verify::{Finding, Prepared},
    wait_report::WaitReport,
};

pub(super) fn run_cases(
    device: &mut dyn Device,
    loaded: &LoadedKernel,
    bindings: &[Binding],
    request: &Request,
    out: &mut dyn Write,
) -> Result<Outcome, RunError> {
    let description = device.describe();
    writeln!(out, "device: {description}").map_err(RunError::Output)?;
    device.load(&loaded.code, &loaded.kernel)?;
    let mut outcome = Outcome::RIGHT;
    for binding in bindings {
        let label = format!("{} [{}]", loaded.kernel.name, binding.describe());
        match run_case(device, &loaded.kernel, binding, request, out, &label) {
            Ok(right) => outcome.right &= right,
            Err(RunError::Device(error)) if fails_kernel(&error) => {
                outcome.right = false;
                outcome.device_hangs = matches!(error, DeviceError::Timeout(_));
                print_failure(device, &loaded.kernel, &label, &error, out)?;
                // The context is lost; later sizes could not run.
                return Ok(outcome);
            }
            Err(error) => return Err(error),
        }
        out.flush().map_err(RunError::Output)?;
    }
    Ok(outcome)
}

fn fails_kernel(error: &DeviceError) -> bool {
    matches!(error, DeviceError::Kernel(_) | DeviceError::Timeout(_))
}

fn print_failure(
    device: &dyn Device,
    kernel: &Kernel,
    label: &str,
    error: &DeviceError,
    out: &mut dyn Write,
) -> Result<(), RunError> {
    let words = device.wait_report();
    let report = words.and_then(|words| WaitReport::decode(&words, kernel));
    let mut text = format!("{label}: FAILED, {error}\n");
    if let Some(report) = report {
        text += &format!("  {report}\n");
    }
    out.write_all(text.as_bytes()).map_err(RunError::Output)
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

fn run_case(
    device: &mut dyn Device,
    kernel: &Kernel,
    binding: &Binding,
    request: &Request,
    out: &mut dyn Write,
    label: &str,
) -> Result<bool, RunError> {
    let prepared = Prepared::new(binding, &request.values)?;
    let grid = plan::grid(kernel, binding, device.sm_count(), request.grid)?;
    let mut memory = Memory {
        device,
        buffers: Vec::new(),
    };
    let launch = memory.upload(kernel, binding, &prepared, grid)?;
    // Nothing to do is right for a length of 0, and the driver refuses to launch it.
    let empty = grid.contains(&0);
    if !empty {
        memory.device.launch(&launch, request.timeout)?;
    }
    let after = memory.download(&prepared)?;
    save(request, binding, &after)?;
    let findings = prepared.check(binding, &after);
    print_findings(label, &prepared, empty, &findings, out)?;
    if let Some(bench) = &request.bench
        && !empty
        && findings.is_empty()
    {
        measure(memory.device, binding, &launch, bench, request, out)?;
    }
    Ok(findings.is_empty())
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
            let buffer = self.device.allocate(image.bytes().len())?;
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

fn print_findings(
    label: &str,
    prepared: &Prepared,
    empty: bool,
    findings: &[Finding],
    out: &mut dyn Write,
) -> Result<(), RunError> {
    let mut text = if !findings.is_empty() {
        format!("{label}: FAILED")
    } else if prepared.expectations() == 0 {
        format!("{label}: ran, guard bytes intact, results not checked")
    } else {
        format!("{label}: ok")
    };
    if empty {
        text += " (empty grid, nothing launched)";
    }
    text.push('\n');
    for finding in findings {
        for line in finding.to_string().lines() {
            text += &format!("  {line}\n");
        }
    }
    out.write_all(text.as_bytes()).map_err(RunError::Output)
}

fn measure(
    device: &mut dyn Device,
    binding: &Binding,
    launch: &Launch,
    bench: &BenchOptions,
    request: &Request,
    out: &mut dyn Write,
) -> Result<(), RunError> {
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
        let rate = times.giga_per_second(bytes as f64);
        text += &format!("  kernel: {times}, {rate:.1} GB/s");
        if let Some(flops) = flops {
            let tera = times.giga_per_second(flops as f64) / 1e3;
            text += &format!(", {tera:.1} TFLOP/s");
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
    out.write_all(text.as_bytes()).map_err(RunError::Output)
}

#[cfg(test)]
mod tests;
