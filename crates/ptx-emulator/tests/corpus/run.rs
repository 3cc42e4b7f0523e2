//! Runs a launch under many schedules, and judges results and reports.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use ptx_emulator::{Emulator, Kind, Options, Outcome, Schedule, Severity};

use crate::{
    faults::Fault,
    save,
    setup::{Case, EXACT, Expected, Setup},
};

/// Schedules under which every right kernel runs, unless `PTX_CORPUS_SCHEDULES` says otherwise.
const SCHEDULES: u64 = 3;

/// Schedules under which kernels with a planted fault, and the same kernels without it, run.
const MANY_SCHEDULES: u64 = 20;

const SEED: u64 = 1;

/// A right kernel: right results and no error under each schedule.
pub(crate) fn right(folder: &str, name: &str, build: impl FnOnce(&mut Setup)) {
    clean(folder, name, schedules(), build);
}

/// A right kernel that exists with a planted fault as well: under as many schedules as that.
pub(crate) fn twin(folder: &str, name: &str, build: impl FnOnce(&mut Setup)) {
    clean(folder, name, MANY_SCHEDULES, build);
}

fn schedules() -> u64 {
    match std::env::var("PTX_CORPUS_SCHEDULES") {
        Ok(number) => number.parse().expect("PTX_CORPUS_SCHEDULES is a number"),
        Err(_) => SCHEDULES,
    }
}

fn clean(folder: &str, name: &str, schedules: u64, build: impl FnOnce(&mut Setup)) {
    let Some(case) = case(folder, name, build) else {
        return;
    };
    for n in 0..schedules {
        let (memory, outcome, time) = run(&case, n);
        progress(&case, n, &outcome, time);
        assert!(
            outcome.is_clean(),
            "{} is right, and under schedule {n} the emulator says{}",
            case.name,
            reports(&outcome)
        );
        for report in &outcome.reports {
            // Where NVIDIA's compilers are laxer than the ISA, and nowhere else.
            let known = [
                Kind::MissingTensorFence,
                Kind::MissingInitFence,
                Kind::MissingProxyFence,
            ];
            assert!(known.contains(&report.kind), "{}: {report}", case.name);
        }
        for expected in &case.expected {
            compare(&case, n, expected, &memory);
        }
        unchanged(&case, n, &memory);
        if n == 0 {
            save::launch(&case, memory.memory());
        }
    }
}

/// A kernel with a planted fault: it is reported for what it is under each schedule, and nothing
/// else is.
pub(crate) fn planted(folder: &str, name: &str, fault: Fault, build: impl FnOnce(&mut Setup)) {
    let Some(case) = case(folder, name, build) else {
        return;
    };
    for n in 0..MANY_SCHEDULES {
        let (_, outcome, time) = run(&case, n);
        progress(&case, n, &outcome, time);
        reported(&case, n, fault, &outcome);
    }
}

/// Checks that a fault is reported, and that no other error is.
fn reported(case: &Case, n: u64, fault: Fault, outcome: &Outcome) {
    let lines = fault.lines(&case.text);
    assert!(
        outcome
            .reports
            .iter()
            .any(|report| fault.names(report, &lines)),
        "{}: {} at one of the lines {lines:?} is not reported under schedule {n}, but{}",
        case.name,
        fault.what,
        reports(outcome)
    );
    for report in &outcome.reports {
        assert!(
            report.severity == Severity::Warning || fault.explains(report),
            "{}: under schedule {n} something else than {} is reported: {report}",
            case.name,
            fault.what
        );
    }
}

fn case(folder: &str, name: &str, build: impl FnOnce(&mut Setup)) -> Option<Case> {
    let case = Setup::build(folder, name, build);
    if case.is_none() {
        println!("{folder}/{name}: skipped, its PTX is not here (set PTX_CORPUS)");
    }
    case
}

