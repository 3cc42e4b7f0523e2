//! Bank conflicts, vectors, swizzles and `ldmatrix`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::support::{images, layout, named_points};
use crate::layout::{
    BYTE, COLUMN, LANE, Layout, REGISTER, ROW, WARP,
    banks::{bank_conflicts, wavefronts, wavefronts_of},
    fragments::{mma_a, mma_b},
    global::{blocked, cp_async},
    ldmatrix::ldmatrix,
    shared::{Swizzle, boxes, choose_swizzle, rows},
    vectors::vectors,
};

/// Lane i at row i of a column.
fn column_access() -> Layout {
    Layout::identity(LANE, ROW, 32)
        .unwrap()
        .product(&Layout::zeros(LANE, 1, COLUMN, 32).unwrap())
        .unwrap()
}

#[test]
fn a_column_of_rows_of_128_bytes() {
    let conflicts = |swizzle| {
        let tile = rows(32, 32, 4, swizzle).unwrap();
        bank_conflicts(&column_access().then(&tile).unwrap(), 4).unwrap()
    };
    assert_eq!(conflicts(Swizzle::NONE), 32);
    assert_eq!(conflicts(Swizzle::B32), 16);
    assert_eq!(conflicts(Swizzle::B64), 8);
    assert_eq!(conflicts(Swizzle::B128), 4);
    assert_eq!(conflicts(Swizzle::new(5, 2, 5)), 1);
}

#[test]
fn padding_and_broadcasts() {
    let worst = |addresses: &[u32], bytes| wavefronts_of(addresses, bytes).unwrap().worst;
    let lanes = |pitch: u32| (0..32).map(|lane| lane * pitch).collect::<Vec<u32>>();
    assert_eq!(worst(&lanes(128), 4), 32);
    assert_eq!(worst(&lanes(132), 4), 1);
    assert_eq!(worst(&lanes(0), 4), 1);
    assert_eq!(worst(&lanes(2), 2), 1);
    assert_eq!(worst(&lanes(8), 4), 2);
    // Wider accesses are served by halves and quarters of the warp.
    assert_eq!(wavefronts_of(&lanes(8), 8).unwrap().total, 2);
    assert_eq!(wavefronts_of(&lanes(16), 16).unwrap().total, 4);
    assert_eq!(worst(&lanes(16), 8), 2);
    assert_eq!(worst(&lanes(32), 16), 2);
    assert_eq!(worst(&lanes(144), 16), 1);
    assert!(wavefronts_of(&lanes(4), 3).is_err() && wavefronts_of(&[0; 33], 4).is_err());
    assert!(bank_conflicts(&column_access(), 4).is_err());
}

proptest! {
    #[test]
    fn conflicts_are_the_same_from_every_base(
        images in images(5, 12), base in 0_u32..1 << 12, width in 0_u32..3
    ) {
        let bytes = 4 << width;
        let aligned: Vec<u64> = images.iter().map(|image| image & !u64::from(bytes - 1)).collect();
        let access = layout(&[(LANE, 5)], &[(BYTE, 12)], &aligned);
        let addresses: Vec<u32> = (0..32)
            .map(|lane| access.apply(&[(LANE, lane)]).unwrap()[0] ^ (base & !(bytes - 1)))
            .collect();
        prop_assert_eq!(wavefronts_of(&addresses, bytes).unwrap(), wavefronts(&access, bytes).unwrap());
    }

    /// Each vector is aligned, consecutive and in the thread's own registers, all registers are in
    /// a vector or copies, and no vector of twice the width exists.
    #[test]
    fn vectors_are_right_and_widest(images in images(7, 6)) {
        let access = layout(&[(REGISTER, 4), (LANE, 3)], &[(BYTE, 6)], &images);
        let found = vectors(&access, 1, 16).unwrap();
        let at = |register, lane| access.apply(&[(REGISTER, register), (LANE, lane)]).unwrap()[0];
        for lane in 0..8 {
            let mut seen = BTreeSet::new();
            for start in &found.starts {
                let first = at(*start, lane);
                prop_assert_eq!(first % found.bytes, 0);
                for (index, element) in found.elements.iter().enumerate() {
                    prop_assert_eq!(at(start ^ element, lane), first + index as u32);
                    prop_assert!(seen.insert(start ^ element));
                }
            }
            for (copy, holder) in &found.copies {
                prop_assert_eq!(at(*copy, lane), at(*holder, lane));
                prop_assert!(seen.contains(holder) && !seen.contains(copy));
            }
            prop_assert_eq!(seen.len() + found.copies.len(), 16);
        }
        // What each thread holds falls into blocks of this width, the registers in the same order
        // in every thread; of twice the width that must fail.
        let wider = |width: u32| {
            let order = |lane| {
                let register_at = |byte| (0..16).find(|r| at(*r, lane) == byte);
                let block = at(0, lane) / width * width;
                (block..block + width).map(register_at).collect::<Option<Vec<u32>>>()
            };
            let aligned = (0..8).all(|lane| at(0, lane) % width == 0);
            aligned && order(0).is_some_and(|first| (1..8).all(|lane| order(lane) == Some(first.clone())))
        };
        prop_assert!(wider(found.bytes));
        prop_assert!(found.bytes == 16 || !wider(2 * found.bytes));
    }
}

