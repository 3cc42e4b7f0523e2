//! Whole kernels.

use super::{array, data, nonsense, numbers, same};
use async_pipeline::tile_interpreter::{Argument, Array, Element, Kernel, Launch, run};
use std::{fs, path::Path};

fn gemm() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tile/gemm.mlir");
    fs::read_to_string(path).expect("the kernel is there")
}

#[test]
fn matrix_products_of_any_size_are_those_of_plain_loops() {
    let kernel = Kernel::parse(&gemm(), Some("gemm")).expect("a right kernel");
    for (m, n, k) in [
        (128, 256, 64),
        (130, 257, 70),
        (1, 1, 1),
        (127, 3, 0),
        (0, 5, 8),
    ] {
        let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
        let launch = Launch::new(vec![
            array(Element::F16, &[m as u64, k as u64], a.clone()),
            array(Element::F16, &[n as u64, k as u64], b.clone()),
            nonsense(Element::F16, &[m as u64, n as u64]),
        ]);
        let after = kernel.run(&launch).expect("runs");
        let c = data(&after[2]);
        for row in 0..m {
            for column in 0..n {
                let sum: f64 = (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum();
                let expected = Element::F16.round(sum);
                assert_eq!(
                    c[row * n + column],
                    expected,
                    "{m}x{n}x{k} at {row}, {column}"
                );
            }
        }
        assert_eq!(after[0], launch.arguments[0]);
    }
}

#[test]
fn padding_between_rows_is_left_alone() {
    let (m, n, k) = (3_usize, 5, 2);
    let padded = |values: &[f64], columns: usize, pitch: usize, rows: usize| {
        let mut data = vec![1000.0; (rows - 1) * pitch + columns];
        for (at, value) in values.iter().enumerate() {
            data[at / columns * pitch + at % columns] = *value;
        }
        Argument::Array(Array {
            element: Element::F16,
            shape: vec![rows as u64, columns as u64],
            strides: vec![pitch as u64, 1],
            data,
        })
    };
    let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
    let launch = Launch::new(vec![
        padded(&a, k, 8, m),
        padded(&b, k, 16, n),
        padded(&vec![-1.0; m * n], n, 8, m),
    ]);
    let after = run(&gemm(), &launch).expect("runs");
    let c = data(&after[2]);
    for (at, value) in c.iter().enumerate() {
        let (row, column) = (at / 8, at % 8);
        let expected = if column < n {
            (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum()
        } else {
            1000.0
        };
        assert_eq!(*value, expected, "{row}, {column}");
    }
}

/// One product per element type and way to store the operands.
fn product(element: Element, other: Element, transpose_a: bool, transpose_b: bool, register: bool) {
    let (m, n, k) = (16_usize, 8, 32);
    let a_shape = if transpose_a { [k, m] } else { [m, k] };
    let b_shape = if transpose_b { [n, k] } else { [k, n] };
    let word = |transposed: bool| if transposed { "transpose " } else { "" };
    let dims = |shape: [usize; 2]| format!("{}x{}", shape[0], shape[1]);
    let (da, db) = (dims(a_shape), dims(b_shape));
    let (load, operand, ty) = if register {
        (
            format!(
                "%v = async_pipeline.work.load %a : !async_pipeline.buffer<{da}x{element}> to vector<{da}x{element}>"
            ),
            "%v",
            format!("vector<{da}x{element}>"),
        )
    } else {
        (
            String::new(),
            "%a",
            format!("!async_pipeline.buffer<{da}x{element}>"),
        )
    };
    let text = format!(
        "gpu.module @m {{
          gpu.func @k(%A: memref<{da}x{element}>, %B: memref<{db}x{other}>, %C: memref<16x8xf32>) kernel {{
            %c0 = arith.constant 0 : index
            %a = async_pipeline.tile.alloc : !async_pipeline.buffer<{da}x{element}>
            %b = async_pipeline.tile.alloc : !async_pipeline.buffer<{db}x{other}>
            async_pipeline.work.copy %A[%c0, %c0] to %a : memref<{da}x{element}> to !async_pipeline.buffer<{da}x{element}>
            async_pipeline.work.copy %B[%c0, %c0] to %b : memref<{db}x{other}> to !async_pipeline.buffer<{db}x{other}>
            %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
            {load}
            async_pipeline.work.mma %acc += {}{operand} * {}%b
              : !async_pipeline.accumulator<16x8xf32>, {ty}, !async_pipeline.buffer<{db}x{other}>
            %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x8xf32> to vector<16x8xf32>
            async_pipeline.work.store %f to %C[%c0, %c0] : vector<16x8xf32> to memref<16x8xf32>
            gpu.return
          }}
        }}",
        word(transpose_a),
        word(transpose_b)
    );
    let rounded = |element: Element, seed: usize| -> Vec<f64> {
        numbers(512, seed)
            .into_iter()
            .map(|value| element.round(value * 1.1))
            .collect()
    };
    let a = rounded(element, 3)[..m * k].to_vec();
    let b = rounded(other, 4)[..k * n].to_vec();
    let mut launch = Launch::new(vec![
        array(element, &a_shape.map(|extent| extent as u64), a.clone()),
        array(other, &b_shape.map(|extent| extent as u64), b.clone()),
        nonsense(Element::F32, &[16, 8]),
    ]);
    launch.grid = Some([1; 3]);
    let after = run(&text, &launch).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // Single precision takes part as tf32.
    let factor = |value: f64| f64::from(f32::from_bits((value as f32).to_bits() & !0x1fff));
    for row in 0..m {
        for column in 0..n {
            let sum: f64 = (0..k)
                .map(|i| {
                    let a = a[if transpose_a {
                        i * m + row
                    } else {
                        row * k + i
                    }];
                    let b = b[if transpose_b {
                        column * k + i
                    } else {
                        i * n + column
                    }];
                    factor(a) * factor(b)
                })
                .sum();
            assert_eq!(
                data(&after[2])[row * n + column],
                f64::from(sum as f32),
                "{element} {other} {transpose_a} {transpose_b} at {row}, {column}"
            );
        }
    }
}

