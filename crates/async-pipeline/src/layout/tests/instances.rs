//! Every instance against its formula, written out with quotients and remainders.

use super::support::{assert_formula, assert_plane};
use crate::layout::{
    BYTE, COLUMN, COPY, ELEMENT, LANE, ROW, TMEM_COLUMN, WARP,
    fragments::{MmaTiling, mma_a, mma_accumulator, mma_b, wgmma_a, wgmma_accumulator},
    global::{blocked, cp_async},
    shared::{Swizzle, boxes, row_major, rows},
    tensor_memory::{DataPath, LoadShape, loaded_accumulator},
};

#[test]
fn mma_operands() {
    for (bytes, k) in [(4, 8), (4, 4), (2, 16), (2, 8), (1, 32), (1, 16)] {
        let e = 4 / bytes;
        let full = k * bytes == 32;
        let a = mma_a(bytes, k).unwrap();
        assert_formula(
            &a,
            [if full { 4 * e } else { 2 * e }, 32, 1],
            |v, lane, _| {
                let (r, i, g, q) = (v / e, v % e, lane / 4, lane % 4);
                if full {
                    vec![g + 8 * (r & 1), q * e + (r >> 1) * 4 * e + i]
                } else {
                    vec![g + 8 * r, q * e + i]
                }
            },
        );
        assert!(a.is_bijective());
        let b = mma_b(bytes, k).unwrap();
        assert_formula(&b, [if full { 2 * e } else { e }, 32, 1], |v, lane, _| {
            let (r, i, g, q) = (v / e, v % e, lane / 4, lane % 4);
            vec![q * e + r * 4 * e + i, g]
        });
        assert!(b.is_bijective());
    }
    assert_formula(&mma_accumulator().unwrap(), [4, 32, 1], |i, lane, _| {
        vec![lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2]
    });
    assert!(mma_a(2, 32).is_err() && mma_a(8, 4).is_err() && mma_b(3, 8).is_err());
    assert!(mma_a(0, 16).is_err() && wgmma_a(0).is_err());
}

#[test]
fn warps_divide_a_tile() {
    let tiling = MmaTiling {
        tile: [64, 32, 32],
        warps: [2, 2],
    };
    // 32 rows and 16 columns per warp: 2 fragments across, then 2 down.
    let accumulator = tiling.accumulator().unwrap();
    assert_formula(&accumulator, [16, 32, 4], |v, lane, warp| {
        let (i, across, down) = (v % 4, v / 4 % 2, v / 8);
        vec![
            32 * (warp % 2) + 16 * down + lane / 4 + 8 * (i / 2),
            16 * (warp / 2) + 8 * across + 2 * (lane % 4) + i % 2,
        ]
    });
    assert!(accumulator.is_bijective());
    let a = tiling.a(2).unwrap();
    assert_formula(&a, [32, 32, 4], |v, lane, warp| {
        let (r, i, step, down) = (v / 2 % 4, v % 2, v / 8 % 2, v / 16);
        vec![
            32 * (warp % 2) + 16 * down + lane / 4 + 8 * (r % 2),
            16 * step + 2 * (lane % 4) + 8 * (r / 2) + i,
        ]
    });
    assert_eq!(a.free_bits(WARP), 0b10);
    let b = tiling.b(2).unwrap();
    assert_formula(&b, [16, 32, 4], |v, lane, warp| {
        let (r, i, step, across) = (v / 2 % 2, v % 2, v / 4 % 2, v / 8);
        vec![
            16 * step + 2 * (lane % 4) + 8 * r + i,
            16 * (warp / 2) + 8 * across + lane / 4,
        ]
    });
    assert_eq!(b.free_bits(WARP), 0b01);
    let too_small = MmaTiling {
        tile: [16, 8, 16],
        warps: [2, 1],
    };
    assert!(too_small.accumulator().is_err());
    let no_warps = MmaTiling {
        tile: [16, 8, 16],
        warps: [0, 1],
    };
    assert!(no_warps.accumulator().is_err());
}

#[test]
fn wgmma_fragments() {
    for n in [8, 64, 256] {
        let d = wgmma_accumulator(n).unwrap();
        assert_formula(&d, [n / 2, 32, 4], |i, lane, w| {
            vec![
                16 * w + lane / 4 + 8 * ((i / 2) % 2),
                8 * (i / 4) + 2 * (lane % 4) + i % 2,
            ]
        });
        assert!(d.is_bijective());
    }
    assert!(wgmma_accumulator(24).is_err() && wgmma_accumulator(512).is_err());
    for bytes in [1, 2, 4] {
        let e = 4 / bytes;
        assert_formula(&wgmma_a(bytes).unwrap(), [4 * e, 32, 4], |v, lane, w| {
            let (r, i) = (v / e, v % e);
            vec![
                16 * w + lane / 4 + 8 * (r & 1),
                lane % 4 * e + (r >> 1) * 4 * e + i,
            ]
        });
    }
}

