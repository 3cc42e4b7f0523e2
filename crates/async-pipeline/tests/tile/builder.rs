//! Kernels made by the builder: what they compute, what they look like, what is refused.

use super::{array, data, nonsense, numbers};
use async_pipeline::{
    CompileError, CompileOptions, Compiler, Target,
    builder::{
        Axis, BinaryOp, BuildError, Element, GridExtent, Kernel, KernelBuilder, Loop, Operand,
        Predicate, ReduceOp, Shape, TensorType, UnaryOp, Value, ValueType,
    },
    tile_interpreter::{Argument, Launch, TileError, render_markdown, run},
};
use async_pipeline_sys::{dialect, ir::Op};

pub(super) type Built<T> = Result<T, BuildError>;

/// What `async-pipeline-verify-tiles` has to say about a kernel.
pub(super) fn verified(kernel: &Kernel) {
    async_pipeline::initialize();
    let context = melior::Context::new();
    context.append_dialect_registry(&dialect::registry());
    context.enable_multi_threading(false);
    context.attach_diagnostic_handler(|diagnostic| {
        eprintln!("{}: {diagnostic}", diagnostic.location());
        true
    });
    let module = melior::ir::Module::parse(&context, kernel.text());
    let module = module.unwrap_or_else(|| panic!("does not parse:\n{kernel}"));
    let op = Op::from_raw(module.as_operation().to_raw());
    dialect::run_pipeline(op, "async-pipeline-verify-tiles")
        .unwrap_or_else(|error| panic!("{error}\n{kernel}"));
}

/// Runs a kernel that passes verification.
fn launched(kernel: &Kernel, launch: &Launch) -> Vec<Argument> {
    verified(kernel);
    run(kernel.text(), launch).unwrap_or_else(|error| panic!("{error}\n{kernel}"))
}

/// relu(A · Bᵀ + bias), in tiles of 32×16 by 8.
fn linear() -> Built<Kernel> {
    let mut k = KernelBuilder::new("linear")?;
    k.at("net.dsl", 1, 1);
    let matrix = TensorType::new(Element::F16, 2);
    let a = k.tensor("A", &matrix)?;
    let b = k.tensor("B", &matrix)?;
    let bias = k.tensor("bias", &TensorType::new(Element::F16, 1))?;
    let c = k.tensor("C", &matrix)?;
    k.grid(&[c.extent(0).ceil_div(32), c.extent(1).ceil_div(16)])?;
    let (zero, rows, columns, depth) = (k.index(0), k.index(32), k.index(16), k.index(8));
    let (x, y) = (k.block_id(Axis::X), k.block_id(Axis::Y));
    let (m, n) = (k.mul(x, rows)?, k.mul(y, columns)?);
    let a_tile = k.buffer("a", Element::F16, &[32, 8])?;
    let b_tile = k.buffer("b", Element::F16, &[16, 8])?;
    let sum = k.accumulator(32, 16)?;
    let end = k.dim(a, 1)?;
    k.at("net.dsl", 2, 14);
    k.for_each(Loop::new(zero, end, depth).stages(4), |k, i| {
        k.copy_in(a, &[m, i], a_tile)?;
        k.copy_in(b, &[n, i], b_tile)?;
        k.mma(sum, a_tile, b_tile.transposed())
    })?;
    let product = k.load(sum)?;
    k.at("net.dsl", 2, 22);
    let row = k.load_global(bias, &[n], [16], None)?;
    let row = k.convert(row, Element::F32)?;
    let row = k.broadcast(row, [32, 16])?;
    let biased = k.add(product, row)?;
    k.at("net.dsl", 2, 9);
    let low = k.float(biased.ty(), 0.0)?;
    let positive = k.binary(BinaryOp::Max, biased, low)?;
    let rounded = k.convert(positive, Element::F16)?;
    k.store_global(rounded, c, &[m, n])?;
    Ok(k.finish())
}