#[test]
fn products_take_every_type_and_transpose() {
    for element in [
        Element::F16,
        Element::BF16,
        Element::F32,
        Element::F8E4M3FN,
        Element::F8E5M2,
    ] {
        product(element, element, false, false, false);
    }
    product(Element::F8E4M3FN, Element::F8E5M2, false, true, false);
    product(Element::F16, Element::F16, true, false, false);
    product(Element::F32, Element::F32, true, true, false);
    product(Element::BF16, Element::BF16, false, true, true);
}

/// gelu(A·B + bias) + residual, with the tile's remainder at the edges.
#[test]
fn bias_gelu_and_residual_follow_a_product() {
    let text = "
gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %bias: memref<?xf32>, %R: memref<?x?xf32>, %C: memref<?x?xf32>) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<\"ceildiv(dim(4, 0), 32)\", \"ceildiv(dim(4, 1), 16)\">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %c32 : index
    %n = arith.muli %y, %c16 : index
    %K = memref.dim %A, %c1 : memref<?x?xf16>
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<32x16xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<16x16xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<32x16xf32>
    scf.for %k = %c0 to %K step %c16 {
      async_pipeline.work.copy %A[%m, %k] to %a : memref<?x?xf16> to !async_pipeline.buffer<32x16xf16>
      async_pipeline.work.copy %B[%k, %n] to %b : memref<?x?xf16> to !async_pipeline.buffer<16x16xf16>
      async_pipeline.work.mma %acc += %a * %b
        : !async_pipeline.accumulator<32x16xf32>, !async_pipeline.buffer<32x16xf16>, !async_pipeline.buffer<16x16xf16>
    }
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<32x16xf32> to vector<32x16xf32>
    %row = async_pipeline.work.load %bias[%n] : memref<?xf32> to vector<16xf32>
    %rows = vector.broadcast %row : vector<16xf32> to vector<32x16xf32>
    %z = arith.addf %f, %rows : vector<32x16xf32>
    %half = arith.constant dense<0.5> : vector<32x16xf32>
    %one = arith.constant dense<1.0> : vector<32x16xf32>
    %root = arith.constant dense<0.707106769> : vector<32x16xf32>
    %s = arith.mulf %z, %root : vector<32x16xf32>
    %e = math.erf %s : vector<32x16xf32>
    %p = arith.addf %e, %one : vector<32x16xf32>
    %h = arith.mulf %z, %half : vector<32x16xf32>
    %g = arith.mulf %h, %p : vector<32x16xf32>
    %r = async_pipeline.work.load %R[%m, %n] : memref<?x?xf32> to vector<32x16xf32>
    %out = arith.addf %g, %r : vector<32x16xf32>
    async_pipeline.work.store %out to %C[%m, %n] : vector<32x16xf32> to memref<?x?xf32>
    gpu.return
  }
}";
    let (m, n, k) = (37_usize, 21, 19);
    let shape = |rows: usize, columns: usize| [rows as u64, columns as u64];
    let (a, b) = (numbers(m * k, 5), numbers(k * n, 6));
    let (bias, residual) = (numbers(n, 7), numbers(m * n, 8));
    let launch = Launch::new(vec![
        array(Element::F16, &shape(m, k), a.clone()),
        array(Element::F16, &shape(k, n), b.clone()),
        array(Element::F32, &[n as u64], bias.clone()),
        array(Element::F32, &shape(m, n), residual.clone()),
        nonsense(Element::F32, &shape(m, n)),
    ]);
    let after = run(text, &launch).unwrap_or_else(|error| panic!("{error}"));
    for row in 0..m {
        for column in 0..n {
            let product: f64 = (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
            let z = product + bias[column];
            let gelu = 0.5 * z * (1.0 + erf(z / 2_f64.sqrt()));
            let expected = gelu + residual[row * n + column];
            let got = data(&after[4])[row * n + column];
            let tolerance = 1e-5 * (1.0 + expected.abs() + z.abs());
            assert!(
                (got - expected).abs() < tolerance,
                "{row}, {column}: {got} {expected}"
            );
        }
    }
}

