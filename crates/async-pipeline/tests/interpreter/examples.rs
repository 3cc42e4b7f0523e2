//! The examples, as the passes leave them for every target.

use super::{numbers, run, sums, text, vectors};
use async_pipeline::{
    Target,
    interpreter::{ArgumentValue, Completion, Order, Outcome, Schedule},
    program::{Program, extract::extract, mutate::Mutation},
};
use async_pipeline_sys::{dialect, ir::Op};
use melior::{Context, ir::Module};
use std::{fs, path::Path};

/// One example: how to make arguments for a number of tiles, and what must come out.
struct Example {
    name: &'static str,
    stages: usize,
    arguments: fn(usize) -> Vec<ArgumentValue>,
    output: usize,
    expected: fn(usize) -> Vec<f32>,
}

const STAGES: usize = 3;

const EXAMPLES: [Example; 3] = [
    Example {
        name: "stream_add",
        stages: STAGES,
        arguments: |tiles| vectors(length(tiles, 1024)),
        output: 2,
        expected: |tiles| sums(length(tiles, 1024)),
    },
    Example {
        name: "stream_scale_2d",
        stages: STAGES,
        // One row of tiles, the last of them narrower.
        arguments: |tiles| {
            let columns = length_2d(tiles);
            let shape = [32, columns as u64];
            let count = 32 * columns;
            vec![
                ArgumentValue::f32(&shape, &numbers(count, 1)),
                ArgumentValue::f32(&shape, &vec![f32::NAN; count]),
                ArgumentValue::Float(2.0),
            ]
        },
        output: 1,
        expected: |tiles| {
            let doubled = |x: &f32| 2.0 * x;
            numbers(32 * length_2d(tiles), 1)
                .iter()
                .map(doubled)
                .collect()
        },
    },
    Example {
        name: "handwritten_ring",
        stages: 4,
        arguments: |tiles| vectors(length(tiles, 2048)),
        output: 2,
        expected: |tiles| sums(length(tiles, 2048)),
    },
];

/// Whole tiles but for the last, of which a few elements are missing.
fn length(tiles: usize, tile: usize) -> usize {
    (tiles * tile).saturating_sub(3)
}

/// Columns of 64-column tiles, of which the last is four narrower: rows stay multiples of
/// 16 bytes.
fn length_2d(tiles: usize) -> usize {
    (tiles * 64).saturating_sub(4)
}

/// The example at the barrier level.
fn at_barrier_level(name: &str, target: Target, arrive: &str) -> Program {
    async_pipeline::initialize();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.mlir"));
    let text = fs::read_to_string(path).expect("the example is there");
    let context = Context::new();
    context.append_dialect_registry(&dialect::registry());
    context.load_all_available_dialects();
    let module = Module::parse(&context, &text).expect("the example parses");
    let module = Op::from_raw(module.as_operation().to_raw());
    let passes = format!(
        "async-pipeline-multistage{{target={target} stages={STAGES}}},\
         async-pipeline-insert-barriers{{target={target} stages={STAGES} cp-async-arrive={arrive}}},\
         canonicalize,cse"
    );
    dialect::run_pipeline(module, &passes).expect("the passes run");
    let mut kernels = extract(module).expect("the kernel has a program form");
    assert_eq!(kernels.len(), 1);
    kernels.remove(0).program
}

/// Three orders in which copies finish, each with another order of the threads.
fn schedules() -> [Schedule; 3] {
    [
        Schedule {
            order: Order::RoundRobin,
            completion: Completion::Early,
        },
        Schedule {
            order: Order::Random(7),
            completion: Completion::Late,
        },
        Schedule {
            order: Order::LaggingWarp(2),
            completion: Completion::Random(3),
        },
    ]
}

fn is_right(example: &Example, outcome: &Outcome, tiles: usize) -> bool {
    outcome.is_clean() && outcome.f32(example.output) == (example.expected)(tiles)
}

fn clean_on(target: Target, arrive: &str) {
    for example in &EXAMPLES {
        let program = at_barrier_level(example.name, target, arrive);
        for tiles in (0..=2 * example.stages + 1).chain([3 * example.stages]) {
            for schedule in schedules() {
                let outcome = run(&program, target, (example.arguments)(tiles), schedule);
                assert!(
                    is_right(example, &outcome, tiles),
                    "{} on {target}, {tiles} tiles, {schedule:?}:\n{}",
                    example.name,
                    text(&outcome)
                );
            }
        }
    }
}

