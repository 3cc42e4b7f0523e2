//! What the kernels compute, run by the tile interpreter and compared with plain loops.

use super::{kernels, sample};
use async_pipeline::{
    builder::Element,
    tile_interpreter::{Argument, Array, Launch, run},
};
use embed::source::Source;

/// Numbers that half precision holds, and whose products add up exactly.
fn numbers(rows: usize, columns: usize, seed: usize) -> Vec<f64> {
    (0..rows * columns)
        .map(|index| ((index * 7 + seed * 13) % 31) as f64 / 32.0 - 0.5)
        .collect()
}

fn array(element: Element, shape: &[usize], data: &[f64]) -> Argument {
    let shape: Vec<u64> = shape.iter().map(|extent| *extent as u64).collect();
    Argument::Array(Array::new(element, &shape, data.to_vec()))
}

/// Runs a kernel whose last argument is its result, of m×n elements.
fn result(
    source: &Source,
    name: &str,
    element: Element,
    m: usize,
    n: usize,
    mut arguments: Vec<Argument>,
) -> Vec<f64> {
    let kernels = kernels(source).unwrap_or_else(|errors| panic!("{errors}"));
    let kernel = kernels.iter().find(|kernel| kernel.name() == name);
    let kernel = kernel.expect("the program has the kernel");
    arguments.push(array(element, &[m, n], &vec![-77.0; m * n]));
    let after = run(kernel.text(), &Launch::new(arguments))
        .unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    match after.last() {
        Some(Argument::Array(array)) => array.data.clone(),
        other => panic!("expected an array, got {other:?}"),
    }
}

/// Row `i` of A times row `j` of B.
fn dot(a: &[f64], b: &[f64], k: usize, i: usize, j: usize) -> f64 {
    (0..k).map(|at| a[i * k + at] * b[j * k + at]).sum()
}

#[track_caller]
fn close(got: &[f64], n: usize, tolerance: f64, expected: impl Fn(usize, usize) -> f64) {
    for (at, got) in got.iter().enumerate() {
        let expected = expected(at / n, at % n);
        let error = (got - expected).abs();
        assert!(
            error <= tolerance * (1.0 + expected.abs()),
            "{}, {}: got {got}, expected {expected}",
            at / n,
            at % n
        );
    }
}

#[test]
fn a_layer_with_bias_and_relu() {
    for (m, n, k) in [(130, 260, 70), (1, 1, 1), (3, 5, 0)] {
        let (a, b, bias) = (numbers(m, k, 1), numbers(n, k, 2), numbers(1, n, 3));
        let arguments = vec![
            array(Element::F16, &[m, k], &a),
            array(Element::F16, &[n, k], &b),
            array(Element::F16, &[n], &bias),
        ];
        let got = result(&sample("linear"), "linear", Element::F16, m, n, arguments);
        close(&got, n, 0.0, |i, j| {
            Element::F16.round((dot(&a, &b, k, i, j) + bias[j]).max(0.0))
        });
    }
}

/// By the trapezoidal rule: nothing in common with the interpreter's.
fn erf(x: f64) -> f64 {
    let steps = 2000;
    let width = x / f64::from(steps);
    let value = |at: i32| (-(f64::from(at) * width).powi(2)).exp();
    let inner: f64 = (1..steps).map(value).sum();
    std::f64::consts::FRAC_2_SQRT_PI * width * (inner + (value(0) + value(steps)) / 2.0)
}

#[test]
fn gelu_and_a_scaled_residual_in_bf16() {
    let (m, n, k) = (5, 9, 66);
    let round = |values: Vec<f64>| -> Vec<f64> {
        values.into_iter().map(|x| Element::BF16.round(x)).collect()
    };
    let (x, w) = (round(numbers(m, k, 4)), round(numbers(n, k, 5)));
    let (b, r) = (round(numbers(1, n, 6)), round(numbers(m, n, 7)));
    let mut arguments = vec![
        array(Element::BF16, &[m, k], &x),
        array(Element::BF16, &[n, k], &w),
        array(Element::BF16, &[n], &b),
    ];
    let source = sample("residual");
    let up = result(&source, "up", Element::BF16, m, n, arguments.clone());
    // bf16 rounds by up to 2^-8 of a value.
    close(&up, n, 1.0 / 256.0, |i, j| {
        let z = dot(&x, &w, k, i, j) + b[j];
        0.5 * z * (1.0 + erf(z / 2_f64.sqrt()))
    });
    arguments.push(array(Element::BF16, &[m, n], &r));
    arguments.push(Argument::Float(0.25));
    let down = result(&source, "down", Element::BF16, m, n, arguments);
    close(&down, n, 1.0 / 256.0, |i, j| {
        r[i * n + j] + 0.25 * (dot(&x, &w, k, i, j) + b[j])
    });
}

