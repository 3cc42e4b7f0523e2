//! Every op of the table on ordinary and special values.

use super::{array, data, nonsense, same};
use async_pipeline::tile_interpreter::{Element, Launch, render_markdown, run};
use std::{collections::BTreeSet, f64::consts::LN_2};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Runs `body`, which makes `%r` of `%a`, `%b`, … (vectors of these types).
fn evaluate(body: &str, inputs: &[(Element, &[f64])], result: Element) -> Vec<f64> {
    let lanes = inputs.first().map_or(4, |(_, values)| values.len());
    let names = ["a", "b", "c"];
    let mut parameters = String::new();
    let mut loads = String::new();
    let mut arguments = Vec::new();
    for (name, (element, values)) in names.iter().zip(inputs) {
        parameters += &format!("%{name}_memory: memref<?x{element}>, ");
        loads += &format!(
            "%{name} = async_pipeline.work.load %{name}_memory[%c0] : memref<?x{element}> to vector<{lanes}x{element}>\n"
        );
        arguments.push(array(*element, &[lanes as u64], values.to_vec()));
    }
    arguments.push(nonsense(result, &[lanes as u64]));
    let text = format!(
        "gpu.module @m {{
          gpu.func @k({parameters}%out: memref<?x{result}>) kernel {{
            %c0 = arith.constant 0 : index
            {loads}
            {body}
            async_pipeline.work.store %r to %out[%c0] : vector<{lanes}x{result}> to memref<?x{result}>
            gpu.return
          }}
        }}"
    );
    let mut launch = Launch::new(arguments);
    launch.grid = Some([1; 3]);
    let after = run(&text, &launch).unwrap_or_else(|error| panic!("{error}\n{text}"));
    data(&after[inputs.len()]).to_vec()
}

#[track_caller]
fn expect(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            same(*got, *expected),
            "{what}, element {at}: got {got:?}, expected {expected:?}"
        );
    }
}

/// Which ops have been seen.
#[derive(Default)]
struct Seen(BTreeSet<String>);

impl Seen {
    fn unary(&mut self, op: &str, element: Element, cases: &[(f64, f64)]) {
        let a: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let expected: Vec<f64> = cases.iter().map(|case| case.1).collect();
        let body = format!("%r = {op} %a : vector<{}x{element}>", a.len());
        expect(op, &evaluate(&body, &[(element, &a)], element), &expected);
        self.0.insert(op.to_owned());
    }

    fn binary(&mut self, op: &str, element: Element, cases: &[(f64, f64, f64)]) {
        let a: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let b: Vec<f64> = cases.iter().map(|case| case.1).collect();
        let expected: Vec<f64> = cases.iter().map(|case| case.2).collect();
        let body = format!("%r = {op} %a, %b : vector<{}x{element}>", a.len());
        let got = evaluate(&body, &[(element, &a), (element, &b)], element);
        expect(op, &got, &expected);
        self.0.insert(op.to_owned());
    }

    fn convert(&mut self, op: &str, from: Element, to: Element, cases: &[(f64, f64)]) {
        let a: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let expected: Vec<f64> = cases.iter().map(|case| case.1).collect();
        let lanes = a.len();
        let body = format!("%r = {op} %a : vector<{lanes}x{from}> to vector<{lanes}x{to}>");
        expect(
            &format!("{op} {from} {to}"),
            &evaluate(&body, &[(from, &a)], to),
            &expected,
        );
        self.0.insert(op.to_owned());
    }
}

fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

