//! Rings that are right.

use super::{program, run, sums, text, texts, vectors};
use async_pipeline::{
    Target,
    interpreter::{Completion, Fault, Interpreter, LaunchInput, Order, Report, Schedule},
    program::mutate::Mutation,
};

fn schedules() -> Vec<Schedule> {
    let lagging = [
        Order::LaggingWarp(0),
        Order::LaggingWarp(5),
        Order::LaggingThread(40),
    ];
    let more = lagging.map(|order| Schedule {
        order,
        completion: Completion::Late,
    });
    Schedule::standard(3).into_iter().chain(more).collect()
}

#[test]
fn the_example_is_clean_and_right_for_every_trip_count_and_target() {
    let program = program(texts::CP_ASYNC_RING);
    for trip in (0..=9).chain([12]) {
        // Each trip count meets every completion order; orders of threads and targets take turns.
        for (index, schedule) in schedules().into_iter().enumerate() {
            if index >= 3 && index % 6 != trip % 6 {
                continue;
            }
            let target = Target::ALL[(index + trip) % 3];
            let length = trip * 2048;
            let outcome = run(&program, target, vectors(length), schedule);
            assert!(
                outcome.is_clean(),
                "{trip} tiles, {schedule:?}:\n{}",
                text(&outcome)
            );
            assert_eq!(outcome.f32(2), sums(length), "{trip} tiles, {schedule:?}");
        }
    }
}

#[test]
fn the_example_is_right_for_lengths_that_fill_no_tile() {
    let program = program(texts::CP_ASYNC_RING);
    for (length, schedule) in [0, 1, 3, 5, 2047, 2053, 8191, 16411]
        .into_iter()
        .zip(schedules().into_iter().cycle())
    {
        let outcome = run(&program, Target::Sm80, vectors(length), schedule);
        assert!(
            outcome.is_clean(),
            "length {length}, {schedule:?}:\n{}",
            text(&outcome)
        );
        assert_eq!(outcome.f32(2), sums(length), "length {length}");
    }
}

#[test]
fn every_cta_of_a_grid_does_its_share() {
    let program = program(texts::CP_ASYNC_RING);
    let length = 7 * 2048 + 100;
    let input = LaunchInput {
        grid: [3, 1, 1],
        ..LaunchInput::new(Target::Sm80, vectors(length))
    };
    let outcome = Interpreter::run(&program, &input).unwrap();
    assert!(outcome.is_clean(), "{}", text(&outcome));
    assert_eq!(outcome.f32(2), sums(length));
    let full: u64 = outcome
        .statistics
        .phases
        .iter()
        .filter(|p| p.name == "full")
        .map(|p| p.phases)
        .sum();
    assert_eq!(full, 8);
}

#[test]
fn the_tensor_copy_ring_is_clean_and_right() {
    let program = program(texts::TMA_RING);
    for trip in (0..=7).chain([9]) {
        for (index, schedule) in schedules().into_iter().enumerate() {
            // Rows of whole 16-byte units: a tensor store writes no less.
            let length = (trip * 256_usize).saturating_sub(index * 8);
            let outcome = run(&program, Target::Sm90a, vectors(length), schedule);
            assert!(
                outcome.is_clean(),
                "{length}, {schedule:?}:\n{}",
                text(&outcome)
            );
            assert_eq!(outcome.f32(2), sums(length), "{length}, {schedule:?}");
        }
    }
}

#[test]
fn a_tensor_store_at_a_row_that_ends_within_16_bytes_is_reported() {
    let program = program(texts::TMA_RING);
    let outcome = run(&program, Target::Sm90a, vectors(1021), schedules()[0]);
    let partial = |report: &Report| matches!(report.fault, Fault::PartialRow { row: 4084 });
    assert!(
        !outcome.is_clean() && outcome.reports.iter().all(partial),
        "{}",
        text(&outcome)
    );
}

#[test]
fn the_same_input_gives_the_same_outcome() {
    let program = program(texts::TMA_RING);
    let schedule = Schedule {
        order: Order::Random(5),
        completion: Completion::Random(6),
    };
    let once = || run(&program, Target::Sm100a, vectors(2000), schedule);
    assert_eq!(once(), once());
}

/// Runs a damaged ring under every schedule until something is found: a report, or wrong
/// numbers where the damage breaks no rule (a store that is not made).
fn is_noticed(text: &str, mutation: Mutation, length: usize, target: Target) -> bool {
    let program = program(text).mutated(mutation);
    schedules().into_iter().any(|schedule| {
        let outcome = run(&program, target, vectors(length), schedule);
        !outcome.is_clean() || outcome.f32(2) != sums(length)
    })
}

#[test]
fn every_mutation_of_the_example_is_reported() {
    let mutations = program(texts::CP_ASYNC_RING).mutations();
    assert!(mutations.len() > 12, "{mutations:?}");
    for mutation in mutations {
        assert!(
            is_noticed(texts::CP_ASYNC_RING, mutation, 9 * 2048, Target::Sm80),
            "{mutation:?} goes unnoticed"
        );
    }
}

#[test]
fn every_mutation_of_the_tensor_copy_ring_is_reported() {
    let mutations = program(texts::TMA_RING).mutations();
    assert!(mutations.len() > 20, "{mutations:?}");
    for mutation in mutations {
        assert!(
            is_noticed(texts::TMA_RING, mutation, 7 * 256, Target::Sm90a),
            "{mutation:?} goes unnoticed"
        );
    }
}
