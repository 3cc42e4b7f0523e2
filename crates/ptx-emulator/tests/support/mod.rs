//! Runs small kernels.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;

use ptx_emulator::{
    Emulator, Kind, Launch, Options, Outcome, Program, Report, Schedule, Severity, syntax::parse,
};

/// A kernel from the statements of its body. It has one parameter, `out`, whose value stands in
/// `%out`; `declarations` go before the statements.
pub(crate) fn kernel(target: &str, declarations: &str, body: &str) -> String {
    format!(
        ".version 8.7\n.target {target}\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n\
         .reg .b64 %out; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<10>;\n\
         {declarations}\n\
         ld.param.u64 %out, [out];\n{body}\nret;\n}}\n"
    )
}

/// How to run a kernel.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) grid: u32,
    pub(crate) block: u32,
    pub(crate) cluster: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) options: Options,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            grid: 1,
            block: 32,
            cluster: 1,
            dynamic_shared: 0,
            options: Options {
                max_steps: 200_000,
                livelock_steps: 20_000,
                ..Options::default()
            },
        }
    }
}

impl Run {
    pub(crate) fn block(block: u32) -> Self {
        Self {
            block,
            ..Self::default()
        }
    }

    pub(crate) fn with(mut self, schedule: Schedule) -> Self {
        self.options.schedule = schedule;
        self
    }

    /// Runs a kernel; its one parameter points to 4096 zeroed words, which come back.
    pub(crate) fn run(&self, ptx: &str) -> (Outcome, Vec<u32>) {
        let module = parse(ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
        let program = Program::new(&module, &module.entries[0])
            .unwrap_or_else(|error| panic!("{error}\n{ptx}"));
        let mut emulator = Emulator::new(Arc::new(program)).expect("fits");
        let out = emulator
            .memory_mut()
            .allocate(4096 * 4, "out")
            .expect("fits");
        let launch = Launch {
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            cluster: [self.cluster, 1, 1],
            dynamic_shared_bytes: self.dynamic_shared,
            parameters: vec![out.to_le_bytes().to_vec()],
        };
        let outcome = emulator.run(&launch, &self.options).expect("launches");
        let words = emulator
            .memory()
            .bytes_from(out)
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        (outcome, words)
    }
}

/// Twenty schedules of every sort.
pub(crate) fn schedules() -> impl Iterator<Item = Schedule> {
    (0..20).map(|n| Schedule::nth(n, 7))
}

/// The kernel is clean under all schedules.
pub(crate) fn clean(run: &Run, ptx: &str) {
    for schedule in schedules() {
        let (outcome, _) = run.clone().with(schedule).run(ptx);
        assert!(
            outcome.is_clean(),
            "{schedule:?}: {}\n{}",
            show(&outcome.reports),
            numbered(ptx)
        );
    }
}

/// Under every schedule a defect of this class is reported at a line that contains `at`.
pub(crate) fn reported(run: &Run, ptx: &str, kind: Kind, at: &str) {
    for schedule in schedules() {
        let (outcome, _) = run.clone().with(schedule).run(ptx);
        assert!(
            has(&outcome.reports, ptx, kind, at),
            "{schedule:?}: no {kind:?} at `{at}` in: {}\n{}",
            show(&outcome.reports),
            numbered(ptx)
        );
    }
}

/// Whether a report of this class stands at a line that contains `at`.
pub(crate) fn has(reports: &[Report], ptx: &str, kind: Kind, at: &str) -> bool {
    reports.iter().any(|report| {
        let line = report
            .site
            .as_ref()
            .and_then(|site| ptx.lines().nth(site.span.line as usize - 1));
        report.kind == kind && (at.is_empty() || line.is_some_and(|line| line.contains(at)))
    })
}

/// The errors of a run, whatever their severity.
pub(crate) fn warnings(outcome: &Outcome, kind: Kind) -> usize {
    let is = |r: &&Report| r.kind == kind && r.severity == Severity::Warning;
    outcome.reports.iter().filter(is).count()
}

pub(crate) fn show(reports: &[Report]) -> String {
    let texts: Vec<String> = reports.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

pub(crate) fn numbered(ptx: &str) -> String {
    let lines = ptx.lines().enumerate();
    lines
        .map(|(n, line)| format!("{:4} {line}\n", n + 1))
        .collect()
}