fn floats(seen: &mut Seen) {
    use Element::{BF16, F16, F32};
    let huge = f64::from(f32::MAX);
    seen.binary(
        "arith.addf",
        F32,
        &[
            (0.1, 0.2, single(single(0.1) + single(0.2))),
            (huge, huge, INF),
            (INF, -INF, NAN),
            (-0.0, 0.0, 0.0),
        ],
    );
    seen.binary(
        "arith.addf",
        F16,
        &[
            (2048.0, 1.0, 2048.0),
            (2048.0, 3.0, 2052.0),
            (65504.0, 16.0, INF),
            (6e-8, 0.0, 2_f64.powi(-24)),
        ],
    );
    seen.binary(
        "arith.addf",
        BF16,
        &[(256.0, 1.0, 256.0), (256.0, 3.0, 260.0)],
    );
    seen.binary(
        "arith.subf",
        F32,
        &[
            (1.0, 1.0, 0.0),
            (INF, INF, NAN),
            (1e-40, 0.0, single(1e-40)),
        ],
    );
    seen.binary(
        "arith.mulf",
        F32,
        &[
            (0.1, 0.1, single(single(0.1) * single(0.1))),
            (0.0, INF, NAN),
            (-0.0, 1.0, -0.0),
            (1e-30, 1e-30, 0.0),
        ],
    );
    seen.binary(
        "arith.mulf",
        F16,
        &[
            (3.0, 0.333, F16.round(3.0 * F16.round(0.333))),
            (256.0, 256.0, INF),
        ],
    );
    seen.binary(
        "arith.divf",
        F32,
        &[
            (1.0, 3.0, single(1.0 / 3.0)),
            (1.0, -0.0, -INF),
            (0.0, 0.0, NAN),
            (INF, INF, NAN),
        ],
    );
    seen.unary(
        "arith.negf",
        F32,
        &[(0.0, -0.0), (INF, -INF), (NAN, NAN), (2.0, -2.0)],
    );
    seen.binary(
        "arith.maximumf",
        F32,
        &[
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (-0.0, 0.0, 0.0),
            (1.0, 2.0, 2.0),
        ],
    );
    seen.binary(
        "arith.minimumf",
        F32,
        &[
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (0.0, -0.0, -0.0),
            (1.0, 2.0, 1.0),
        ],
    );
    seen.binary(
        "arith.maxnumf",
        F32,
        &[
            (NAN, 1.0, 1.0),
            (1.0, NAN, 1.0),
            (-0.0, 0.0, 0.0),
            (NAN, NAN, NAN),
        ],
    );
    seen.binary(
        "arith.minnumf",
        F32,
        &[
            (NAN, 1.0, 1.0),
            (1.0, NAN, 1.0),
            (0.0, -0.0, -0.0),
            (-INF, 2.0, -INF),
        ],
    );
    seen.binary("math.copysign", F32, &[(1.0, -0.0, -1.0), (-INF, 1.0, INF)]);
    seen.binary(
        "math.powf",
        F32,
        &[
            (2.0, 10.0, 1024.0),
            (0.0, -1.0, INF),
            (-1.0, 0.5, NAN),
            (NAN, 0.0, 1.0),
        ],
    );
}