#[test]
fn swizzles_chosen_for_rows() {
    let chosen = |columns| choose_swizzle(64, columns, 2).unwrap();
    assert_eq!(chosen(8).swizzle, Swizzle::NONE);
    assert_eq!(chosen(16).swizzle, Swizzle::B32);
    assert_eq!(chosen(32).swizzle, Swizzle::B64);
    assert_eq!(chosen(64).swizzle, Swizzle::B128);
    assert_eq!(chosen(128).swizzle, Swizzle::new(3, 4, 4));
    assert_eq!(chosen(512).swizzle, Swizzle::new(3, 4, 6));
    for (columns, bytes) in [(16, 1), (16, 2), (16, 4), (64, 4), (256, 1), (1024, 2)] {
        let choice = choose_swizzle(64, columns, bytes).unwrap();
        assert!(choice.ldmatrix.is_conflict_free() && choice.copies.is_conflict_free());
    }
    assert!(choose_swizzle(64, 4, 2).is_err() && choose_swizzle(64, 24, 2).is_err());
}

#[test]
fn a_swizzled_tile_has_no_conflicts_for_ldmatrix_and_cp_async() {
    let fragment = mma_a(2, 16)
        .unwrap()
        .repeat(REGISTER, COLUMN, 4)
        .unwrap()
        .repeat(WARP, ROW, 4)
        .unwrap();
    let worst = |swizzle| {
        let access = fragment.then(&rows(64, 64, 2, swizzle).unwrap()).unwrap();
        let plan = ldmatrix(&access, 2).unwrap().unwrap();
        assert_eq!((plan.matrices, plan.instructions()), (4, 4));
        assert_eq!(plan.wavefronts().unwrap().requests, 4);
        plan.wavefronts().unwrap().worst
    };
    assert_eq!(worst(Swizzle::NONE), 8);
    assert_eq!(worst(Swizzle::B32), 4);
    assert_eq!(worst(Swizzle::B64), 2);
    assert_eq!(worst(Swizzle::B128), 1);
    let copies = cp_async([64, 64], 2, 4, 16).unwrap();
    let access = copies
        .then(&rows(64, 64, 2, Swizzle::B128).unwrap())
        .unwrap();
    assert_eq!(bank_conflicts(&access, 16).unwrap(), 1);
}

