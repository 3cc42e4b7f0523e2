//! Whole cases on a device whose kernel is a Rust function.

use std::{path::PathBuf, time::Duration};

use ptx_emulator::{Kind, Report, Severity, report::Site, syntax::ast::Span};
use ptx_model::manifest::Manifest;

use super::*;
use crate::{
    bind::BindOptions,
    device::{Code, Launched, Runs, Value, cuda::CudaError, emulator::EmulatorOptions},
    expect::Expectation,
    fill::Fill,
    options::SizeOption,
    verify::ValueOptions,
    wait_report::WaitWords,
};

/// How the kernel `C = A + B` behaves.
#[derive(Clone, Copy, PartialEq)]
enum Behaviour {
    Right,
    /// Writes one element more than there are.
    WritesPastTheEnd,
    /// Writes its input.
    WritesInput,
    Traps,
    Hangs,
    /// Warns under every schedule, and has a race under the second.
    RacesUnderTheSecondSchedule,
}

struct FakeDevice {
    behaviour: Behaviour,
    schedules: u64,
    memory: Vec<Vec<u8>>,
    freed: usize,
    launches: usize,
}

/// Every buffer has its own gigabyte of addresses.
const SPACING: u64 = 1 << 30;

impl FakeDevice {
    fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            schedules: 1,
            memory: Vec::new(),
            freed: 0,
            launches: 0,
        }
    }

    /// What a watched run says.
    fn reports(&self, schedule: u64) -> Vec<Report> {
        let report = |kind, severity, line| Report {
            kind,
            severity,
            message: "at the mbarrier at shared memory 0x408".to_owned(),
            site: Some(Site {
                span: Span { line, column: 2 },
                source: None,
                instruction: "st.shared.b32".into(),
                block: [1, 0, 0],
                thread: 37,
            }),
            notes: vec!["a note".to_owned()],
            count: 2,
        };
        let warning = report(Kind::MissingInitFence, Severity::Warning, 7);
        let race = report(Kind::Race, Severity::Error, 9);
        match schedule {
            1 if self.behaviour == Behaviour::RacesUnderTheSecondSchedule => vec![warning, race],
            _ => vec![warning],
        }
    }

    fn at(&mut self, address: u64, index: usize) -> &mut [u8] {
        let buffer = usize::try_from(address / SPACING).expect("small") - 1;
        let start = usize::try_from(address % SPACING).expect("small") + 4 * index;
        &mut self.memory[buffer][start..start + 4]
    }

    fn number(&mut self, address: u64, index: usize) -> f32 {
        let bytes = self.at(address, index).to_vec();
        f32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }
}

impl Device for FakeDevice {
    fn describe(&self) -> String {
        "fake".to_owned()
    }

    fn target(&self) -> Option<&'static str> {
        None
    }

    fn sm_count(&self) -> u32 {
        2
    }

    fn load(&mut self, _: &Code, _: &Kernel) -> Result<(), DeviceError> {
        Ok(())
    }

    fn allocate(&mut self, memory: &device::Memory<'_>) -> Result<Buffer, DeviceError> {
        self.memory.push(vec![0; memory.bytes]);
        Ok(Buffer(self.memory.len() - 1))
    }

    fn address(&self, buffer: Buffer) -> u64 {
        SPACING * (u64::try_from(buffer.0).expect("small") + 1)
    }

    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), DeviceError> {
        self.memory[buffer.0].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, buffer: Buffer, bytes: &mut [u8]) -> Result<(), DeviceError> {
        bytes.copy_from_slice(&self.memory[buffer.0]);
        Ok(())
    }

    fn free(&mut self, _: Buffer) {
        self.freed += 1;
    }

    fn schedules(&self) -> Vec<u64> {
        (0..self.schedules).collect()
    }

    fn launch(
        &mut self,
        launch: &Launch,
        schedule: u64,
        timeout: Option<Duration>,
    ) -> Result<Launched, DeviceError> {
        self.launches += 1;
        match self.behaviour {
            Behaviour::Hangs => return Err(DeviceError::Timeout(timeout.expect("given"))),
            Behaviour::Traps => {
                return Err(DeviceError::Kernel(CudaError {
                    call: "cuStreamQuery",
                    name: "CUDA_ERROR_LAUNCH_FAILED".to_owned(),
                    text: "unspecified launch failure".to_owned(),
                }));
            }
            _ => {}
        }
        let numbers: Vec<u64> = launch
            .parameters
            .iter()
            .map(|value| match value {
                Value::Plain(bytes) => u64::from_le_bytes(*bytes),
                Value::TensorMap(map) => map.address,
            })
            .collect();
        let [a, b, c, n] = numbers[..] else {
            panic!("{numbers:?}");
        };
        let past = u64::from(self.behaviour == Behaviour::WritesPastTheEnd);
        for index in 0..usize::try_from(n + past).expect("small") {
            let sum = self.number(a, index) + self.number(b, index);
            let to = if self.behaviour == Behaviour::WritesInput {
                b
            } else {
                c
            };
            self.at(to, index).copy_from_slice(&sum.to_le_bytes());
        }
        let run = (self.schedules > 1).then(|| Run {
            schedule: format!("schedule number {schedule}"),
            completed: self.behaviour != Behaviour::RacesUnderTheSecondSchedule || schedule != 1,
            steps: 10,
            thread_instructions: 320,
            reports: self.reports(schedule),
        });
        Ok(Launched {
            run,
            dynamic_shared: 1024,
            ..Launched::default()
        })
    }

    fn time_launches(
        &mut self,
        _: &Launch,
        runs: Runs,
        _: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError> {
        Ok((1..=runs.iterations).map(f64::from).collect())
    }

    fn time_copies(
        &mut self,
        _: usize,
        _: Runs,
        _: Option<Duration>,
    ) -> Result<Vec<f64>, DeviceError> {
        Ok(vec![4.0])
    }

    fn wait_report(&self) -> Option<WaitWords> {
        let gave_up = self.behaviour == Behaviour::Traps;
        gave_up.then_some([1, 8, 1, 0, 3, 0, 0, 37])
    }
}

