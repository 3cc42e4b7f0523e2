//! The tile interpreter on whole kernels, compared with plain loops, and on single ops with
//! special values; and what the builder makes for it.

#[path = "tile/builder.rs"]
mod builder;
#[path = "tile/kernels.rs"]
mod kernels;
#[path = "tile/limits.rs"]
mod limits;
#[path = "tile/misuse.rs"]
mod misuse;
#[path = "tile/ops.rs"]
mod ops;

use async_pipeline::tile_interpreter::{Argument, Array, Element, Launch, TileError, run};

/// Numbers that f16 and bf16 hold, and whose products add up exactly.
fn numbers(length: usize, seed: usize) -> Vec<f64> {
    (0..length)
        .map(|index| ((index * 7 + seed * 13) % 31) as f64 / 8.0 - 2.0)
        .collect()
}

fn array(element: Element, shape: &[u64], data: Vec<f64>) -> Argument {
    Argument::Array(Array::new(element, shape, data))
}

/// An array of nonsense.
fn nonsense(element: Element, shape: &[u64]) -> Argument {
    let length = shape.iter().product::<u64>() as usize;
    array(element, shape, vec![-77.0; length])
}

fn data(argument: &Argument) -> &[f64] {
    match argument {
        Argument::Array(array) => &array.data,
        other => panic!("expected an array, got {other:?}"),
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn problem(text: &str, launch: &Launch) -> String {
    match run(text, launch) {
        Ok(_) => panic!("expected the kernel to be refused"),
        Err(
            error @ (TileError::At { .. }
            | TileError::Launch(_)
            | TileError::Kernel(_)
            | TileError::Rejected(_)),
        ) => error.to_string(),
        Err(error) => panic!("expected a located problem, got {error}"),
    }
}