/// By the trapezoidal rule: nothing in common with the interpreter's.
fn erf(x: f64) -> f64 {
    let steps = 20_000;
    let width = x / f64::from(steps);
    let value = |at: i32| (-(f64::from(at) * width).powi(2)).exp();
    let inner: f64 = (1..steps).map(value).sum();
    std::f64::consts::FRAC_2_SQRT_PI * width * (inner + (value(0) + value(steps)) / 2.0)
}

#[test]
fn rows_are_normalised_by_their_softmax() {
    let text = "
gpu.module @m {
  gpu.func @softmax(%X: memref<?x?xf32>, %Y: memref<?x?xf32>) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<\"ceildiv(dim(0, 0), 4)\">} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %low = arith.constant 0xFF800000 : f32
    %lows = arith.constant dense<0xFF800000> : vector<4xf32>
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %x = gpu.block_id x
    %i = arith.muli %x, %c4 : index
    %v = async_pipeline.work.load %X[%i, %c0] fill(%low : f32) : memref<?x?xf32> to vector<4x32xf32>
    %max = vector.multi_reduction <maximumf>, %v, %lows [1] : vector<4x32xf32> to vector<4xf32>
    %column = vector.shape_cast %max : vector<4xf32> to vector<4x1xf32>
    %wide = vector.broadcast %column : vector<4x1xf32> to vector<4x32xf32>
    %d = arith.subf %v, %wide : vector<4x32xf32>
    %e = math.exp %d : vector<4x32xf32>
    %sum = vector.multi_reduction <add>, %e, %zeros [1] : vector<4x32xf32> to vector<4xf32>
    %sums = vector.shape_cast %sum : vector<4xf32> to vector<4x1xf32>
    %wides = vector.broadcast %sums : vector<4x1xf32> to vector<4x32xf32>
    %y = arith.divf %e, %wides : vector<4x32xf32>
    async_pipeline.work.store %y to %Y[%i, %c0] : vector<4x32xf32> to memref<?x?xf32>
    gpu.return
  }
}";
    let (rows, columns) = (6_usize, 27_usize);
    let x = numbers(rows * columns, 9);
    let shape = [rows as u64, columns as u64];
    let launch = Launch::new(vec![
        array(Element::F32, &shape, x.clone()),
        nonsense(Element::F32, &shape),
    ]);
    let after = run(text, &launch).unwrap_or_else(|error| panic!("{error}"));
    for (row, x) in x.chunks(columns).enumerate() {
        let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = x.iter().map(|x| (x - max).exp()).sum();
        for (column, x) in x.iter().enumerate() {
            let expected = (x - max).exp() / sum;
            let got = data(&after[1])[row * columns + column];
            assert!((got - expected).abs() < 1e-6 * expected, "{row}, {column}");
        }
    }
}