fn loaded() -> LoadedKernel {
    let memref = |name: &str| {
        format!(
            r#"{{"kind":"memref","name":"{name}","element_type":"f32","shape":[null],"strides":[1],"alignment":16,"aliases":false}}"#
        )
    };
    let text = format!(
        r#"{{"schema_version":1,"target":"sm_80","ptx_version":"8.0","kernels":[{{"name":"add",
        "block":[32,1,1],"cluster":null,
        "grid":[{{"ceildiv":[{{"dim":{{"argument":0,"dimension":0}}}},{{"const":32}}]}},{{"const":1}},{{"const":1}}],
        "dynamic_shared_bytes":64,"arguments":[{},{},{}],
        "parameters":[{{"kind":"pointer","argument":0}},{{"kind":"pointer","argument":1}},
          {{"kind":"pointer","argument":2}},{{"kind":"size","argument":0,"dimension":0}}],
        "roles":[],"channels":[],
        "barriers":[{{"name":"in.full","stages":2,"arrival_count":1,"tx_bytes":0,"shared_offset":0}}],
        "registers_per_warpgroup":null,
        "wait_report":{{"symbol":"s","bytes":32,"roles":["compute"]}}}}]}}"#,
        memref("A"),
        memref("B"),
        memref("C")
    );
    let mut manifest = Manifest::from_json(&text).expect("valid");
    LoadedKernel {
        kernel: manifest.kernels.remove(0),
        target: manifest.target,
        code: Code::Ptx(Vec::new()),
        shown: "add.ptx".into(),
    }
}

fn request(bench: Option<BenchOptions>) -> Request {
    Request {
        input: PathBuf::new(),
        manifest: None,
        kernel: None,
        device: None,
        ordinal: 0,
        emulator: EmulatorOptions::default(),
        emulator_option: None,
        timeout: Some(Duration::from_secs(1)),
        trace: None,
        report: ReportFormat::Text,
        report_file: None,
        target: None,
        stages: None,
        lengths: None,
        grid: None,
        bind: BindOptions::default(),
        values: ValueOptions {
            expect: vec![Expectation::parse("C = A + B").expect("parses")],
            expect_file: Vec::new(),
            input: Vec::new(),
            fill: Fill::Integer,
            seed: 1,
            tolerance: None,
        },
        save: Vec::new(),
        bench,
    }
}

fn run(device: &mut FakeDevice, lengths: &[u64], request: &Request) -> (Outcome, String) {
    let loaded = loaded();
    let bind = |length: &u64| {
        let size = SizeOption {
            argument: None,
            shape: vec![*length],
        };
        let options = BindOptions {
            sizes: vec![size],
            ..BindOptions::default()
        };
        Binding::new(&loaded.kernel, &options).expect("binds")
    };
    let bindings: Vec<Binding> = lengths.iter().map(bind).collect();
    let mut out = Vec::new();
    let outcome = run_cases(device, &loaded, &bindings, request, &mut out).expect("runs");
    (outcome, String::from_utf8(out).expect("UTF-8"))
}

#[test]
fn lengths_one_line_each() {
    let mut device = FakeDevice::new(Behaviour::Right);
    let (outcome, text) = run(&mut device, &[0, 1, 997], &request(None));
    assert_eq!(outcome, Outcome::RIGHT);
    assert_eq!(
        text,
        "device: fake\n\
         add [A 0, B 0, C 0]: ok (empty grid, nothing launched)\n\
         add [A 1, B 1, C 1]: ok\n\
         add [A 997, B 997, C 997]: ok\n"
    );
    assert_eq!(
        (device.launches, device.memory.len(), device.freed),
        (2, 9, 9)
    );
}

#[test]
fn wrong_kernels_are_found_out() {
    let mut device = FakeDevice::new(Behaviour::WritesPastTheEnd);
    let (outcome, text) = run(&mut device, &[7], &request(None));
    assert!(!outcome.right && !outcome.device_hangs);
    let place = "bytes changed outside its elements, first after the last element at byte offset";
    assert!(text.contains(place), "{text}");

    let mut device = FakeDevice::new(Behaviour::WritesInput);
    let (outcome, text) = run(&mut device, &[7], &request(None));
    assert!(!outcome.right);
    assert!(
        text.contains("elements changed that nothing should write, first B["),
        "{text}"
    );
    assert!(text.contains("C: 7 of 7 elements differ"), "{text}");
}