fn run(case: &Case, n: u64) -> (Emulator, Outcome, Duration) {
    let mut emulator = case.emulator.clone();
    let options = Options {
        schedule: Schedule::nth(n, SEED),
        ..Options::default()
    };
    let start = Instant::now();
    let outcome = emulator.run(&case.launch, &options);
    let outcome = outcome.unwrap_or_else(|fault| panic!("{}: {}", case.name, fault.message));
    (emulator, outcome, start.elapsed())
}

fn progress(case: &Case, n: u64, outcome: &Outcome, time: Duration) {
    let mut line = format!(
        "{}, schedule {n}: {} steps, {:.2} s",
        case.name,
        outcome.steps,
        time.as_secs_f64()
    );
    for report in &outcome.reports {
        let at = report.site.as_ref().map_or(0, |site| site.span.line);
        let _ = write!(line, "; {} at line {at}", report.kind.name());
    }
    println!("{line}");
}

/// All errors in full; warnings only as a number.
fn reports(outcome: &Outcome) -> String {
    let mut text = String::new();
    let mut warnings = 0;
    for report in &outcome.reports {
        match report.severity {
            Severity::Error => {
                let _ = write!(text, "\n{report}");
            }
            Severity::Warning => warnings += 1,
        }
    }
    if warnings > 0 {
        let _ = write!(text, "\nand {warnings} warnings");
    }
    if !outcome.completed {
        text.push_str("\nnot every thread came to its end");
    }
    text
}

/// Compares a result with its reference.
fn compare(case: &Case, n: u64, expected: &Expected, emulator: &Emulator) {
    let tensor = &expected.tensor;
    let size = tensor.element.bytes();
    let bytes = emulator.memory().bytes_from(tensor.address);
    let mut wrong = 0;
    let mut examples = String::new();
    for (index, value) in expected.values.iter().enumerate() {
        let (row, column) = (index / tensor.columns, index % tensor.columns);
        let at = (row * tensor.pitch + column) * size;
        let mut bits = [0; 4];
        bits[..size].copy_from_slice(&bytes[at..at + size]);
        let found = tensor.element.decode(u32::from_le_bytes(bits));
        let right = if expected.tolerance.relative == EXACT.relative
            && expected.tolerance.absolute == EXACT.absolute
        {
            found == tensor.element.round(*value)
        } else {
            let slack = expected.tolerance.relative * value.abs() + expected.tolerance.absolute;
            (found - value).abs() <= slack
        };
        if !right {
            wrong += 1;
            if wrong <= 8 {
                let _ = write!(examples, "\n  [{row}, {column}] is {found}, not {value}");
            }
        }
    }
    assert!(
        wrong == 0,
        "{}, schedule {n}: {wrong} of {} elements of {} are wrong:{examples}",
        case.name,
        expected.values.len(),
        tensor.name
    );
}

/// Checks that inputs, guards and the gaps between rows are as they were.
fn unchanged(case: &Case, n: u64, emulator: &Emulator) {
    let before = case.emulator.memory().allocations();
    let after = emulator.memory().allocations();
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(after) {
        if Some(before.base) == case.scratch {
            continue;
        }
        let mut bytes = after.bytes.clone();
        let end = before.base + bytes.len() as u64;
        for expected in &case.expected {
            let tensor = &expected.tensor;
            if !(before.base..end).contains(&tensor.address) {
                continue;
            }
            let size = tensor.element.bytes();
            let first = (tensor.address - before.base) as usize;
            for row in 0..tensor.rows {
                let start = first + row * tensor.pitch * size;
                let range = start..start + tensor.columns * size;
                bytes[range.clone()].copy_from_slice(&before.bytes[range]);
            }
        }
        let changed = bytes.iter().zip(&before.bytes).position(|(a, b)| a != b);
        assert!(
            changed.is_none(),
            "{}, schedule {n}: byte {} of {} was written, which belongs to no result",
            case.name,
            changed.unwrap_or_default(),
            before.name
        );
    }
}