fn functions(seen: &mut Seen) {
    use Element::{BF16, F16, F32};
    let e = 1_f64.exp();
    seen.unary(
        "math.absf",
        F32,
        &[(-0.0, 0.0), (-INF, INF), (NAN, NAN), (-3.5, 3.5)],
    );
    seen.unary(
        "math.exp",
        F32,
        &[
            (0.0, 1.0),
            (1.0, single(e)),
            (-INF, 0.0),
            (INF, INF),
            (89.0, INF),
            (NAN, NAN),
        ],
    );
    seen.unary("math.exp", F16, &[(1.0, F16.round(e)), (12.0, INF)]);
    seen.unary(
        "math.exp2",
        F32,
        &[
            (0.5, single(2_f64.sqrt())),
            (-INF, 0.0),
            (128.0, INF),
            (-149.0, 2_f64.powi(-149)),
        ],
    );
    seen.unary(
        "math.expm1",
        F32,
        &[
            (-0.0, -0.0),
            (1e-10, single(single(1e-10).exp_m1())),
            (-INF, -1.0),
        ],
    );
    seen.unary(
        "math.log",
        F32,
        &[
            (1.0, 0.0),
            (0.0, -INF),
            (-1.0, NAN),
            (INF, INF),
            (2.0, single(LN_2)),
        ],
    );
    seen.unary("math.log", BF16, &[(2.0, BF16.round(LN_2))]);
    seen.unary("math.log2", F32, &[(8.0, 3.0), (-0.0, -INF), (-1.0, NAN)]);
    seen.unary(
        "math.log10",
        F32,
        &[(1000.0, 3.0), (0.0, -INF), (-1.0, NAN)],
    );
    seen.unary("math.log1p", F32, &[(0.0, 0.0), (-1.0, -INF), (-2.0, NAN)]);
    seen.unary(
        "math.sqrt",
        F32,
        &[
            (2.0, single(2_f64.sqrt())),
            (-0.0, -0.0),
            (-1.0, NAN),
            (INF, INF),
        ],
    );
    seen.unary(
        "math.rsqrt",
        F32,
        &[
            (4.0, 0.5),
            (0.0, INF),
            (-0.0, -INF),
            (-1.0, NAN),
            (INF, 0.0),
        ],
    );
    seen.unary(
        "math.tanh",
        F32,
        &[
            (INF, 1.0),
            (-INF, -1.0),
            (-0.0, -0.0),
            (0.5, single(0.5_f64.tanh())),
        ],
    );
    seen.unary(
        "math.erf",
        F32,
        &[
            (INF, 1.0),
            (-INF, -1.0),
            (0.5, single(0.520_499_877_813_046_5)),
            (NAN, NAN),
        ],
    );
    seen.unary(
        "math.sin",
        F32,
        &[(0.5, single(0.5_f64.sin())), (INF, NAN), (-0.0, -0.0)],
    );
    seen.unary(
        "math.cos",
        F32,
        &[(0.5, single(0.5_f64.cos())), (INF, NAN), (0.0, 1.0)],
    );
    seen.unary(
        "math.floor",
        F32,
        &[(-0.5, -1.0), (1.5, 1.0), (-INF, -INF), (-0.0, -0.0)],
    );
    seen.unary("math.ceil", F32, &[(-0.5, -0.0), (1.5, 2.0), (INF, INF)]);
    seen.unary("math.trunc", F32, &[(-1.5, -1.0), (1.5, 1.0), (-0.5, -0.0)]);
    seen.unary(
        "math.round",
        F32,
        &[(2.5, 3.0), (-0.5, -1.0), (0.49999997, 0.0)],
    );
    seen.unary(
        "math.roundeven",
        F32,
        &[(2.5, 2.0), (3.5, 4.0), (-0.5, -0.0)],
    );
    // 1 + 2^-11 lies between two values of f16; the last operand decides.
    let (a, tie) = ([1.0, 1.0, -1.0, INF], [1.0, 1.0, 1.0, 0.0]);
    let c = [2_f64.powi(-11), 2_f64.powi(-11) + 2_f64.powi(-21), 0.5, 1.0];
    let got = evaluate(
        "%r = math.fma %a, %b, %c : vector<4xf16>",
        &[(F16, &a), (F16, &tie), (F16, &c)],
        F16,
    );
    expect("math.fma", &got, &[1.0, 1.0 + 2_f64.powi(-10), -0.5, NAN]);
    // Rounded once, in single precision: (1 + 2^-12)² - 1 keeps 2^-24.
    let b = [1.0 + 2_f64.powi(-12)];
    let got = evaluate(
        "%r = math.fma %a, %a, %b : vector<1xf32>",
        &[(F32, &b), (F32, &[-1.0])],
        F32,
    );
    expect("math.fma", &got, &[2_f64.powi(-11) + 2_f64.powi(-24)]);
    seen.0.insert("math.fma".to_owned());
}