#[test]
fn a_trap_ends_the_run_with_the_wait_that_gave_up() {
    let mut device = FakeDevice::new(Behaviour::Traps);
    let (outcome, text) = run(&mut device, &[7, 8], &request(None));
    assert!(!outcome.right && !outcome.device_hangs);
    assert_eq!(
        text,
        "device: fake\n\
         add [A 7, B 7, C 7]: FAILED, the kernel failed: cuStreamQuery: CUDA_ERROR_LAUNCH_FAILED \
         (unspecified launch failure)\n  \
         wait timed out: role compute, barrier in.full[1], parity 1, block (3,0,0), thread 37\n"
    );
}

#[test]
fn a_hang_is_an_outcome() {
    let mut device = FakeDevice::new(Behaviour::Hangs);
    let (outcome, text) = run(&mut device, &[7], &request(None));
    assert!(!outcome.right && outcome.device_hangs);
    assert!(text.contains("the kernel did not end within 1s"), "{text}");
}

#[test]
fn measuring_prints_rates_and_ratio() {
    let bench = BenchOptions {
        runs: Runs {
            warm_up: 1,
            iterations: 3,
        },
        copy: true,
        bytes: Some("dim(0, 0) * 4000000".parse().expect("parses")),
        flops: Some("dim(0, 0) * 1000000000".parse().expect("parses")),
    };
    let mut device = FakeDevice::new(Behaviour::Right);
    let (_, text) = run(&mut device, &[10], &request(Some(bench)));
    assert!(
        text.ends_with(
            "  kernel: median 2.0000 ms, min 1.0000 ms, max 3.0000 ms, 20.0 GB/s, 5.0 TFLOP/s\n  \
         copy:   median 4.0000 ms, min 4.0000 ms, max 4.0000 ms, 10.0 GB/s\n  \
         ratio kernel/copy: 2.0000\n"
        ),
        "{text}"
    );
}

#[test]
fn schedules_run_up_to_the_first_that_goes_wrong() {
    let mut device = FakeDevice::new(Behaviour::Right);
    device.schedules = 3;
    let (outcome, text) = run(&mut device, &[7], &request(None));
    assert_eq!(
        (outcome, device.launches, device.freed),
        (Outcome::RIGHT, 3, 9)
    );
    assert_eq!(
        text,
        "device: fake\n\
         add [A 7, B 7, C 7]: ok (3 schedules, 30 warp-instructions)\n  \
         add.ptx:7:2: warning: at the mbarrier at shared memory 0x408 (in.full[1]) [missing-init-fence]\n    \
         at st.shared.b32; block (1,0,0), warp 1, thread 37\n    \
         a note\n    \
         seen 2 times here\n"
    );

    let mut device = FakeDevice::new(Behaviour::RacesUnderTheSecondSchedule);
    device.schedules = 3;
    let (outcome, text) = run(&mut device, &[7], &request(None));
    assert!(!outcome.right);
    assert_eq!(device.launches, 2);
    let first =
        "add [A 7, B 7, C 7]: FAILED under schedule 1, schedule number 1\n  add.ptx:9:2: error:";
    assert!(text.contains(first), "{text}");
    assert_eq!(text.matches("warning:").count(), 1, "{text}");
    assert_eq!(text.matches("add.ptx:9:2: error:").count(), 1, "{text}");
}

#[test]
fn json_has_stable_names() {
    let mut device = FakeDevice::new(Behaviour::RacesUnderTheSecondSchedule);
    device.schedules = 3;
    let request = Request {
        report: ReportFormat::Json,
        ..request(None)
    };
    let (_, text) = run(&mut device, &[7, 0], &request);
    let value: serde_json::Value = serde_json::from_str(&text).expect("one object and no more");
    assert_eq!(value["outcome"], "failed");
    assert_eq!(
        (&value["exit_code"], &value["kernel"]),
        (&1.into(), &"add".into())
    );
    assert_eq!(
        (&value["target"], &value["file"]),
        (&"sm_80".into(), &"add.ptx".into())
    );
    let case = &value["cases"][0];
    assert_eq!(case["outcome"], "failed");
    assert_eq!(case["sizes"]["A"][0], 7);
    assert_eq!(case["schedules"][1]["completed"], false);
    assert_eq!(case["schedules"][1]["thread_instructions"], 320);
    let report = &case["reports"][1];
    let expected = serde_json::json!({
        "kind": "race", "severity": "error",
        "message": "at the mbarrier at shared memory 0x408 (in.full[1])",
        "line": 9, "column": 2, "source": null, "instruction": "st.shared.b32",
        "block": [1, 0, 0], "thread": 37, "notes": ["a note"], "count": 2,
    });
    assert_eq!(report, &expected);
    assert_eq!(value["cases"][1]["outcome"], "ok");
    assert_eq!(value["cases"][1]["grid"][0], 0);
}
