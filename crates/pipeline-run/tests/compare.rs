//! Emulator against GPU, bit for bit: the same PTX, the same input, every byte of the output.
//!
//! `cargo test -p pipeline-run --test compare -- --ignored --nocapture` on a machine with a GPU of
//! compute capability 9.0. Without one only the emulator's side can run, which one test does, so
//! that the probes stay executable.

#[path = "compare/probes.rs"]
mod probes;
#[path = "compare/saved.rs"]
mod saved;

use std::time::Duration;

use pipeline_run::device::{
    Code, Device, Launch, Memory, Value,
    cuda::CudaDevice,
    emulator::{EmulatorDevice, EmulatorOptions},
};
use probes::Probe;
use ptx_model::manifest::Manifest;

/// Runs a probe: its input in, its output back.
fn run(device: &mut dyn Device, probe: &Probe) -> Vec<u8> {
    let manifest = format!(
        r#"{{"schema_version":1,"target":"sm_90a","ptx_version":"8.6","kernels":[{{
          "name":"probe","block":[{},1,1],"cluster":null,"grid":null,"dynamic_shared_bytes":0,
          "arguments":[{{"kind":"scalar","name":"in","type":"i64"}},
            {{"kind":"scalar","name":"out","type":"i64"}}],
          "parameters":[{{"kind":"scalar","argument":0,"type":"i64"}},
            {{"kind":"scalar","argument":1,"type":"i64"}}],
          "roles":[],"channels":[],"barriers":[],"registers_per_warpgroup":null,
          "wait_report":null}}]}}"#,
        probe.block
    );
    let manifest = Manifest::from_json(&manifest).expect("valid");
    let code = Code::Ptx(probe.ptx.clone().into_bytes());
    device
        .load(&code, &manifest.kernels[0])
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", probe.name, probe.ptx));
    let mut buffers = Vec::new();
    for (name, bytes) in [("in", probe.input.len()), ("out", probe.output_bytes())] {
        let memory = Memory {
            name,
            bytes,
            accessible: 0..bytes,
        };
        buffers.push(device.allocate(&memory).expect("fits"));
    }
    device.write(buffers[0], &probe.input).expect("writes");
    let mut output = vec![0xee; probe.output_bytes()];
    device.write(buffers[1], &output).expect("writes");
    let parameter = |index: usize| Value::Plain(device.address(buffers[index]).to_le_bytes());
    let launch = Launch {
        grid: [probe.grid, 1, 1],
        block: [probe.block, 1, 1],
        cluster: None,
        dynamic_shared_bytes: 0,
        parameters: vec![parameter(0), parameter(1)],
    };
    device
        .launch(&launch, 0, Some(Duration::from_secs(60)))
        .unwrap_or_else(|error| panic!("{}: {error}", probe.name));
    device.read(buffers[1], &mut output).expect("reads");
    for buffer in buffers {
        device.free(buffer);
    }
    output
}

fn emulator() -> EmulatorDevice {
    let options = EmulatorOptions {
        detect: false,
        schedules: 0..1,
        ..EmulatorOptions::default()
    };
    EmulatorDevice::new(options, "sm_90a")
}

#[test]
fn every_probe_runs_on_the_emulator() {
    for probe in probes::all(1) {
        let output = run(&mut emulator(), &probe);
        let untouched = output.iter().filter(|&&byte| byte == 0xee).count();
        assert!(
            untouched < output.len() / 2,
            "{}: wrote nothing",
            probe.name
        );
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_probe_agrees_with_the_gpu() {
    let mut gpu = CudaDevice::open(0).expect("a GPU");
    println!("{}", gpu.describe());
    let mut wrong = 0;
    println!(
        "{:<44} {:>9} {:>9}  first difference",
        "probe", "values", "differ"
    );
    for probe in probes::all(64) {
        let theirs = run(&mut gpu, &probe);
        let ours = run(&mut emulator(), &probe);
        let words = |bytes: &[u8]| -> Vec<u32> {
            let chunks = bytes.chunks_exact(4);
            chunks
                .map(|c| u32::from_le_bytes(c.try_into().expect("4")))
                .collect()
        };
        let (ours, theirs) = (words(&ours), words(&theirs));
        let differ = |a: u32, b: u32| match probe.ulps {
            0 => a != b,
            most => !near(a, b, most),
        };
        let all: Vec<usize> = (0..ours.len())
            .filter(|&i| differ(ours[i], theirs[i]))
            .collect();
        let first = match all.first() {
            Some(&index) => format!(
                "word {index}: emulator {:08x}, GPU {:08x}, input {}",
                ours[index],
                theirs[index],
                probe.input_of(index)
            ),
            None => String::new(),
        };
        wrong += usize::from(!all.is_empty());
        println!(
            "{:<44} {:>9} {:>9}  {first}",
            probe.name,
            ours.len(),
            all.len()
        );
    }
    assert_eq!(wrong, 0, "probes differ");
}

/// Launches that another test has saved: `PTX_CORPUS_SAVE=DIR cargo test -p ptx-emulator --test
/// corpus` where the kernels are, then this one with `SAVED_LAUNCHES=DIR` where the GPU is.
#[test]
#[ignore = "needs a GPU and SAVED_LAUNCHES"]
fn every_saved_launch_agrees_with_the_gpu() {
    let folder = std::env::var_os("SAVED_LAUNCHES").expect("SAVED_LAUNCHES names a folder");
    let mut wrong = Vec::new();
    println!(
        "{:<58} {:>9} {:>9}  first difference",
        "launch", "bytes", "differ"
    );
    for launch in saved::all(folder.as_ref()) {
        // Each on a fresh context: a kernel that fails takes its own down.
        let mut gpu = CudaDevice::open(0).expect("a GPU");
        let outcome = match launch.run(&mut gpu) {
            Err(error) => error,
            Ok(theirs) => match launch.differences(&theirs) {
                (0, bytes, _) => {
                    println!("{:<58} {bytes:>9} {:>9}", launch.name, 0);
                    continue;
                }
                (count, bytes, first) => format!("{bytes:>9} {count:>9}  {first}"),
            },
        };
        println!("{:<58} {outcome}", launch.name);
        wrong.push(launch.name);
    }
    assert!(wrong.is_empty(), "{wrong:?} differ");
}

/// Whether two f32 are within a number of units in the last place.
fn near(a: u32, b: u32, ulps: u32) -> bool {
    let key = |bits: u32| {
        let magnitude = i64::from(bits & 0x7fff_ffff);
        if bits >> 31 == 1 {
            -magnitude
        } else {
            magnitude
        }
    };
    let nan = |bits: u32| f32::from_bits(bits).is_nan();
    nan(a) && nan(b) || !nan(a) && !nan(b) && key(a).abs_diff(key(b)) <= u64::from(ulps)
}