fn integers(seen: &mut Seen) {
    let i = Element::Int;
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    seen.binary("arith.addi", i(32), &[(high, 1.0, low), (2.0, 3.0, 5.0)]);
    seen.binary("arith.subi", i(8), &[(-128.0, 1.0, 127.0)]);
    seen.binary(
        "arith.muli",
        i(32),
        &[(65536.0, 65536.0, 0.0), (-3.0, 4.0, -12.0)],
    );
    seen.binary("arith.divsi", i(32), &[(-7.0, 2.0, -3.0)]);
    seen.binary("arith.divui", i(32), &[(-1.0, 2.0, high)]);
    seen.binary("arith.remsi", i(32), &[(-7.0, 2.0, -1.0)]);
    seen.binary("arith.remui", i(8), &[(-1.0, 16.0, 15.0)]);
    seen.binary(
        "arith.ceildivsi",
        i(32),
        &[(-7.0, 2.0, -3.0), (7.0, 2.0, 4.0)],
    );
    seen.binary(
        "arith.floordivsi",
        i(32),
        &[(-7.0, 2.0, -4.0), (7.0, 2.0, 3.0)],
    );
    seen.binary("arith.ceildivui", i(32), &[(7.0, 2.0, 4.0)]);
    seen.binary("arith.andi", i(32), &[(-1.0, 12.0, 12.0)]);
    seen.binary("arith.ori", i(32), &[(3.0, 12.0, 15.0)]);
    seen.binary("arith.xori", i(32), &[(-1.0, 0.0, -1.0), (5.0, 1.0, 4.0)]);
    seen.binary("arith.shli", i(32), &[(1.0, 31.0, low), (1.0, 32.0, 0.0)]);
    seen.binary(
        "arith.shrsi",
        i(32),
        &[(-8.0, 1.0, -4.0), (-8.0, 40.0, -1.0)],
    );
    seen.binary(
        "arith.shrui",
        i(32),
        &[(-1.0, 1.0, high), (-1.0, 32.0, 0.0)],
    );
    seen.binary("arith.maxsi", i(32), &[(-1.0, 1.0, 1.0)]);
    seen.binary("arith.minsi", i(32), &[(-1.0, 1.0, -1.0)]);
    seen.binary("arith.maxui", i(32), &[(-1.0, 1.0, -1.0)]);
    seen.binary("arith.minui", i(32), &[(-1.0, 1.0, 1.0)]);
    seen.unary("math.absi", i(32), &[(-5.0, 5.0), (low, low)]);
}

