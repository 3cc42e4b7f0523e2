//! Reductions of single elements, as measured on an H200.

use crate::tensor_map::{ReduceOp, ReduceType};

const INTEGERS: [(u32, u32); 8] = [
    (5, 3),
    (0, 4),
    (0xffff_fff0, 0x20),
    (7, 7),
    (3, 0),
    (0x8000_0000, 0x7fff_ffff),
    (9, 0xc),
    (1, 0xffff_ffff),
];

const HALVES: [(u32, u32); 6] = [
    (0x3c00_3c00, 0x1000_3c00),
    (0x0001_7bff, 0x0001_7bff),
    (0x7e00_8000, 0x3c00_0000),
    (0x3f80_3f80, 0x0001_0001),
    (0, 0x8000_0001),
    (0, 0xfc00_7c00),
];

fn check(op: ReduceOp, kind: ReduceType, pairs: &[(u32, u32)], expected: &[u32]) {
    let bytes = |words: Vec<u32>| {
        words
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<_>>()
    };
    let mut memory = bytes(pairs.iter().map(|pair| pair.0).collect());
    let value = bytes(pairs.iter().map(|pair| pair.1).collect());
    assert!(kind.has(op));
    kind.reduce(op, &mut memory, &value);
    assert_eq!(memory, bytes(expected.to_vec()), "{op} {kind}");
}

#[test]
fn integers_as_measured() {
    use {ReduceOp::*, ReduceType::*};
    let sum = [8, 4, 0x10, 0xe, 3, 0xffff_ffff, 0x15, 0];
    check(Add, U32, &INTEGERS, &sum);
    check(Add, S32, &INTEGERS, &sum);
    check(
        Add,
        U64,
        &INTEGERS,
        &[8, 4, 0x10, 0xf, 3, 0xffff_ffff, 0x15, 0],
    );
    check(Min, U32, &INTEGERS, &[3, 0, 0x20, 7, 0, 0x7fff_ffff, 9, 1]);
    let least = [3, 0, 0xffff_fff0, 7, 0, 0x8000_0000, 9, 0xffff_ffff];
    check(Min, S32, &INTEGERS, &least);
    check(Min, U64, &INTEGERS, &[5, 0, 0x20, 7, 0, 0x7fff_ffff, 9, 1]);
    let least = [5, 0, 0x20, 7, 3, 0x8000_0000, 0xc, 0xffff_ffff];
    check(Min, S64, &INTEGERS, &least);
    check(Inc, U32, &INTEGERS, &[0, 1, 0, 0, 0, 0, 0xa, 2]);
    check(Dec, U32, &INTEGERS, &[3, 4, 0x20, 6, 0, 0x7fff_ffff, 8, 0]);
    check(And, U32, &INTEGERS, &[1, 0, 0x20, 7, 0, 0, 8, 1]);
    let or = [7, 4, 0xffff_fff0, 7, 3, 0xffff_ffff, 0xd, 0xffff_ffff];
    check(Or, U32, &INTEGERS, &or);
    let xor = [6, 4, 0xffff_ffd0, 0, 3, 0xffff_ffff, 5, 0xffff_fffe];
    check(Xor, U32, &INTEGERS, &xor);
    check(Max, S32, &[(5, 0xffff_ffff)], &[5]);
    check(Max, U32, &[(5, 0xffff_ffff)], &[0xffff_ffff]);
}

#[test]
fn floats_as_measured() {
    use {ReduceOp::*, ReduceType::*};
    let pairs = [
        (0x3fc0_0000, 0x4000_0000),
        (0xc000_0000, 0xc040_0000),
        (0x0001_16c2, 0x0001_16c2),
        (0x7fc0_0000, 0x3f80_0000),
        (0x4040_0000, 0x7fc0_0000),
        (0x8000_0000, 0),
        (0x7f80_0000, 0xff80_0000),
        (0x3f80_0000, 0x33bf_2044),
    ];
    let nan = 0x7fff_ffff;
    let sums = [
        0x4060_0000,
        0xc0a0_0000,
        0x0002_2d84,
        nan,
        nan,
        0,
        nan,
        0x3f80_0001,
    ];
    check(Add, F32, &pairs, &sums);
    check(Add, F32Ftz, &INTEGERS, &[0, 0, nan, 0, 0, nan, 0, nan]);
    let sums = [8, 4, 0x10, 0xf, 0, 0x7fff_ffff, 0xc, 0xffff_ffff];
    check(Add, F64, &INTEGERS, &sums);
}

#[test]
fn halves_as_measured() {
    use {ReduceOp::*, ReduceType::*};
    let sums = [
        0x3c00_4000,
        0x0002_7c00,
        0x7fff_0000,
        0x3f80_3f80,
        1,
        0xfc00_7c00,
    ];
    // 0 + -0 is +0 in the upper half of the fifth pair.
    check(Add, F16, &HALVES, &sums);
    let sums = [
        0x3c00_3c80,
        0x0002_7c7f,
        0x7e00_0000,
        0x3f80_3f80,
        1,
        0xfc00_7c00,
    ];
    check(Add, Bf16, &HALVES, &sums);
    let least = [
        0x1000_3c00,
        0x0001_7bff,
        0x3c00_8000,
        0x0001_0001,
        0x8000_0000,
        0xfc00_0000,
    ];
    check(Min, F16, &HALVES, &least);
    check(Min, Bf16, &HALVES, &least);
    let most = [
        0x3c00_3c00,
        0x0001_7bff,
        0x3c00_0000,
        0x3f80_3f80,
        1,
        0x7c00,
    ];
    check(Max, F16, &HALVES, &most);
}

#[test]
fn what_does_not_exist_changes_nothing() {
    let mut memory = [1, 2, 3, 4];
    assert!(!ReduceType::F32.has(ReduceOp::Min), "faults on an H200");
    ReduceType::F32.reduce(ReduceOp::Min, &mut memory, &[0; 4]);
    ReduceType::S32.reduce(ReduceOp::Inc, &mut memory, &[0; 4]);
    assert_eq!(memory, [1, 2, 3, 4]);
}