#[test]
fn windows_have_bounds_of_their_own() {
    // A window of 3×2 at (1, 2), and in it one at (1, -1) that is larger than both.
    let text = "
gpu.module @m {
  gpu.func @k(%X: memref<4x6xf32>, %Y: memref<4x4xf32>, %Z: memref<4x4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c9 = arith.constant 9 : index
    %minus = arith.constant -1 : index
    %fill = arith.constant -5.0 : f32
    %w = async_pipeline.tile.window %X[%c1, %c2] sizes [%c3, %c2] : memref<4x6xf32> to !async_pipeline.window<?x?xf32>
    %v = async_pipeline.work.load %w[%c0, %c0] fill(%fill : f32) : !async_pipeline.window<?x?xf32> to vector<4x4xf32>
    async_pipeline.work.store %v to %Y[%c0, %c0] : vector<4x4xf32> to memref<4x4xf32>
    %u = async_pipeline.tile.window %w[%c1, %minus] sizes [%c9, %c9] : !async_pipeline.window<?x?xf32> to !async_pipeline.window<?x?xf32>
    %t = async_pipeline.work.load %u[%c0, %c0] : !async_pipeline.window<?x?xf32> to vector<4x4xf32>
    async_pipeline.work.store %t to %Z[%c0, %c0] : vector<4x4xf32> to memref<4x4xf32>
    %n = arith.constant dense<100.0> : vector<4x4xf32>
    async_pipeline.work.store %n to %u[%c0, %c0] reduce add : vector<4x4xf32> to !async_pipeline.window<?x?xf32>
    gpu.return
  }
}";
    let x: Vec<f64> = (0..24).map(f64::from).collect();
    let mut launch = Launch::new(vec![
        array(Element::F32, &[4, 6], x),
        nonsense(Element::F32, &[4, 4]),
        nonsense(Element::F32, &[4, 4]),
    ]);
    launch.grid = Some([2, 1, 1]);
    let after = run(text, &launch).unwrap_or_else(|error| panic!("{error}"));
    // The second block sees what the first one has added.
    let f = -5.0;
    let y = [
        8.0, 9.0, f, f, 114.0, 115.0, f, f, 120.0, 121.0, f, f, f, f, f, f,
    ];
    assert_eq!(data(&after[1]), y);
    let z = [
        0.0, 114.0, 115.0, 0.0, 0.0, 120.0, 121.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    ];
    assert_eq!(data(&after[2]), z);
    let added: Vec<usize> = data(&after[0])
        .iter()
        .enumerate()
        .filter(|(at, value)| **value != *at as f64)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(added, [14, 15, 20, 21]);
}

#[test]
fn outer_indices_choose_a_matrix_of_a_batch() {
    let text = "
gpu.module @m {
  gpu.func @k(%X: memref<?x?x?xf16>, %Y: memref<?x?x?xf16>) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<\"dim(1, 0)\">} {
    %c0 = arith.constant 0 : index
    %b = gpu.block_id x
    %t = async_pipeline.tile.alloc : !async_pipeline.buffer<4x8xf16>
    async_pipeline.work.copy %X[%b, %c0, %c0] to %t : memref<?x?x?xf16> to !async_pipeline.buffer<4x8xf16>
    async_pipeline.work.copy %t to %Y[%b, %c0, %c0] : !async_pipeline.buffer<4x8xf16> to memref<?x?x?xf16>
    gpu.return
  }
}";
    let x = numbers(2 * 3 * 5, 1);
    let launch = Launch::new(vec![
        array(Element::F16, &[2, 3, 5], x.clone()),
        nonsense(Element::F16, &[3, 3, 5]),
    ]);
    let after = run(text, &launch).unwrap_or_else(|error| panic!("{error}"));
    // A third matrix of Y stands against nothing in X.
    let expected: Vec<f64> = x.into_iter().chain([0.0; 15]).collect();
    assert_eq!(data(&after[1]), expected);
}

#[test]
fn loops_carry_values_and_branches_yield_them() {
    let text = "
gpu.module @m {
  gpu.func @k(%X: memref<?xf32>, %n: i32, %f: f32) kernel {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %ones = vector.broadcast %f : f32 to vector<4xf32>
    %sum = scf.for %i = %z to %n step %one iter_args(%s = %zeros) -> (vector<4xf32>) : i32 {
      %odd = arith.remsi %i, %two : i32
      %is = arith.cmpi eq, %odd, %one : i32
      %next = scf.if %is -> (vector<4xf32>) {
        %step = vector.step : vector<4xindex>
        %wide = arith.index_cast %step : vector<4xindex> to vector<4xi32>
        %add = arith.sitofp %wide : vector<4xi32> to vector<4xf32>
        %a = arith.addf %s, %add : vector<4xf32>
        scf.yield %a : vector<4xf32>
      } else {
        %a = arith.addf %s, %ones : vector<4xf32>
        scf.yield %a : vector<4xf32>
      }
      scf.yield %next : vector<4xf32>
    }
    async_pipeline.work.store %sum to %X[%c0] : vector<4xf32> to memref<?xf32>
    gpu.return
  }
}";
    let mut launch = Launch::new(vec![
        nonsense(Element::F32, &[4]),
        Argument::Integer(5),
        Argument::Float(0.5),
    ]);
    launch.grid = Some([1; 3]);
    let after = run(text, &launch).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(data(&after[0]), [1.5, 3.5, 5.5, 7.5]);
    assert!(same(data(&after[0])[0], 1.5));
}
