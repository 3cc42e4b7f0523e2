//! What the builder refuses, and that it makes nothing that verification refuses.

use super::builder::{Built, verified};
use async_pipeline::builder::{
    Accumulator, Axis, BinaryOp, Buffer, Element, Global, GridExtent, Index, KernelBuilder, Loop,
    Predicate, ReduceOp, TensorType, UnaryOp, Value, ValueType,
};

#[test]
fn misuse_is_an_error_with_the_current_place_and_leaves_nothing() {
    let mut k = KernelBuilder::new("k").expect("a right name");
    let mut other = KernelBuilder::new("other").expect("a right name");
    let foreign = other.index(0);
    k.at("net.dsl", 3, 8);
    let x = k
        .tensor("X", &TensorType::new(Element::F16, 2))
        .expect("a right type");
    let n = k.index_argument("n").expect("a right name");
    let zero = k.index(0);
    let one = k.float(Element::F32, 1.0).expect("a constant");
    let tile = k
        .float(ValueType::new(Element::F32, [4, 2]), 1.0)
        .expect("a constant");
    let bytes = k
        .float(ValueType::new(Element::F8E5M2, [4, 2]), 1.0)
        .expect("a constant");
    let buffer = k
        .buffer("b", Element::F16, &[128, 64])
        .expect("a right type");
    let cube = k
        .buffer("c", Element::F16, &[2, 2, 2])
        .expect("a right type");
    let bytes_tile = k
        .buffer("i", Element::Int(8), &[128, 64])
        .expect("a right type");
    let wide = k
        .buffer("w", Element::F32, &[128, 64])
        .expect("a right type");
    let sum = k.accumulator(128, 128).expect("a right type");
    let all = Loop::new(zero, n, n);
    let mut inside = None;
    k.for_each(all, |_, i| {
        inside = Some(i);
        Ok(())
    })
    .expect("an empty loop");
    let inside = inside.expect("was called");
    let before = format!("{k:?}");
    type Case<'a> = (
        &'a str,
        Box<dyn FnOnce(&mut KernelBuilder) -> Built<()> + 'a>,
    );
    fn case<'a, T>(
        expected: &'a str,
        wrong: impl FnOnce(&mut KernelBuilder) -> Built<T> + 'a,
    ) -> Case<'a> {
        (expected, Box::new(|k| wrong(k).map(|_| ())))
    }
    let matrix = TensorType::new(Element::F16, 2);
    let cases = [
        case(
            "expected an argument name of letters, digits and `_`, not beginning with a digit, got `1x`",
            |k| k.tensor("1x", &matrix),
        ),
        case("the kernel already has an argument `X`", |k| {
            k.scalar("X", Element::F32)
        }),
        case(
            "expected scalar arguments of f16, bf16, f32, f64, i8, i16, i32 or i64, got i1",
            |k| k.scalar("t", Element::Int(1)),
        ),
        case(
            "expected tensors of i8, i16, i32, i64, f16, bf16, f32, f64, f8E4M3FN or f8E5M2, got i24",
            |k| k.tensor("Y", &TensorType::new(Element::Int(24), 1)),
        ),
        case("expected a rank from 1 to 5, got 6", |k| {
            k.tensor("Y", &TensorType::new(Element::F16, 6))
        }),
        case("expected a dimension from 0 to 1, got 2", |k| {
            k.tensor("Y", &matrix.clone().extent(2, 4))
        }),
        case(
            "expected an extent from 1 to 9223372036854775807, got 0",
            |k| k.tensor("Y", &matrix.clone().extent(0, 0)),
        ),
        case("expected an alignment of 4, 8 or 16 bytes, got 32", |k| {
            k.tensor("Y", &matrix.clone().align(32))
        }),
        case("expected grid extents from 1 to 3, got 0", |k| k.grid(&[])),
        case("expected a dimension from 0 to 1, got 2", |k| {
            k.grid(&[x.extent(2).times(3)])
        }),
        case("expected blocks from 1 to 4294967295, got 0", |k| {
            k.grid(&[0.into()])
        }),
        case(
            "expected a grid of arguments and constants, got a value that the kernel computes",
            |k| k.grid(&[GridExtent::argument(zero)]),
        ),
        case("grid expressions nest more than 48 deep", |k| {
            let deep = (0..60).fold(GridExtent::sm_count(), |all, _| all.plus(1));
            k.grid(&[deep])
        }),
        case("expected handles of this kernel, got one of another", |k| {
            k.add(zero, foreign)
        }),
        case(
            "a value made inside a loop or branch is not there outside it",
            |k| k.add(zero, inside),
        ),
        case("expected a value of type f32, got vector<4x2xf32>", |k| {
            k.add(one, tile)
        }),
        case("`arith.addf` does not exist for vector<4x2xf8E5M2>", |k| {
            k.add(bytes, bytes)
        }),
        case("`arith.andi` does not exist for f32", |k| {
            k.binary(BinaryOp::And, one, one)
        }),
        case("`math.exp` does not exist for index", |k| {
            k.unary(UnaryOp::Exp, zero.into())
        }),
        case("`ult` does not exist for f32", |k| {
            k.compare(Predicate::LessUnsigned, one, one)
        }),
        case("expected a value of type vector<4x2xi1>, got f32", |k| {
            k.select(one, tile, tile)
        }),
        case("expected a constant that i8 holds, got 256", |k| {
            k.int(Element::Int(8), 256)
        }),
        case("expected a constant that f8E5M2 holds, got NaN", |k| {
            k.float(Element::F8E5M2, f64::NAN)
        }),
        case(
            "expected extents of register values to be powers of two, got vector<96xf32>",
            |k| k.float(ValueType::new(Element::F32, [96]), 0.0),
        ),
        case(
            "expected elements of a register value from 1 to 65536, got 131072",
            |k| k.step(1 << 17),
        ),
        case(
            "expected register values of i1, i8, i16, i32, i64, index, f16, bf16, f32, f8E4M3FN, f8E5M2 or, for scalars, f64, got f64",
            |k| k.convert(tile, Element::F64),
        ),
        case(
            "expected a value that repeats along new outer dimensions and extents of 1 only, got vector<4x2xf32> for vector<2x2xf32>",
            |k| k.broadcast(tile, [2, 2]),
        ),
        case(
            "expected as many elements before as after, got vector<4x2xf32> for vector<4xf32>",
            |k| k.shape_cast(tile, [4]),
        ),
        case("expected a dimension from 0 to 1, got 2", |k| {
            k.reduce(ReduceOp::Add, tile, &[2])
        }),
        case(
            "expected one or more different dimensions to reduce, got []",
            |k| k.reduce(ReduceOp::Add, tile, &[]),
        ),
        case(
            "`arith.index_cast` does not exist for vector<4x2xf32>",
            |k| k.to_index(tile),
        ),
        case(
            "expected a buffer name of letters, digits, `_`, `-` and `.`, got `a b`",
            |k| k.buffer("a b", Element::F16, &[1]),
        ),
        case(
            "expected bytes of a tile from 1 to 268435456, got 536870912",
            |k| k.buffer("b", Element::F16, &[1 << 14, 1 << 14]),
        ),
        case("expected a dimension from 0 to 1, got 2", |k| k.dim(x, 2)),
        case("expected 2 indices, got 1", |k| {
            k.copy_in(x, &[zero], buffer)
        }),
        case("expected 2 sizes, got 0", |k| {
            k.window(x, &[zero, zero], &[])
        }),
        case("expected dimensions of a tile from 1 to 2, got 3", |k| {
            k.copy_in(x, &[zero, zero], cube)
        }),
        case("expected elements of f16, got f32", |k| {
            k.store_global(tile, x, &[zero, zero])
        }),
        case("expected dimensions of a tile from 1 to 2, got 0", |k| {
            k.store_global(one, x, &[zero, zero])
        }),
        case(
            "expected dimensions of a register value from 1 to 2, got 3",
            |k| k.load(cube),
        ),
        case(
            "expected additions in memory of f16, bf16, f32, i32 or i64, got f8E5M2",
            |k| k.add_global(bytes, x, &[zero, zero]),
        ),
        case("expected a value of type f16, got f32", |k| {
            k.load_global(x, &[zero, zero], [4, 2], Some(one))
        }),
        case(
            "expected shapes MxN += MxK * KxN, got 128x128 += 128x64 * 128x64",
            |k| k.mma(sum, buffer, buffer),
        ),
        case("expected elements of f16, got f32", |k| {
            k.mma(sum, buffer, wide.transposed())
        }),
        case(
            "expected factors of f16, bf16, f32, f8E4M3FN or f8E5M2, got i8",
            |k| k.mma(sum, bytes_tile, bytes_tile.transposed()),
        ),
        case(
            "expected a value of type vector<128x128xf32>, got vector<4x2xf32>",
            |k| k.store(tile, sum),
        ),
        case("expected 2 dimensions of a factor, got 3", |k| {
            k.mma(sum, buffer, cube)
        }),
        case("expected stages from 1 to 64, got 0", |k| {
            k.for_each(all.stages(0), |_, _| Ok(()))
        }),
        case("expected a value of type i1, got f32", |k| {
            k.when(one, |_| Ok(()))
        }),
        case("expected 1 values at the end of a body, got 0", |k| {
            k.for_carrying(all, &[one], |_, _, _| Ok(vec![]))
        }),
        case("expected a value of type f32, got vector<4x2xf32>", |k| {
            k.for_carrying(all, &[one], |_, _, _| Ok(vec![tile]))
        }),
        case("expected elements of f16, got f32", |k| {
            k.for_each(all, |k, _| {
                let one = k.float(ValueType::new(Element::F32, [2]), 1.0)?;
                k.store_global(one, x, &[zero, zero])
            })
        }),
        case("loops and branches nest more than 128 deep", |k| {
            k.for_each(all, |k, _| nest(k))
        }),
    ];
    for (expected, wrong) in cases {
        let error = wrong(&mut k).expect_err(expected);
        assert_eq!(error.to_string(), format!("net.dsl:3:8: {expected}"));
    }
    let body = |state: &str| {
        state[state.find("body:").expect("is there")..state.find("values:").expect("is there")]
            .to_owned()
    };
    assert_eq!(body(&format!("{k:?}")), body(&before));
    assert!(KernelBuilder::new("").is_err() && KernelBuilder::new("a.b").is_err());
    verified(&k.finish());
}

