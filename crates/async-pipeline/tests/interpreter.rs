//! The barrier interpreter on whole kernels: right ones are clean and compute the right
//! numbers under every schedule, and damaged ones are reported.

#[path = "interpreter/cases.rs"]
mod cases;
#[path = "interpreter/examples.rs"]
mod examples;
#[path = "interpreter/faults.rs"]
mod faults;
#[path = "interpreter/fences.rs"]
mod fences;
#[path = "interpreter/limits.rs"]
mod limits;
#[path = "interpreter/rings.rs"]
mod rings;
#[path = "interpreter/texts.rs"]
mod texts;

use async_pipeline::{
    Target,
    interpreter::{ArgumentValue, Fault, Interpreter, LaunchInput, Outcome, Schedule},
    program::{
        Program,
        extract::{ExtractError, extract},
    },
};
use async_pipeline_sys::{dialect, ir::Op};
use melior::{Context, ir::Module};

/// Parses a module and extracts its kernels.
fn try_programs(text: &str) -> Result<Vec<Program>, ExtractError> {
    async_pipeline::initialize();
    let context = Context::new();
    context.append_dialect_registry(&dialect::registry());
    context.load_all_available_dialects();
    let module = Module::parse(&context, text).expect("the test's module parses");
    let kernels = extract(Op::from_raw(module.as_operation().to_raw()))?;
    Ok(kernels.into_iter().map(|kernel| kernel.program).collect())
}

/// The only kernel of a module.
fn program(text: &str) -> Program {
    let mut programs = try_programs(text).expect("the test's kernel has a program form");
    assert_eq!(programs.len(), 1);
    programs.remove(0)
}

/// A vector of distinct small numbers, whose sums are exact.
fn numbers(length: usize, seed: usize) -> Vec<f32> {
    (0..length)
        .map(|index| ((index * 7 + seed * 13) % 1021) as f32)
        .collect()
}

/// Arguments A, B and C of this length; C starts out as nonsense.
fn vectors(length: usize) -> Vec<ArgumentValue> {
    let shape = [length as u64];
    vec![
        ArgumentValue::f32(&shape, &numbers(length, 1)),
        ArgumentValue::f32(&shape, &numbers(length, 2)),
        ArgumentValue::f32(&shape, &vec![f32::NAN; length]),
    ]
}

fn sums(length: usize) -> Vec<f32> {
    numbers(length, 1)
        .iter()
        .zip(numbers(length, 2))
        .map(|(a, b)| a + b)
        .collect()
}

fn run(
    program: &Program,
    target: Target,
    arguments: Vec<ArgumentValue>,
    schedule: Schedule,
) -> Outcome {
    let input = LaunchInput {
        schedule,
        ..LaunchInput::new(target, arguments)
    };
    Interpreter::run(program, &input).expect("the launch fits the kernel")
}

/// Runs a kernel made by [`texts::kernel`] under every standard schedule and a few that hold one
/// warp or thread back.
fn faults_of(text: &str, target: Target) -> Vec<Fault> {
    use async_pipeline::interpreter::{Completion, Order};
    let program = program(text);
    let mut schedules = Schedule::standard(8);
    for index in 0..4 {
        let completion = Completion::Random(u64::from(index));
        schedules.push(Schedule {
            order: Order::LaggingWarp(index),
            completion,
        });
        schedules.push(Schedule {
            order: Order::LaggingThread(index * 32),
            completion,
        });
    }
    let argument = ArgumentValue::f32(&[1024], &numbers(1024, 1));
    let run = |schedule| run(&program, target, vec![argument.clone()], schedule).reports;
    schedules
        .into_iter()
        .flat_map(run)
        .map(|report| report.fault)
        .collect()
}

/// The facts of a run, one report a line.
fn text(outcome: &Outcome) -> String {
    let line = |report: &async_pipeline::interpreter::Report| {
        let note = report
            .note
            .as_ref()
            .map(|n| format!(" [{}: {}]", n.place, n.text));
        format!("{}: {report}{}\n", report.place, note.unwrap_or_default())
    };
    outcome.reports.iter().map(line).collect()
}