#[test]
fn a_product_with_bias_and_relu_is_that_of_plain_loops() {
    let kernel = linear().expect("is built");
    assert_eq!(kernel.name(), "linear");
    for (m, n, k) in [(32, 16, 8), (37, 21, 19), (1, 1, 1), (5, 40, 0)] {
        let (a, b, bias) = (numbers(m * k, 1), numbers(n * k, 2), numbers(n, 3));
        let launch = Launch::new(vec![
            array(Element::F16, &[m as u64, k as u64], a.clone()),
            array(Element::F16, &[n as u64, k as u64], b.clone()),
            array(Element::F16, &[n as u64], bias.clone()),
            nonsense(Element::F16, &[m as u64, n as u64]),
        ]);
        let after = launched(&kernel, &launch);
        for row in 0..m {
            for column in 0..n {
                let sum: f64 = (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum();
                let expected = Element::F16.round((sum + bias[column]).max(0.0));
                let got = data(&after[3])[row * n + column];
                assert_eq!(got, expected, "{m}x{n}x{k} at {row}, {column}");
            }
        }
    }
}

#[test]
fn the_text_says_where_each_op_comes_from_and_is_always_the_same() {
    let text = linear().expect("is built").to_string();
    assert_eq!(text, linear().expect("is built").text());
    let line = |part: &str| {
        text.lines()
            .find(|line| line.contains(part))
            .unwrap_or_else(|| panic!("expected {part} in\n{text}"))
            .trim()
    };
    assert_eq!(
        line("gpu.func"),
        "gpu.func @linear(%A: memref<?x?xf16> {async_pipeline.name = \"A\"} loc(\"net.dsl\":1:1),"
    );
    assert_eq!(
        line("attributes"),
        "attributes {async_pipeline.grid = #async_pipeline.grid<\"ceildiv(dim(3, 0), 32)\", \"ceildiv(dim(3, 1), 16)\">} {"
    );
    assert_eq!(
        line("work.mma"),
        "async_pipeline.work.mma %10 += %8 * transpose %9 : !async_pipeline.accumulator<32x16xf32>, \
         !async_pipeline.buffer<32x8xf16>, !async_pipeline.buffer<16x8xf16> loc(\"net.dsl\":2:14)"
    );
    assert_eq!(
        line("async_pipeline.stages"),
        "} {async_pipeline.stages = 4 : i32} loc(\"net.dsl\":2:14)"
    );
    assert!(line("arith.maximumf").ends_with("loc(\"net.dsl\":2:9)"));
    assert!(line("gpu.return").ends_with("loc(\"net.dsl\":1:1)"));
}

#[test]
fn errors_of_the_compiler_and_the_interpreter_point_into_the_front_ends_source() {
    let built = || -> Built<Kernel> {
        let mut k = KernelBuilder::new("wrong")?;
        let x = k.tensor("X", &TensorType::new(Element::F32, 1))?;
        let far = k.index(100);
        k.at("dir \"a\\é\"/net.dsl", 7, 3);
        k.load_scalar(x, &[far])?;
        // A product that no tensor core has.
        let a = k.buffer("a", Element::F32, &[3, 5])?;
        let sum = k.accumulator(3, 3)?;
        k.mma(sum, a, a.transposed())?;
        Ok(k.finish())
    };
    let kernel = built().expect("is built");
    let mut launch = Launch::new(vec![nonsense(Element::F32, &[4])]);
    launch.grid = Some([1; 3]);
    match run(kernel.text(), &launch) {
        Err(TileError::At { place, .. }) => {
            assert_eq!(place.to_string(), "dir \"a\\é\"/net.dsl:7:3");
        }
        other => panic!("expected a place, got {other:?}"),
    }
    let options = CompileOptions::builder(Target::Sm90a).build();
    let compiler = Compiler::new(options.expect("legal options"));
    match compiler.compile(kernel.text()) {
        Err(CompileError::Rejected(diagnostics)) => assert!(
            diagnostics[0].location.ends_with(":7:3"),
            "{}",
            diagnostics[0]
        ),
        other => panic!("expected the kernel to be rejected, got {other:?}"),
    }
}

const FLOATS: [Element; 6] = [
    Element::F16,
    Element::BF16,
    Element::F32,
    Element::F64,
    Element::F8E4M3FN,
    Element::F8E5M2,
];
const INTEGERS: [Element; 6] = [
    Element::Int(1),
    Element::Int(8),
    Element::Int(16),
    Element::Int(32),
    Element::Int(64),
    Element::Index,
];

/// Every op of the builder on every element type for which it does not refuse it.
#[rustfmt::skip] // tables
fn every_op() -> Built<Kernel> {
    use {BinaryOp as B, Predicate as P, ReduceOp as R, UnaryOp as U};
    let unary = [
        U::Neg, U::Abs, U::Sqrt, U::Rsqrt, U::Exp, U::Exp2, U::Expm1, U::Log, U::Log2, U::Log10,
        U::Log1p, U::Sin, U::Cos, U::Tanh, U::Erf, U::Ceil, U::Floor, U::Round, U::RoundEven,
        U::Trunc,
    ];
    let binary = [
        B::Add, B::Sub, B::Mul, B::Div, B::DivUnsigned, B::CeilDiv, B::CeilDivUnsigned,
        B::FloorDiv, B::Rem, B::RemUnsigned, B::Max, B::Min, B::MaxUnsigned, B::MinUnsigned,
        B::MaxNum, B::MinNum, B::CopySign, B::Pow, B::And, B::Or, B::Xor, B::ShiftLeft,
        B::ShiftRight, B::ShiftRightUnsigned,
    ];
    let predicates = [
        P::Equal, P::NotEqual, P::Less, P::LessOrEqual, P::Greater, P::GreaterOrEqual,
        P::LessUnsigned, P::LessOrEqualUnsigned, P::GreaterUnsigned, P::GreaterOrEqualUnsigned,
        P::Ordered, P::Unordered,
    ];
    let reductions = [
        R::Add, R::Mul, R::Max, R::Min, R::MaxUnsigned, R::MinUnsigned, R::MaxNum, R::MinNum,
        R::And, R::Or, R::Xor,
    ];
    let mut k = KernelBuilder::new("every_op")?;
    for element in FLOATS.into_iter().chain(INTEGERS) {
        let shape = match element {
            Element::F64 => Shape::SCALAR,
            _ => [4, 2].into(),
        };
        let ty = ValueType::new(element, shape);
        let one = if element.is_float() {
            k.float(ty, 1.0)?
        } else {
            k.int(ty, 1)?
        };
        let lane = if element.is_float() {
            k.float(element, 1.0)?
        } else {
            k.int(element, 1)?
        };
        for op in unary {
            drop(k.unary(op, one));
        }
        for op in binary {
            drop(k.binary(op, one, one));
        }
        for predicate in predicates {
            let compared = k.compare(predicate, one, one);
            drop(compared.and_then(|truth| k.select(truth, one, one)));
        }
        drop(k.fma(one, one, one));
        for op in reductions {
            for dimensions in [&[0][..], &[1], &[0, 1]] {
                drop(k.reduce(op, one, dimensions));
            }
        }
        for to in FLOATS.into_iter().chain(INTEGERS) {
            drop(k.convert(one, to));
            drop(k.convert_unsigned(one, to));
        }
        drop(k.broadcast(lane, [4, 2]));
        drop(k.shape_cast(one, [8]));
    }
    drop(k.step(16));
    // The deepest grid that is read.
    let deep = (0..45).fold(GridExtent::sm_count(), |all, _| all.plus(1));
    k.grid(&[deep.floor_div(1).max(3)])?;
    // The level is recognised by its storage.
    k.accumulator(16, 8)?;
    Ok(k.finish())
}

#[test]
fn every_op_of_the_reference_can_be_built_passes_verification_and_runs() {
    let kernel = every_op().expect("is built");
    let page = render_markdown();
    let (_, rows) = page.split_once("## Register values").expect("is there");
    let ops: Vec<&str> = rows
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert!(ops.len() > 50, "{ops:?}");
    for op in ops {
        assert!(kernel.text().contains(&format!("{op} ")), "{op}");
    }
    let mut launch = Launch::new(Vec::new());
    launch.grid = Some([1; 3]);
    launched(&kernel, &launch);
}

/// Stores what `make` makes of a row of four numbers into an array of its shape.
fn evaluated(
    input: [f64; 4],
    length: u64,
    make: impl FnOnce(&mut KernelBuilder, Value) -> Built<Value>,
) -> Vec<f64> {
    let build = || -> Built<Kernel> {
        let mut k = KernelBuilder::new("k")?;
        let x = k.tensor("X", &TensorType::new(Element::F32, 1).extent(0, 4))?;
        let y = k.tensor("Y", &TensorType::new(Element::F32, 1).may_alias().align(4))?;
        let zero = k.index(0);
        let value = k.load_global(x, &[zero], [4], None)?;
        let made = make(&mut k, value)?;
        k.store_global(made, y, &[zero])?;
        Ok(k.finish())
    };
    let kernel = build().unwrap_or_else(|error| panic!("{error}"));
    let mut launch = Launch::new(vec![
        array(Element::F32, &[4], input.to_vec()),
        nonsense(Element::F32, &[length]),
    ]);
    launch.grid = Some([1; 3]);
    data(&launched(&kernel, &launch)[1]).to_vec()
}

#[test]
fn conversions_round_and_keep_signs() {
    let by_way_of = |element: Element, unsigned: bool| {
        evaluated([1.75, -2.5, 300.0, 0.3], 4, |k, x| {
            let narrow = if unsigned {
                k.convert_unsigned(x, element)?
            } else {
                k.convert(x, element)?
            };
            if unsigned {
                k.convert_unsigned(narrow, Element::F32)
            } else {
                k.convert(narrow, Element::F32)
            }
        })
    };
    assert_eq!(by_way_of(Element::Int(8), false), [1.0, -2.0, 127.0, 0.0]);
    assert_eq!(by_way_of(Element::Int(8), true), [1.0, 0.0, 255.0, 0.0]);
    assert_eq!(by_way_of(Element::Index, false), [1.0, -2.0, 300.0, 0.0]);
    assert_eq!(by_way_of(Element::F8E5M2, false)[1], -2.5);
    // f16 to bf16 needs a type between them.
    let halves = evaluated([1.0, 1.00390625, 65504.0, -0.0], 4, |k, x| {
        let half = k.convert(x, Element::F16)?;
        let brain = k.convert(half, Element::BF16)?;
        k.convert(brain, Element::F32)
    });
    assert_eq!(halves, [1.0, 1.0, 65536.0, -0.0]);
    let truths = evaluated([1.0, -1.0, 0.0, 5.0], 4, |k, x| {
        let zero = k.float(x.ty(), 0.0)?;
        let truth = k.compare(Predicate::Greater, x, zero)?;
        k.convert(truth, Element::F32)
    });
    assert_eq!(truths, [1.0, 0.0, 0.0, 1.0]);
}

/// Values and indices compute alike.
fn doubled<T: Operand>(k: &mut KernelBuilder, value: T) -> Built<T> {
    k.add(value, value)
}

#[test]
fn loops_carry_values_and_branches_choose_between_them() {
    // Three times: doubled if all are below 5, else one less.
    let got = evaluated([1.0, 2.0, 3.0, 4.0], 4, |k, x| {
        let (zero, one) = (k.index(0), k.index(1));
        let two = doubled(k, one)?;
        let three = k.add(two, one)?;
        let out = k.for_carrying(
            Loop::new(zero, three, one).exactly(2),
            &[x],
            |k, _, carried| {
                let x = carried[0];
                let greatest = k.reduce(ReduceOp::Max, x, &[0])?;
                let five = k.float(Element::F32, 5.0)?;
                let small = k.compare(Predicate::Less, greatest, five)?;
                k.choose(
                    small,
                    |k| Ok(vec![doubled(k, x)?]),
                    |k| {
                        let one = k.float(x.ty(), 1.0)?;
                        Ok(vec![k.sub(x, one)?])
                    },
                )
            },
        )?;
        Ok(out[0])
    });
    assert_eq!(got, [0.0, 2.0, 4.0, 6.0]);
}

#[test]
fn shapes_change_and_memory_has_bounds() {
    let build = || -> Built<Kernel> {
        let mut k = KernelBuilder::new("k")?;
        let x = k.tensor("X", &TensorType::new(Element::F32, 2).padded())?;
        let y = k.tensor("Y", &TensorType::new(Element::F32, 2))?;
        let scale = k.scalar("scale", Element::F32)?;
        let at = k.index_argument("at")?;
        k.grid(&[GridExtent::argument(at).min(GridExtent::sm_count())])?;
        let (zero, two) = (k.index(0), k.index(2));
        let window = k.window(x, &[at, zero], &[two, two])?;
        let fill = k.float(Element::F32, -1.0)?;
        let tile = k.load_global(window, &[zero, zero], [2, 4], Some(fill))?;
        let column = k.reduce(ReduceOp::Add, tile, &[1])?;
        let column = k.shape_cast(column, [2, 1])?;
        let sums = k.broadcast(column, [2, 4])?;
        let scales = k.broadcast(scale, [2, 4])?;
        let product = k.mul(sums, scales)?;
        let buffer = k.buffer("through", Element::F32, &[2, 4])?;
        k.store(product, buffer)?;
        k.copy_out(buffer, y, &[zero, zero])?;
        let extent = k.dim(y, 1)?;
        let four = k.index(4);
        let wide = k.compare(Predicate::Equal, extent, four)?;
        k.when(wide, |k| k.add_global(tile, y, &[zero, zero]))?;
        Ok(k.finish())
    };
    let kernel = build().unwrap_or_else(|error| panic!("{error}"));
    let mut launch = Launch::new(vec![
        array(Element::F32, &[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        nonsense(Element::F32, &[2, 4]),
        Argument::Float(2.0),
        Argument::Integer(1),
    ]);
    launch.sm_count = 7;
    let after = launched(&kernel, &launch);
    // Rows 1 and 2 without what lies outside: 3 + 4 - 2 and 5 + 6 - 2, doubled, plus the tile.
    let expected = [13.0, 14.0, 9.0, 9.0, 23.0, 24.0, 17.0, 17.0];
    assert_eq!(data(&after[1]), expected);
}