fn conversions(seen: &mut Seen) {
    use Element::{BF16, F8E4M3FN, F8E5M2, F16, F32};
    let i = Element::Int;
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    seen.convert(
        "arith.extf",
        F8E5M2,
        F32,
        &[(INF, INF), (57344.0, 57344.0), (NAN, NAN), (-0.0, -0.0)],
    );
    seen.convert(
        "arith.truncf",
        F32,
        F16,
        &[
            (65519.0, 65504.0),
            (65520.0, INF),
            (1.0 + 2_f64.powi(-11), 1.0),
            (2_f64.powi(-25), 0.0),
            (NAN, NAN),
            (-0.0, -0.0),
        ],
    );
    seen.convert(
        "arith.truncf",
        F32,
        BF16,
        &[
            (f64::from(f32::MAX), INF),
            (1.0 + 3.0 / 256.0, 1.0 + 4.0 / 256.0),
        ],
    );
    seen.convert(
        "arith.truncf",
        F32,
        F8E4M3FN,
        &[(1e9, 448.0), (-INF, -448.0), (NAN, NAN), (1.0625, 1.0)],
    );
    seen.convert(
        "arith.truncf",
        F16,
        F8E5M2,
        &[(INF, 57344.0), (61440.0, 57344.0), (-0.0, -0.0)],
    );
    seen.convert(
        "arith.fptosi",
        F32,
        i(32),
        &[
            (2.9, 2.0),
            (-2.9, -2.0),
            (1e30, high),
            (-1e30, low),
            (NAN, 0.0),
            (INF, high),
        ],
    );
    seen.convert(
        "arith.fptosi",
        F32,
        i(8),
        &[(200.0, 127.0), (-200.0, -128.0), (NAN, 0.0)],
    );
    seen.convert(
        "arith.fptoui",
        F32,
        i(32),
        &[(-3.0, 0.0), (NAN, 0.0), (2147483648.0, low), (1e30, -1.0)],
    );
    seen.convert(
        "arith.sitofp",
        i(32),
        F32,
        &[(-1.0, -1.0), (16777217.0, 16777216.0), (high, single(high))],
    );
    seen.convert(
        "arith.sitofp",
        i(32),
        F16,
        &[(2049.0, 2048.0), (65520.0, INF), (-65520.0, -INF)],
    );
    seen.convert(
        "arith.uitofp",
        i(32),
        F32,
        &[(-1.0, 4294967296.0), (5.0, 5.0)],
    );
    seen.convert("arith.extsi", i(8), i(32), &[(-1.0, -1.0), (127.0, 127.0)]);
    seen.convert("arith.extui", i(8), i(32), &[(-1.0, 255.0)]);
    seen.convert("arith.trunci", i(32), i(8), &[(255.0, -1.0), (256.0, 0.0)]);
    seen.convert("arith.index_cast", i(32), Element::Index, &[(-1.0, -1.0)]);
    // An index has 64 bits, of which a double shows the upper 53 exactly enough here.
    seen.convert(
        "arith.index_castui",
        i(32),
        Element::Index,
        &[(-1.0, 4294967295.0)],
    );
}

fn choices(seen: &mut Seen) {
    use Element::F32;
    let (a, b) = ([1.0, 2.0, NAN, 3.0], [2.0, 2.0, 1.0, 1.0]);
    for (predicate, expected) in [
        ("false", [0.0, 0.0, 0.0, 0.0]),
        ("oeq", [0.0, 1.0, 0.0, 0.0]),
        ("ogt", [0.0, 0.0, 0.0, 1.0]),
        ("oge", [0.0, 1.0, 0.0, 1.0]),
        ("olt", [1.0, 0.0, 0.0, 0.0]),
        ("ole", [1.0, 1.0, 0.0, 0.0]),
        ("one", [1.0, 0.0, 0.0, 1.0]),
        ("ord", [1.0, 1.0, 0.0, 1.0]),
        ("ueq", [0.0, 1.0, 1.0, 0.0]),
        ("ugt", [0.0, 0.0, 1.0, 1.0]),
        ("uge", [0.0, 1.0, 1.0, 1.0]),
        ("ult", [1.0, 0.0, 1.0, 0.0]),
        ("ule", [1.0, 1.0, 1.0, 0.0]),
        ("une", [1.0, 0.0, 1.0, 1.0]),
        ("uno", [0.0, 0.0, 1.0, 0.0]),
        ("true", [1.0, 1.0, 1.0, 1.0]),
    ] {
        let body = format!(
            "%one = arith.constant dense<1.0> : vector<4xf32>
             %zero = arith.constant dense<0.0> : vector<4xf32>
             %p = arith.cmpf {predicate}, %a, %b : vector<4xf32>
             %r = arith.select %p, %one, %zero : vector<4xi1>, vector<4xf32>"
        );
        let got = evaluate(&body, &[(F32, &a), (F32, &b)], F32);
        expect(predicate, &got, &expected);
    }
    let (a, b) = ([1.0, 2.0, -1.0, 3.0], [2.0, 2.0, 1.0, 1.0]);
    for (predicate, expected) in [
        ("eq", [0.0, 1.0, 0.0, 0.0]),
        ("ne", [1.0, 0.0, 1.0, 1.0]),
        ("slt", [1.0, 0.0, 1.0, 0.0]),
        ("sle", [1.0, 1.0, 1.0, 0.0]),
        ("sgt", [0.0, 0.0, 0.0, 1.0]),
        ("sge", [0.0, 1.0, 0.0, 1.0]),
        ("ult", [1.0, 0.0, 0.0, 0.0]),
        ("ule", [1.0, 1.0, 0.0, 0.0]),
        ("ugt", [0.0, 0.0, 1.0, 1.0]),
        ("uge", [0.0, 1.0, 1.0, 1.0]),
    ] {
        let body = format!(
            "%p = arith.cmpi {predicate}, %a, %b : vector<4xi32>
             %r = arith.extui %p : vector<4xi1> to vector<4xi32>"
        );
        let i32 = Element::Int(32);
        let got = evaluate(&body, &[(i32, &a), (i32, &b)], i32);
        expect(predicate, &got, &expected);
    }
    let chosen = evaluate(
        "%p = arith.constant true
         %r = arith.select %p, %a, %b : vector<4xf32>",
        &[(F32, &a), (F32, &b)],
        F32,
    );
    expect("arith.select", &chosen, &a);
    for op in ["arith.cmpf", "arith.cmpi", "arith.select"] {
        seen.0.insert(op.to_owned());
    }
}

