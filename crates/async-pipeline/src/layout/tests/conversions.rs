//! Conversions carried out on registers.

use proptest::prelude::*;

use super::support::{images, invertible, layout};
use crate::layout::{
    BYTE, COLUMN, LANE, Layout, LayoutError, REGISTER, ROW, WARP,
    conversion::{
        Access, Conversion, SharedPlan, ShufflePlan, Synchronisation, conversion, shuffles,
        through_shared,
    },
    fragments::{MmaTiling, mma_a, wgmma_accumulator},
    global::blocked,
    shared::Swizzle,
};

/// What each register holds, as [warp][lane][register]: the number of an element of the tile.
type Registers = Vec<Vec<Vec<u32>>>;

fn held(layout: &Layout) -> Registers {
    let names: Vec<_> = layout.inputs().iter().map(|axis| axis.name).collect();
    let element = |register, lane, warp| {
        let all = [(REGISTER, register), (LANE, lane), (WARP, warp)];
        let point: Vec<_> = all.into_iter().filter(|(n, _)| names.contains(n)).collect();
        let place = layout.apply(&point).unwrap();
        let sizes = layout.outputs().iter().map(|axis| axis.size());
        place
            .iter()
            .zip(sizes)
            .fold(0, |number, (at, size)| number * size + at)
    };
    let registers = |lane, warp| {
        (0..layout.input_size(REGISTER))
            .map(|register| element(register, lane, warp))
            .collect()
    };
    let lanes = |warp| {
        (0..32)
            .map(|lane| registers(lane % layout.input_size(LANE), warp))
            .collect()
    };
    (0..layout.input_size(WARP)).map(lanes).collect()
}

fn run_shuffles(plan: &ShufflePlan, source: &Registers) -> Registers {
    let size = plan.elements_per_word as usize;
    let mut target = vec![vec![Vec::new(); 32]; source.len()];
    for (warp, lanes) in source.iter().enumerate() {
        let offered = |lane: usize, word: u32| {
            let word = (word ^ plan.before.at(lane as u32, warp as u32)) as usize;
            lanes[lane][word * size..(word + 1) * size].to_vec()
        };
        for (lane, registers) in target[warp].iter_mut().enumerate() {
            let mut received = vec![None; plan.results.len()];
            for round in &plan.rounds {
                let from = round.lane.at(lane as u32, warp as u32) as usize;
                let slot = &mut received[round.target as usize];
                assert!(slot.is_none(), "one round per word");
                *slot = Some(offered(from, round.source));
            }
            for result in &plan.results {
                let word = result ^ plan.after.at(lane as u32, warp as u32);
                registers.extend(received[word as usize].clone().unwrap());
            }
        }
    }
    target
}

fn run_shared(plan: &SharedPlan, element_bytes: u32, source: &Registers, to: &Layout) -> Registers {
    let at = |access: &Access, register, lane: usize, warp: usize| {
        let all = [
            (REGISTER, register),
            (LANE, lane as u32),
            (WARP, warp as u32),
        ];
        let has = |name| access.access.inputs().iter().any(|axis| axis.name == name);
        let point: Vec<_> = all.into_iter().filter(|(name, _)| has(*name)).collect();
        access.access.coordinate(BYTE, &point).unwrap()
    };
    // The tile in memory, with the warp that wrote each element.
    let mut memory = vec![None; (plan.bytes / element_bytes) as usize];
    let places = |access: &Access, lane, warp| {
        let mut places = Vec::new();
        for &start in &access.vectors.starts {
            let byte = at(access, start, lane, warp);
            assert_eq!(byte % access.vectors.bytes, 0);
            for (index, element) in access.vectors.elements.iter().enumerate() {
                places.push((start ^ element, byte / element_bytes + index as u32));
            }
        }
        places
    };
    let lanes = |access: &Access| access.access.input_size(LANE) as usize;
    for (warp, threads) in source.iter().enumerate() {
        for (lane, registers) in threads.iter().enumerate().take(lanes(&plan.store)) {
            for (register, place) in places(&plan.store, lane, warp) {
                let writers =
                    memory[place as usize].get_or_insert((registers[register as usize], vec![]));
                assert_eq!(writers.0, registers[register as usize]);
                writers.1.push(warp);
            }
        }
    }
    let mut target = vec![vec![vec![u32::MAX; to.input_size(REGISTER) as usize]; 32]; source.len()];
    for (warp, threads) in target.iter_mut().enumerate() {
        for (lane, registers) in threads.iter_mut().enumerate() {
            let lane = lane % lanes(&plan.load);
            for (register, place) in places(&plan.load, lane, warp) {
                let (value, writers) = memory[place as usize].as_ref().unwrap();
                registers[register as usize] = *value;
                if plan.synchronisation == Synchronisation::Warp {
                    assert!(writers.contains(&warp));
                }
            }
            for (copy, holder) in &plan.load.vectors.copies {
                registers[*copy as usize] = registers[*holder as usize];
            }
        }
    }
    target
}