#[test]
fn two_products_and_a_gate_in_f32() {
    let (m, n, k) = (4, 130, 40);
    let (x, u, v) = (numbers(m, k, 8), numbers(n, k, 9), numbers(n, k, 10));
    let arguments = vec![
        array(Element::F32, &[m, k], &x),
        array(Element::F32, &[n, k], &u),
        array(Element::F32, &[n, k], &v),
    ];
    let got = result(&sample("gated"), "gated", Element::F32, m, n, arguments);
    close(&got, n, 1e-6, |i, j| {
        let gate = dot(&x, &u, k, i, j);
        gate / (1.0 + (-gate).exp()) * dot(&x, &v, k, i, j)
    });
}

#[test]
fn factors_may_be_stored_either_way() {
    let (m, n, k) = (6, 7, 35);
    let (a, b) = (numbers(m, k, 1), numbers(n, k, 2));
    let turned = |values: &[f64], rows: usize, columns: usize| -> Vec<f64> {
        (0..rows * columns)
            .map(|at| values[at % rows * columns + at / rows])
            .collect()
    };
    for (left, right) in [("A", "B"), ("A.T", "B"), ("A", "B.T"), ("A.T", "B.T")] {
        let (by_column, by_row) = (left == "A.T", right == "B.T");
        let dims = |turned: bool, across: &str| match turned {
            true => format!("K, {across}"),
            false => format!("{across}, K"),
        };
        let text = format!(
            "kernel k(A: f16[{}], B: f16[{}]) -> C: f32[M, N]\n  C = {left} @ {right}\n",
            dims(by_column, "M"),
            dims(!by_row, "N"),
        );
        let side = |values: &[f64], across: usize, flip: bool| match flip {
            true => array(Element::F16, &[k, across], &turned(values, across, k)),
            false => array(Element::F16, &[across, k], values),
        };
        let arguments = vec![side(&a, m, by_column), side(&b, n, !by_row)];
        let got = result(&Source::new("k", &text), "k", Element::F32, m, n, arguments);
        close(&got, n, 0.0, |i, j| dot(&a, &b, k, i, j));
    }
}

#[test]
fn every_function_and_operator() {
    let (m, n) = (3, 4);
    let x = numbers(m, n, 11);
    let row = numbers(1, n, 12);
    let scale = 1.5;
    type Case = (&'static str, fn(f64, f64, f64) -> f64);
    let cases: [Case; 14] = [
        ("relu(X)", |x, _, _| x.max(0.0)),
        ("silu(X)", |x, _, _| x / (1.0 + (-x).exp())),
        ("sigmoid(X * r)", |x, r, _| 1.0 / (1.0 + (-x * r).exp())),
        ("tanh(X) + 0 * r", |x, _, _| x.tanh()),
        ("exp(-X)", |x, _, _| (-x).exp()),
        ("log(abs(X) + 2)", |x, _, _| (x.abs() + 2.0).ln()),
        ("sqrt(X * X + 1)", |x, _, _| (x * x + 1.0).sqrt()),
        ("max(X, r)", |x, r, _| x.max(r)),
        ("min(r, X) - s", |x, r, s| x.min(r) - s),
        ("(2 + 3 * 4 - 8 / 2) * X", |x, _, _| 10.0 * x),
        ("X / -s / 2", |x, _, s| x / -s / 2.0),
        ("1 - X - r - 1", |x, r, _| -x - r),
        ("gelu(0) + exp(s) * X", |x, _, s| s.exp() * x),
        ("s - (s - X)", |x, _, _| x),
    ];
    for (expression, expected) in cases {
        let text = format!(
            "kernel k(X: f32[M, 4], r: bf16[4], s: f32) -> Y: f32[M, 4]\n  t = r\n  u = t * 1\n  Y = {expression} + u - t # same\n"
        );
        let arguments = vec![
            array(Element::F32, &[m, n], &x),
            array(Element::BF16, &[n], &row),
            Argument::Float(scale),
        ];
        let got = result(&Source::new("k", &text), "k", Element::F32, m, n, arguments);
        close(&got, n, 1e-5, |i, j| expected(x[i * n + j], row[j], scale));
    }
}