fn shapes(seen: &mut Seen) {
    use Element::{F8E5M2, F16, F32, Index, Int};
    let constant = |text: &str, element: Element| {
        let body = format!("%r = arith.constant dense<{text}> : vector<4x{element}>");
        evaluate(&body, &[], element)
    };
    expect("splat", &constant("-0.0", F32), &[-0.0; 4]);
    expect(
        "list",
        &constant("[1.0, 0x7F800000, 0x7FC00000, 0.1]", F32),
        &[1.0, INF, NAN, single(0.1)],
    );
    expect(
        "half",
        &constant("[1.0, 0x7C00, 0.1, -2.0]", F16),
        &[1.0, INF, F16.round(0.1), -2.0],
    );
    expect(
        "eight bits",
        &constant("[1.0, 0.5, -2.0, 57344.0]", F8E5M2),
        &[1.0, 0.5, -2.0, 57344.0],
    );
    expect(
        "integers",
        &constant("[1, -1, 127, -128]", Int(8)),
        &[1.0, -1.0, 127.0, -128.0],
    );
    expect(
        "step",
        &evaluate("%r = vector.step : vector<4xindex>", &[], Index),
        &[0.0, 1.0, 2.0, 3.0],
    );
    let a = [1.0, 2.0, 3.0, 4.0];
    let spread = "%s = vector.shape_cast %a : vector<4xf32> to vector<2x2xf32>
        %start = arith.constant dense<10.0> : vector<2xf32>
        %sum = vector.multi_reduction <add>, %s, %start [DIM] : vector<2x2xf32> to vector<2xf32>
        %column = vector.shape_cast %sum : vector<2xf32> to SHAPE
        %wide = vector.broadcast %column : SHAPE to vector<2x2xf32>
        %r = vector.shape_cast %wide : vector<2x2xf32> to vector<4xf32>";
    let rows = spread
        .replace("DIM", "1")
        .replace("SHAPE", "vector<2x1xf32>");
    expect(
        "rows",
        &evaluate(&rows, &[(F32, &a)], F32),
        &[13.0, 13.0, 17.0, 17.0],
    );
    let columns = spread
        .replace("DIM", "0")
        .replace("SHAPE", "vector<1x2xf32>");
    expect(
        "columns",
        &evaluate(&columns, &[(F32, &a)], F32),
        &[14.0, 16.0, 14.0, 16.0],
    );
    let whole = |kind: &str, element: Element, start: &str, a: &[f64]| {
        let body = format!(
            "%start = arith.constant {start} : {element}
             %s = vector.multi_reduction <{kind}>, %a, %start [0] : vector<4x{element}> to {element}
             %r = vector.broadcast %s : {element} to vector<4x{element}>"
        );
        evaluate(&body, &[(element, a)], element)[0]
    };
    // Not rounded in between: in f16 2048 + 1 is 2048.
    assert_eq!(whole("add", F16, "0.0", &[2048.0, 1.0, 1.0, 2.0]), 2052.0);
    assert_eq!(whole("mul", F32, "2.0", &a), 48.0);
    assert!(whole("maximumf", F32, "0.0", &[1.0, NAN, 2.0, 3.0]).is_nan());
    assert_eq!(whole("maxnumf", F32, "0.0", &[1.0, NAN, 2.0, 3.0]), 3.0);
    assert!(whole("minimumf", F32, "0.0", &[1.0, NAN, 2.0, 3.0]).is_nan());
    assert_eq!(whole("minnumf", F32, "9.0", &[1.0, NAN, 2.0, 3.0]), 1.0);
    let i32 = Int(32);
    for (kind, start, expected) in [
        ("add", "1", 3.0),
        ("mul", "1", -24.0),
        ("minsi", "0", -1.0),
        ("maxsi", "0", 4.0),
        ("minui", "7", 0.0),
        ("maxui", "0", -1.0),
        ("and", "-1", 0.0),
        ("or", "0", -1.0),
        ("xor", "0", -8.0),
    ] {
        let values = match kind {
            "mul" => [-1.0, 2.0, 3.0, 4.0],
            "xor" => [-1.0, 2.0, 1.0, 4.0],
            "add" => [-1.0, -5.0, 4.0, 4.0],
            _ => [-1.0, 0.0, 3.0, 4.0],
        };
        assert_eq!(whole(kind, i32, start, &values), expected, "{kind}");
    }
    for op in [
        "arith.constant",
        "vector.step",
        "vector.shape_cast",
        "vector.broadcast",
        "vector.multi_reduction",
    ] {
        seen.0.insert(op.to_owned());
    }
}