#[test]
fn clean_and_right_on_sm_80() {
    clean_on(Target::Sm80, "noinc");
}

#[test]
fn clean_and_right_on_sm_80_with_the_inc_form() {
    clean_on(Target::Sm80, "inc");
}

#[test]
fn clean_and_right_on_sm_90a() {
    clean_on(Target::Sm90a, "noinc");
}

#[test]
fn clean_and_right_on_sm_100a() {
    clean_on(Target::Sm100a, "noinc");
}

/// Mutations that no schedule shows, by report or by a wrong number.
fn unnoticed(example: &Example, target: Target) -> Vec<Mutation> {
    let program = at_barrier_level(example.name, target, "noinc");
    let tiles = 2 * example.stages + 1;
    let shows = |damaged: &Program, schedule: Schedule| {
        let outcome = run(damaged, target, (example.arguments)(tiles), schedule);
        !is_right(example, &outcome, tiles)
    };
    let schedules = || Schedule::standard(2).into_iter().chain(schedules());
    program
        .mutations()
        .into_iter()
        .filter(|mutation| {
            let damaged = program.mutated(*mutation);
            !schedules().any(|schedule| shows(&damaged, schedule))
        })
        .collect()
}

#[test]
fn every_mutation_of_a_ring_is_noticed() {
    for example in [&EXAMPLES[0], &EXAMPLES[2]] {
        for target in Target::ALL {
            assert_eq!(
                unnoticed(example, target),
                [],
                "{} on {target}",
                example.name
            );
        }
    }
}

#[test]
fn every_needed_op_of_two_rings_is_missed_when_it_is_gone() {
    // The compute role releases a slot of the first ring and hands over one of the second
    // with nothing in between, so the second warp sync, and on targets with an async proxy
    // the second fence, add nothing to the first. The last wait for stores is for the end of
    // the writes; their sources have been read before each release.
    let kinds = |target| -> Vec<&'static str> {
        unnoticed(&EXAMPLES[1], target)
            .into_iter()
            .map(|mutation| match mutation {
                Mutation::DeleteFence(_) => "fence",
                Mutation::DeleteMeeting(_) => "warp sync",
                Mutation::DeleteGroupWait(_) => "last wait for stores",
                _ => "something that is needed",
            })
            .collect()
    };
    assert_eq!(kinds(Target::Sm80), ["warp sync"]);
    assert_eq!(
        kinds(Target::Sm90a),
        ["fence", "warp sync", "last wait for stores"]
    );
    assert_eq!(kinds(Target::Sm100a), kinds(Target::Sm90a));
}

/// A matrix of 32 rows whose pitch is the next multiple of 16 bytes, the padding NaN.
fn padded(columns: usize, values: &[f32]) -> ArgumentValue {
    let pitch = columns.next_multiple_of(4);
    let mut data = Vec::new();
    for row in 0..32 {
        for column in 0..pitch {
            let value = if column < columns {
                values[row * columns + column]
            } else {
                f32::NAN
            };
            data.extend_from_slice(&value.to_le_bytes());
        }
    }
    // Memory ends with the last element.
    data.truncate((31 * pitch + columns) * 4);
    ArgumentValue::MemRef {
        shape: vec![32, columns as u64],
        strides: Some(vec![pitch as u64, 1]),
        data,
    }
}

#[test]
fn rows_that_end_within_16_bytes_are_not_overrun() {
    for target in Target::ALL {
        let program = at_barrier_level("stream_scale_2d", target, "noinc");
        for columns in [1, 63, 65, 66, 127, 131] {
            let input = numbers(32 * columns, 1);
            let arguments = vec![
                padded(columns, &input),
                padded(columns, &vec![0.0; 32 * columns]),
                ArgumentValue::Float(2.0),
            ];
            for schedule in schedules() {
                let outcome = run(&program, target, arguments.clone(), schedule);
                assert!(
                    outcome.is_clean(),
                    "{columns} columns on {target}, {schedule:?}:\n{}",
                    text(&outcome)
                );
                let pitch = columns.next_multiple_of(4);
                let written = outcome.f32(1);
                for (at, value) in written.iter().enumerate() {
                    let (row, column) = (at / pitch, at % pitch);
                    if column < columns {
                        assert_eq!(*value, 2.0 * input[row * columns + column]);
                    } else {
                        assert!(value.is_nan(), "padding at {row}, {column} is {value}");
                    }
                }
            }
        }
    }
}