/// Carries out a conversion and checks that every register ends up with its element.
fn check(from: &Layout, to: &Layout, element_bytes: u32, conversion: &Conversion) {
    let source = held(from);
    let target = match conversion {
        Conversion::None => source,
        Conversion::RegisterPermutation(order) => {
            let permuted =
                |registers: &Vec<u32>| order.iter().map(|&r| registers[r as usize]).collect();
            source
                .iter()
                .map(|lanes| lanes.iter().map(permuted).collect())
                .collect()
        }
        Conversion::WarpShuffle(plan) => run_shuffles(plan, &source),
        Conversion::SharedMemory(plan) => run_shared(plan, element_bytes, &source, to),
    };
    assert_eq!(target, held(to), "from\n{from}to\n{to}by {conversion:#?}");
}

const WHOLE: [(&str, u32); 3] = [(REGISTER, 4), (LANE, 5), (WARP, 2)];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_two_distributions(from in invertible(11), to in images(11, 11), bytes in 0_u32..3) {
        let tile = [(ROW, 5), (COLUMN, 6)];
        let (from, to) = (layout(&WHOLE, &tile, &from), layout(&WHOLE, &tile, &to));
        let found = conversion(&from, &to, 1 << bytes).unwrap();
        check(&from, &to, 1 << bytes, &found);
        let shared = through_shared(&from, &to, 1 << bytes).unwrap();
        check(&from, &to, 1 << bytes, &Conversion::SharedMemory(Box::new(shared)));
    }

    /// Any exchange of registers and lanes inside warps is one round per word.
    #[test]
    fn any_exchange_inside_warps(
        base in invertible(10), mix in invertible(9), shift in 0_u64..1 << 9, bytes in 0_u32..3
    ) {
        let axes = [(REGISTER, 4), (LANE, 5), (WARP, 1)];
        let tile = [(ROW, 5), (COLUMN, 5)];
        let from = layout(&axes, &tile, &base);
        let mixed = [mix, vec![shift | 1 << 9]].concat();
        let to = layout(&axes, &axes, &mixed).then(&from).unwrap();
        let plan = shuffles(&from, &to, 1 << bytes).unwrap().expect("inside warps");
        prop_assert!(plan.rounds.len() as u32 * plan.elements_per_word == 16);
        check(&from, &to, 1 << bytes, &Conversion::WarpShuffle(plan));
        let shared = through_shared(&from, &to, 1 << bytes).unwrap();
        prop_assert_eq!(shared.synchronisation, Synchronisation::Warp);
        check(&from, &to, 1 << bytes, &Conversion::SharedMemory(Box::new(shared)));
    }

    /// Lanes and registers that hold copies, on either side: few elements, many threads.
    #[test]
    fn copies_on_both_sides(from in images(9, 5), to in images(9, 5)) {
        let (axes, tile) = ([(REGISTER, 3), (LANE, 5), (WARP, 1)], [(ROW, 2), (COLUMN, 3)]);
        let (from, to) = (layout(&axes, &tile, &from), layout(&axes, &tile, &to));
        match conversion(&from, &to, 4) {
            Ok(found) => check(&from, &to, 4, &found),
            Err(error) => prop_assert_eq!(error, LayoutError::NotContained),
        }
    }

    /// As before inside one warp that holds everything: always possible with shuffles.
    #[test]
    fn copies_inside_a_warp(from in images(9, 4), to in images(8, 4)) {
        let tile = [(ROW, 2), (COLUMN, 2)];
        let from = layout(&[(REGISTER, 4), (LANE, 5)], &tile, &from);
        let to = layout(&[(REGISTER, 3), (LANE, 5)], &tile, &to);
        prop_assume!(from.is_surjective() && to.is_surjective());
        let plan = shuffles(&from, &to, 4).unwrap().expect("one warp has everything");
        check(&from, &to, 4, &Conversion::WarpShuffle(plan));
        check(&from, &to, 4, &conversion(&from, &to, 4).unwrap());
    }
}

fn fragment_16_by_16() -> Layout {
    let tiling = MmaTiling {
        tile: [16, 16, 16],
        warps: [1, 1],
    };
    tiling.accumulator().unwrap()
}

#[test]
fn an_accumulator_is_the_next_a_operand_of_16_bits() {
    let (from, to) = (fragment_16_by_16(), mma_a(2, 16).unwrap());
    assert_eq!(conversion(&from, &to, 2).unwrap(), Conversion::None);
    check(&from, &to, 2, &Conversion::None);
}