type PerThread = fn(u32, u32) -> [u32; 2];

#[test]
fn tensor_memory_loads() {
    let shapes: [(LoadShape, u32, PerThread); 4] = [
        (LoadShape::Lanes32Bits32, 1, |r, t| [t, r]),
        (LoadShape::Lanes16Bits64, 1, |r, t| {
            [t / 4 + 8 * (t % 2), 2 * r + (t / 2) % 2]
        }),
        (LoadShape::Lanes16Bits128, 2, |r, t| {
            [t / 4 + 8 * (r % 2), 4 * (r / 2) + t % 4]
        }),
        (LoadShape::Lanes16Bits256, 4, |r, t| {
            [t / 4 + 8 * ((r / 2) % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2]
        }),
    ];
    for (shape, per_repeat, formula) in shapes {
        for repeat in [1, 4, 128 / per_repeat] {
            let one = shape.instruction(repeat).unwrap();
            let registers = repeat * per_repeat;
            assert_formula(&one, [registers, 32, 1], |r, t, _| formula(r, t).to_vec());
            assert!(one.is_bijective());
            let four = shape.warpgroup(repeat, false).unwrap();
            assert_formula(&four, [registers, 32, 4], |r, t, w| {
                let [lane, column] = formula(r, t);
                vec![32 * w + lane, column]
            });
        }
        assert!(shape.instruction(256 / per_repeat).is_err());
        assert!(shape.instruction(0).is_err() && shape.instruction(3).is_err());
    }
    let both = LoadShape::Lanes16Bits64.warpgroup(8, true).unwrap();
    assert_formula(&both, [16, 32, 4], |r, t, w| {
        let (half, r) = (r / 8, r % 8);
        vec![
            32 * w + 16 * half + t / 4 + 8 * (t % 2),
            2 * r + (t / 2) % 2,
        ]
    });
    let split = LoadShape::Lanes16Bits32x2 { split: 64 };
    assert_formula(&split.instruction(8).unwrap(), [8, 32, 1], |r, t, _| {
        vec![t % 16, r + if t >= 16 { 64 } else { 0 }]
    });
    assert!(
        LoadShape::Lanes16Bits32x2 { split: 4 }
            .instruction(8)
            .is_err()
    );
    assert!(
        LoadShape::Lanes16Bits32x2 { split: 8 }
            .instruction(6)
            .is_err()
    );
}

#[test]
fn tensor_memory_accumulators() {
    for n in [16, 256] {
        let plain: [(DataPath, u32, PerThread); 2] = [
            (DataPath::D, 128, |i, j| [i, j]),
            (DataPath::F, 64, |i, j| [(i / 16) * 32 + i % 16, j]),
        ];
        for (path, m, formula) in plain {
            let d = path.accumulator(n).unwrap();
            assert_plane(&d, [ROW, COLUMN], [m, n], |i, j| formula(i, j).to_vec());
            assert!(d.is_injective());
            assert_eq!(path.rows(), m);
        }
        let e = DataPath::E.accumulator(n).unwrap();
        assert_plane(&e, [ROW, COLUMN], [64, n], |i, j| {
            vec![i + 64 * (j / (n / 2)), j % (n / 2)]
        });
        let g = DataPath::G.accumulator(n).unwrap();
        assert_plane(&g, [ROW, COLUMN], [32, n], |i, j| {
            vec![i + 32 * (j / (n / 4)), j % (n / 4)]
        });
        let order = ["cta", "tmem_lane", TMEM_COLUMN];
        let a = DataPath::A.accumulator(n).unwrap();
        let a = a.part(&[ROW, COLUMN], &order).unwrap();
        assert_plane(&a, [ROW, COLUMN], [256, n], |i, j| {
            vec![i / 128, i % 128, j]
        });
        let b = DataPath::B.accumulator(n).unwrap();
        let b = b.part(&[ROW, COLUMN], &order).unwrap();
        assert_plane(&b, [ROW, COLUMN], [128, n], |i, j| {
            vec![i / 64, i % 64 + 64 * (j / (n / 2)), j % (n / 2)]
        });
    }
    assert!(DataPath::D.accumulator(24).is_err() && DataPath::D.accumulator(4).is_err());
}

#[test]
fn what_threads_hold_of_an_accumulator() {
    let d = loaded_accumulator(LoadShape::Lanes32Bits32, 64, DataPath::D, 64).unwrap();
    assert_formula(&d, [64, 32, 4], |r, t, w| vec![32 * w + t, r]);
    // Rows of M = 64 are in the lower 16 lanes of every quadrant.
    let f = loaded_accumulator(LoadShape::Lanes16Bits256, 8, DataPath::F, 64).unwrap();
    assert!(f.same_map(&wgmma_accumulator(64).unwrap()));
    assert!(loaded_accumulator(LoadShape::Lanes32Bits32, 64, DataPath::F, 64).is_err());
    assert!(loaded_accumulator(LoadShape::Lanes32Bits32, 64, DataPath::B, 64).is_err());
}

/// The swizzle of tensor copies on an address, as their documentation writes it.
fn swizzled(address: u32, span: u32) -> u32 {
    let row = address >> 7;
    match span {
        32 => address ^ ((row & 1) << 4),
        64 => address ^ ((row & 3) << 4),
        128 => address ^ ((row & 7) << 4),
        _ => address,
    }
}

#[test]
fn rows_in_shared_memory() {
    let modes = [
        (Swizzle::NONE, 0),
        (Swizzle::B32, 32),
        (Swizzle::B64, 64),
        (Swizzle::B128, 128),
    ];
    for (swizzle, span) in modes {
        for (columns, bytes) in [(16, 2), (64, 2), (64, 1), (32, 4), (128, 2)] {
            let tile = rows(32, columns, bytes, swizzle).unwrap();
            let pitch = columns * bytes;
            assert_plane(&tile, [ROW, COLUMN], [32, columns], |row, column| {
                vec![swizzled(row * pitch + column * bytes, span)]
            });
            assert!(tile.is_injective());

            let tile = boxes(32, columns, bytes, swizzle).unwrap();
            assert_plane(&tile, [ROW, COLUMN], [32, columns], |row, column| {
                if span == 0 {
                    return vec![row * pitch + column * bytes];
                }
                let (index, inside) = (column * bytes / span, column * bytes % span);
                vec![swizzled(index * 32 * span + row * span + inside, span)]
            });
            assert!(tile.is_injective());
        }
    }
    assert!(boxes(32, 64, 2, Swizzle::B128_ATOM_32).is_err());
    assert!(rows(32, 48, 2, Swizzle::NONE).is_err());
    assert_plane(&row_major(4, 8).unwrap(), [ROW, COLUMN], [4, 8], |i, j| {
        vec![8 * i + j]
    });
}

#[test]
fn swizzles_as_layouts() {
    let modes = [
        (Swizzle::B32, 256_u32),
        (Swizzle::B64, 512),
        (Swizzle::B128, 1024),
        (Swizzle::B128_ATOM_32, 512),
        (Swizzle::B128_ATOM_64, 256),
    ];
    for (swizzle, period) in modes {
        assert_eq!(swizzle.repeats_every(), period);
        let map = swizzle.layout(4096).unwrap();
        assert_eq!(
            map.then(&map).unwrap().apply(&[(BYTE, 1234)]).unwrap(),
            [1234]
        );
        for address in 0..4096 {
            let row = address >> 7;
            let expected = match swizzle {
                Swizzle::B128_ATOM_32 => address ^ ((row & 3) << 5),
                Swizzle::B128_ATOM_64 => address ^ ((row & 1) << 6),
                _ => swizzled(address, swizzle.span().unwrap()),
            };
            assert_eq!(map.apply(&[(BYTE, address)]).unwrap(), [expected]);
            assert_eq!(swizzle.apply(address), expected);
        }
    }
    assert!(Swizzle::new(3, 4, 2).layout(4096).is_err());
}

#[test]
fn blocked_loads() {
    // 64 elements of 2 bytes per row: 8 lanes per row, 4 rows per warp, 16 rows per round.
    let loads = blocked([64, 64], 2, 4, 16).unwrap();
    assert_formula(&loads, [32, 32, 4], |r, lane, warp| {
        vec![lane / 8 + 4 * warp + 16 * (r / 8), 8 * (lane % 8) + r % 8]
    });
    // Too small for four warps: three quarters of the threads hold copies.
    let small = blocked([8, 32], 2, 4, 16).unwrap();
    assert!(small.is_surjective());
    assert_eq!((small.free_bits(LANE), small.free_bits(WARP)), (0, 0b11));
    assert!(blocked([8, 32], 4, 4, 2).is_err() && blocked([8, 32], 2, 3, 16).is_err());
}

#[test]
fn cp_async_assignment() {
    let copies = cp_async([128, 32], 2, 4, 16).unwrap();
    let sizes = [ELEMENT, COPY, LANE, WARP].map(|axis| copies.input_size(axis));
    assert_eq!(sizes, [8, 4, 32, 4]);
    for (copy, lane, warp, element) in [(0, 0, 0, 0), (3, 31, 3, 7), (1, 5, 2, 3), (2, 18, 1, 1)] {
        let point = [(COPY, copy), (LANE, lane), (WARP, warp), (ELEMENT, element)];
        let expected = [lane / 4 + 8 * warp + 32 * copy, 8 * (lane % 4) + element];
        assert_eq!(copies.apply(&point).unwrap(), expected);
    }
    assert!(copies.is_bijective());
    assert_eq!(cp_async([16, 4], 2, 1, 4).unwrap().input_size(ELEMENT), 2);
    assert!(cp_async([16, 4], 2, 1, 16).is_err() && cp_async([16, 64], 2, 1, 2).is_err());
}