/// Runs the instructions of a plan on memory whose contents are addresses and checks that every
/// register ends up with the bytes of its element.
fn simulate_ldmatrix(access: &Layout, element_bytes: u32) {
    let plan = ldmatrix(access, element_bytes).unwrap().unwrap();
    let per_register = 4 / element_bytes;
    for warp in 0..access.input_size(WARP) {
        for instruction in 0..plan.instructions() {
            let address = |lane| {
                let point = [(REGISTER, instruction), (LANE, lane), (WARP, warp)];
                plan.addresses.apply(&point).unwrap()[0]
            };
            for j in 0..plan.matrices {
                for lane in 0..32 {
                    for h in 0..2 {
                        // The half-word h of register j: where in memory did it come from?
                        let (row, place) = if plan.transposed {
                            (2 * (lane % 4) + h, lane / 4)
                        } else {
                            (lane / 4, 2 * (lane % 4) + h)
                        };
                        let byte = address(8 * j + row) + 2 * place;
                        assert_eq!(address(8 * j + row) % 16, 0);
                        for part in (0..2).step_by(element_bytes.min(2) as usize) {
                            if (2 * h + part) % element_bytes != 0 {
                                continue;
                            }
                            let register = (instruction * plan.matrices + j) * per_register
                                + (2 * h + part) / element_bytes;
                            let point = [(REGISTER, register), (LANE, lane), (WARP, warp)];
                            assert_eq!(access.apply(&point).unwrap(), [byte + part]);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn ldmatrix_fills_fragments() {
    let warps = |fragment: Layout| fragment.repeat(WARP, ROW, 4).unwrap();
    for (bytes, k) in [(2, 16), (1, 32), (4, 8), (2, 8)] {
        let a = warps(mma_a(bytes, k).unwrap());
        let columns = 128 / bytes;
        let a = a.repeat(REGISTER, COLUMN, columns / k).unwrap();
        for swizzle in [Swizzle::NONE, Swizzle::B128] {
            let tile = rows(64, columns, bytes, swizzle).unwrap();
            simulate_ldmatrix(&a.then(&tile).unwrap(), bytes);
        }
    }
    // B stored as rows of k: no .trans. B stored as rows of n: .trans.
    let b = mma_b(2, 16).unwrap().repeat(REGISTER, COLUMN, 8).unwrap();
    let b = b.broadcast(WARP, 2).unwrap();
    let by_n = boxes(16, 64, 2, Swizzle::B128).unwrap();
    let by_k = boxes(64, 16, 2, Swizzle::B32).unwrap();
    let by_k = by_k.rename(ROW, "n").unwrap().rename(COLUMN, ROW).unwrap();
    let by_k = by_k.rename("n", COLUMN).unwrap();
    for (tile, transposed) in [(by_n, true), (by_k, false)] {
        let access = b.then(&tile).unwrap();
        let plan = ldmatrix(&access, 2).unwrap().unwrap();
        assert_eq!((plan.transposed, plan.matrices), (transposed, 4));
        assert!(plan.wavefronts().unwrap().is_conflict_free());
        simulate_ldmatrix(&access, 2);
    }
}

#[test]
fn ldmatrix_does_not_fit_everything() {
    let tile = rows(64, 64, 2, Swizzle::B128).unwrap();
    let loads = blocked([64, 64], 2, 4, 16).unwrap().then(&tile).unwrap();
    assert_eq!(ldmatrix(&loads, 2).unwrap(), None);
    // .trans is for 16-bit elements.
    let b = mma_b(1, 32).unwrap().repeat(REGISTER, COLUMN, 4).unwrap();
    let by_n = rows(32, 32, 1, Swizzle::NONE).unwrap();
    assert_eq!(ldmatrix(&b.then(&by_n).unwrap(), 1).unwrap(), None);
    let gaps = [
        (REGISTER, vec![[16], [32]]),
        (LANE, vec![[64], [128], [2], [4], [8]]),
    ];
    let gaps = Layout::from_bases(&gaps, [(BYTE, 256)]).unwrap();
    assert_eq!(ldmatrix(&gaps, 1).unwrap(), None);
    // Memory that is too small, no memory at all, elements of 8 bytes.
    let narrow = boxes(64, 4, 2, Swizzle::NONE).unwrap();
    let a = mma_a(2, 8).unwrap();
    assert!(a.then(&narrow).is_err());
    assert!(ldmatrix(&a, 2).is_err() && ldmatrix(&loads, 8).is_err());
}

#[test]
fn lanes_that_ldmatrix_ignores_are_not_counted() {
    let a = mma_a(2, 8).unwrap();
    let access = a.then(&rows(16, 8, 2, Swizzle::NONE).unwrap()).unwrap();
    let plan = ldmatrix(&access, 2).unwrap().unwrap();
    assert_eq!(plan.matrices, 2);
    let wavefronts = plan.wavefronts().unwrap();
    assert_eq!((wavefronts.requests, wavefronts.total), (2, 2));
    assert_eq!(named_points(&plan.addresses).len(), 32);
}
