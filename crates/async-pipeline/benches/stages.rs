//! Where compile time goes: a table of every example, target and stage.
//!
//! In one process and thread, as an embedder calls it; each number is the median of the stage
//! over all runs, so that the stages of a row need not add up to its total.

mod examples;

use async_pipeline::{Target, Timings};
use examples::{compiler, examples, refused};
use std::time::Duration;

/// The first compiles of a process load code and tables.
const WARM_UP: usize = 3;
const RUNS: usize = 21;

type Stage = (&'static str, fn(&Timings) -> Duration);

const STAGES: [Stage; 5] = [
    ("parse", |timings| timings.parse),
    ("MLIR passes", |timings| timings.passes),
    ("LLVM passes", |timings| timings.llvm_passes),
    ("PTX emission", |timings| timings.emission),
    ("total", |timings| timings.total),
];

fn main() {
    let heads = STAGES.map(|(name, _)| name).join(" | ");
    println!("Medians of {RUNS} compiles, ms.\n");
    println!("| kernel | target | {heads} |");
    println!("|---|---{}|", "|---".repeat(STAGES.len()));
    for (name, text) in examples() {
        for target in Target::ALL {
            let compiler = compiler(target);
            if refused(compiler.compile(&text)) {
                println!(
                    "| `{name}` | {target} | refused{} |",
                    " |".repeat(STAGES.len() - 1)
                );
                continue;
            }
            let runs: Vec<Timings> = (0..WARM_UP + RUNS)
                .map(|_| compiler.compile_timed(&text).expect("the example compiles"))
                .map(|(_, timings)| timings)
                .skip(WARM_UP)
                .collect();
            let row = STAGES.map(|(_, stage)| format!("{:.2}", median(&runs, stage)));
            println!("| `{name}` | {target} | {} |", row.join(" | "));
        }
    }
}

fn median(runs: &[Timings], stage: fn(&Timings) -> Duration) -> f64 {
    let mut times: Vec<Duration> = runs.iter().map(stage).collect();
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