#[test]
fn the_other_order_of_fragments_is_a_register_permutation() {
    let from = fragment_16_by_16();
    let to = Layout::from_bases(
        &[
            (REGISTER, vec![[0, 1], [0, 8], [8, 0]]),
            (LANE, vec![[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]),
        ],
        [(ROW, 16), (COLUMN, 16)],
    )
    .unwrap();
    let found = conversion(&from, &to, 4).unwrap();
    assert_eq!(
        found,
        Conversion::RegisterPermutation(vec![0, 1, 4, 5, 2, 3, 6, 7])
    );
    check(&from, &to, 4, &found);
    assert_eq!(found.cost(), 0);
}

#[test]
fn an_8_bit_a_operand_takes_shuffles() {
    let accumulator = MmaTiling {
        tile: [16, 32, 32],
        warps: [1, 1],
    };
    let (from, to) = (accumulator.accumulator().unwrap(), mma_a(1, 32).unwrap());
    let found = conversion(&from, &to, 1).unwrap();
    check(&from, &to, 1, &found);
    let Conversion::WarpShuffle(plan) = found else {
        panic!("expected shuffles, got {found:#?}");
    };
    // 16 elements of a byte; neighbours in pairs stay together.
    assert_eq!((plan.elements_per_word, plan.rounds.len()), (2, 8));
}

#[test]
fn rounds_that_stay_in_a_lane_are_no_shuffles() {
    // Register bit 1 and lane bit 0 change places: half of the registers stay.
    let columns = [1, 2, 4, 8, 16, 32, 64];
    let distribution = |order: [usize; 7]| {
        let images: Vec<_> = order.iter().map(|&at| [0, columns[at]]).collect();
        let axes = [
            (REGISTER, images[..2].to_vec()),
            (LANE, images[2..].to_vec()),
        ];
        Layout::from_bases(&axes, [(ROW, 1), (COLUMN, 128)]).unwrap()
    };
    let from = distribution([0, 1, 2, 3, 4, 5, 6]);
    let to = distribution([0, 2, 1, 3, 4, 5, 6]);
    let plan = shuffles(&from, &to, 4).unwrap().unwrap();
    assert_eq!((plan.rounds.len(), plan.shuffles()), (4, 2));
    check(&from, &to, 4, &Conversion::WarpShuffle(plan));
    // 16-bit elements travel in pairs.
    let packed = shuffles(&from, &to, 2).unwrap().unwrap();
    assert_eq!((packed.elements_per_word, packed.shuffles()), (2, 1));
    check(&from, &to, 2, &Conversion::WarpShuffle(packed));
}

#[test]
fn a_lane_keeps_what_it_has_and_fetches_what_its_neighbour_has() {
    let from = Layout::identity(LANE, ROW, 32).unwrap();
    let to = Layout::from_bases(
        &[
            (REGISTER, vec![[1]]),
            (LANE, vec![[1], [2], [4], [8], [16]]),
        ],
        [(ROW, 32)],
    )
    .unwrap();
    let plan = shuffles(&from, &to, 4).unwrap().unwrap();
    assert_eq!((plan.shuffles(), plan.selects()), (1, 0));
    check(&from, &to, 4, &Conversion::WarpShuffle(plan));
}

#[test]
fn words_whose_elements_change_are_taken_apart() {
    let distribution = |first| {
        let lanes = vec![[4], [8], [16], [32], [64]];
        let axes = [(REGISTER, vec![[first], [2]]), (LANE, lanes)];
        Layout::from_bases(&axes, [(ROW, 128)]).unwrap()
    };
    let (from, to) = (distribution(1), distribution(3));
    let found = conversion(&from, &to, 2).unwrap();
    assert_eq!(found, Conversion::RegisterPermutation(vec![0, 3, 2, 1]));
    check(&from, &to, 2, &found);
}

#[test]
fn an_accumulator_goes_out_through_shared_memory_without_conflicts() {
    for (bytes, vector) in [(2, 16), (4, 16)] {
        let from = wgmma_accumulator(64).unwrap();
        let to = blocked([64, 64], bytes, 4, vector).unwrap();
        let found = conversion(&from, &to, bytes).unwrap();
        check(&from, &to, bytes, &found);
        let Conversion::SharedMemory(plan) = found else {
            panic!("expected shared memory, got {found:#?}");
        };
        assert_eq!(plan.synchronisation, Synchronisation::Warps);
        assert_eq!(plan.bytes, 64 * 64 * bytes);
        assert_eq!((plan.store.conflicts, plan.load.conflicts), (1, 1));
        assert_eq!(plan.load.vectors.bytes, 16);
        assert_ne!(plan.swizzle, Swizzle::NONE);
    }
}

#[test]
fn what_is_not_held_cannot_be_converted() {
    let half = Layout::identity(LANE, ROW, 32)
        .unwrap()
        .product(&Layout::zeros(REGISTER, 1, ROW, 2).unwrap())
        .unwrap();
    let whole = Layout::identity(LANE, ROW, 32)
        .unwrap()
        .repeat(REGISTER, ROW, 2)
        .unwrap();
    assert_eq!(conversion(&half, &whole, 4), Err(LayoutError::NotContained));
    let two_warps = half
        .repeat(WARP, ROW, 1)
        .unwrap()
        .broadcast(WARP, 2)
        .unwrap();
    assert!(conversion(&two_warps, &half, 4).is_err());
    assert!(conversion(&half, &half, 8).is_err());
    assert_eq!(conversion(&half, &half, 4), Ok(Conversion::None));
    let other = half.rename(LANE, "thread").unwrap();
    assert!(conversion(&other, &other, 4).is_err());
}