fn nest(k: &mut KernelBuilder) -> Built<()> {
    let one = k.index(1);
    k.for_each(Loop::new(one, one, one), |k, _| nest(k))
}

/// Numbers without a pattern, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % most
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Everything there is to take operands from, also what is out of scope.
#[derive(Default)]
struct Pool {
    values: Vec<Value>,
    indices: Vec<Index>,
    globals: Vec<Global>,
    buffers: Vec<Buffer>,
    accumulators: Vec<Accumulator>,
    refused: usize,
}

const ELEMENTS: [Element; 8] = [
    Element::F16,
    Element::BF16,
    Element::F32,
    Element::F64,
    Element::F8E5M2,
    Element::Int(1),
    Element::Int(32),
    Element::Index,
];

/// One op with operands from anywhere.
fn anything(k: &mut KernelBuilder, random: &mut Random, pool: &mut Pool, depth: usize) {
    let (a, b) = (random.pick(&pool.values), random.pick(&pool.values));
    let (i, j) = (random.pick(&pool.indices), random.pick(&pool.indices));
    let (global, buffer) = (random.pick(&pool.globals), random.pick(&pool.buffers));
    let (sum, element) = (random.pick(&pool.accumulators), random.pick(&ELEMENTS));
    let other = random.pick(&pool.buffers);
    let shape = random.pick(&[[16, 8], [8, 16], [16, 16], [3, 8]]);
    let places = [i, j, i];
    let at = &places[..1 + random.below(3)];
    let mut done: Built<()> = Ok(());
    let value = match random.below(28) {
        0 => k.unary(random.pick(&[UnaryOp::Exp, UnaryOp::Abs]), a),
        1 => k.binary(
            random.pick(&[BinaryOp::Add, BinaryOp::Max, BinaryOp::Xor]),
            a,
            b,
        ),
        2 => k.compare(random.pick(&[Predicate::Less, Predicate::Ordered]), a, b),
        3 => k.select(a, b, random.pick(&pool.values)),
        4 => k.fma(a, b, b),
        5 => k.convert(a, element),
        6 => k.broadcast(a, shape),
        7 => k.shape_cast(a, shape),
        8 => k.reduce(ReduceOp::Max, a, random.pick(&[&[0][..], &[1], &[0, 1]])),
        9 => k.float(ValueType::new(element, shape), 0.1),
        10 => k.int(element, 1),
        11 => k.load(buffer),
        12 => k.load(sum),
        13 => k.load_global(global, at, shape, Some(b).filter(|_| random.below(2) == 0)),
        14 => k
            .for_carrying(Loop::new(i, j, i), &[a], |_, _, _| Ok(vec![b]))
            .map(|all| all[0]),
        15 => k
            .choose(a, |_| Ok(vec![b]), |_| Ok(vec![b]))
            .map(|all| all[0]),
        more => {
            done = match more {
                16 => k.store(a, buffer),
                17 => k.store(a, sum),
                18 => k.store_global(a, global, at),
                19 => k.add_global(a, global, at),
                20 => k.copy_in(global, at, buffer),
                21 => k.copy_out(buffer, global, at),
                22 => k.mma(sum, buffer, other.transposed()),
                23 => k.mma(sum, a, buffer),
                24 => k
                    .window(global, at, &[i, j])
                    .map(|made| pool.globals.push(made.into())),
                25 => k.add(i, j).map(|made| pool.indices.push(made)),
                26 => k.to_index(a).map(|made| pool.indices.push(made)),
                _ if depth > 2 => Ok(()),
                _ => k.for_each(Loop::new(i, j, i).stages(3), |k, counter| {
                    pool.indices.push(counter);
                    for _ in 0..10 {
                        anything(k, random, pool, depth + 1);
                    }
                    Ok(())
                }),
            };
            Ok(a)
        }
    };
    match (value, done) {
        (Ok(value), Ok(())) => pool.values.push(value),
        _ => pool.refused += 1,
    }
}