#[test]
fn every_op_of_the_table_computes_what_the_table_says() {
    let mut seen = Seen::default();
    floats(&mut seen);
    functions(&mut seen);
    integers(&mut seen);
    conversions(&mut seen);
    choices(&mut seen);
    shapes(&mut seen);
    let page = render_markdown();
    let rows: BTreeSet<String> = page
        .split("## Register values")
        .nth(1)
        .expect("the page has the table")
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .collect();
    assert!(rows.len() > 70, "{}", rows.len());
    assert_eq!(rows, seen.0);
}

#[test]
fn additions_in_memory_round_and_wrap() {
    let run_add = |element: Element, zero: &str, start: f64, add: f64| {
        let text = format!(
            "gpu.module @m {{
              gpu.func @k(%X: memref<?x{element}>, %Y: memref<?x{element}>) kernel {{
                %c0 = arith.constant {zero} : index
                %v = async_pipeline.work.load %Y[%c0] : memref<?x{element}> to vector<1x{element}>
                async_pipeline.work.store %v to %X[%c0] reduce add : vector<1x{element}> to memref<?x{element}>
                gpu.return
              }}
            }}"
        );
        let mut launch = Launch::new(vec![
            array(element, &[1], vec![start]),
            array(element, &[1], vec![add]),
        ]);
        launch.grid = Some([1, 3, 1]);
        data(&run(&text, &launch).unwrap_or_else(|error| panic!("{error}"))[0])[0]
    };
    assert_eq!(run_add(Element::F16, "0", 2048.0, 1.0), 2048.0);
    assert_eq!(run_add(Element::F32, "0", 1.0, 0.5), 2.5);
    assert_eq!(
        run_add(Element::Int(32), "0", f64::from(i32::MAX), 1.0),
        f64::from(i32::MIN) + 2.0
    );
}