#[test]
fn whatever_is_not_refused_passes_verification() {
    let (mut made, mut refused) = (0, 0);
    for seed in 1..=60 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed << 32);
        let mut build = || -> Built<_> {
            let mut k = KernelBuilder::new("k")?;
            k.at("net.dsl", 1, seed as u32);
            let mut pool = Pool::default();
            for (element, name) in [(Element::F16, "X"), (Element::F32, "Y")] {
                let matrix = k.tensor(name, &TensorType::new(element, 2))?;
                pool.globals.push(matrix.into());
                pool.buffers.push(k.buffer(name, element, &[16, 8])?);
                pool.values
                    .push(k.float(ValueType::new(element, [16, 8]), 0.5)?);
            }
            pool.globals
                .push(k.tensor("r", &TensorType::new(Element::F32, 1))?.into());
            pool.accumulators.push(k.accumulator(16, 16)?);
            pool.accumulators.push(k.accumulator(16, 8)?);
            pool.indices.push(k.block_id(Axis::X));
            pool.values.push(k.scalar("s", Element::F32)?);
            for _ in 0..80 {
                anything(&mut k, &mut random, &mut pool, 0);
            }
            made += pool.values.len();
            refused += pool.refused;
            Ok(k.finish())
        };
        verified(&build().unwrap_or_else(|error| panic!("{error}")));
    }
    // Both happen, and not by chance.
    assert!(made > 2000 && refused > 2000, "{made} {refused}");
}
