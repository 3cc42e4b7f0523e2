//! Copies carried out on plain memory, and an element-wise model of the same.

use proptest::prelude::*;
use ptx_model::target::Target;

use crate::tensor_map::{Direction, Fill, MapElement, Plan, Swizzle, TensorMap};

/// Where the tests' global memory starts.
pub(super) const BASE: u64 = 0x10_0000;

/// Loads a box from `global` into a copy of `shared`.
pub(super) fn load(plan: &Plan, global: &[u8], shared: &mut [u8]) {
    for run in &plan.runs {
        let to = run.shared as usize..(run.shared + run.bytes) as usize;
        match run.global {
            None => plan.fill(&mut shared[to]),
            Some(address) => {
                let from = (address - BASE) as usize;
                let bytes = &global[from..from + run.bytes as usize];
                shared[to.clone()].copy_from_slice(bytes);
                plan.convert_loaded(&mut shared[to]);
            }
        }
    }
}

/// Stores a box from `shared` into `global`.
pub(super) fn store(plan: &Plan, shared: &[u8], global: &mut [u8]) {
    for run in &plan.runs {
        let from = run.shared as usize..(run.shared + run.bytes) as usize;
        let to = (run.global.unwrap() - BASE) as usize;
        global[to..to + run.bytes as usize].copy_from_slice(&shared[from]);
    }
}

fn permuted(swizzle: Swizzle, address: usize) -> usize {
    let r = address >> 7;
    match swizzle {
        Swizzle::None => address,
        Swizzle::B32 => address ^ ((r & 1) << 4),
        Swizzle::B64 => address ^ ((r & 3) << 4),
        Swizzle::B128 => address ^ ((r & 7) << 4),
        Swizzle::B128Atom32 => address ^ ((r & 3) << 5),
        Swizzle::B128Atom32Flip8 => address ^ ((r & 3) << 5) ^ ((r & 1) << 3),
        Swizzle::B128Atom64 => address ^ ((r & 1) << 6),
    }
}

/// Byte by byte: where in shared memory it lies, and where in global memory if inside.
fn bytes_of(map: &TensorMap, at: &[i32], dst: usize) -> Vec<(usize, Option<u64>)> {
    let es = u64::from(map.element.bits() / 8);
    let mut list = Vec::new();
    for row in 0..map.rows() {
        let mut left = row;
        let mut address = Some(map.address);
        for (dimension, at) in at.iter().enumerate().skip(1) {
            let taken = u64::from(map.taken(dimension));
            let step = (left % taken) as i64;
            left /= taken;
            let stride = i64::from(map.element_strides[dimension]);
            let place = i64::from(*at) + step * stride;
            let inside = place >= 0 && (place as u64) < map.sizes[dimension];
            address = address
                .filter(|_| inside)
                .map(|a| a + place as u64 * map.strides[dimension - 1]);
        }
        for element in 0..u64::from(map.box_sizes[0]) {
            let place = i64::from(at[0]) + element as i64;
            let inside = place >= 0 && (place as u64) < map.sizes[0];
            for byte in 0..es {
                let linear = dst as u64 + row * map.pitch_bytes() + element * es + byte;
                let global = address.filter(|_| inside);
                list.push((
                    permuted(map.swizzle, linear as usize),
                    global.map(|a| a + place as u64 * es + byte),
                ));
            }
        }
    }
    list
}

fn element() -> impl Strategy<Value = MapElement> {
    proptest::sample::select(&MapElement::ALL[..10])
}

fn swizzle() -> impl Strategy<Value = Swizzle> {
    proptest::sample::select(vec![
        Swizzle::None,
        Swizzle::B32,
        Swizzle::B64,
        Swizzle::B128,
        Swizzle::B128Atom32,
        Swizzle::B128Atom64,
    ])
}

prop_compose! {
    /// Small valid maps with coordinates around the tensor.
    fn map_and_place()(
        element in element(), swizzle in swizzle(), rank in 1..=4_usize, units in 1..=8_u32,
        sizes in proptest::collection::vec(1..12_u64, 4),
        boxes in proptest::collection::vec(1..5_u32, 4),
        steps in proptest::collection::vec(1..4_u32, 4),
        places in proptest::collection::vec(-4..8_i32, 4),
        nan in any::<bool>(), dst in 0..8_u32,
    ) -> (TensorMap, Vec<i32>, u32) {
        let es = element.bits() / 8;
        let span = swizzle.span_bytes().unwrap_or(128);
        let mut boxes = boxes[..rank].to_vec();
        boxes[0] = (units * 16).min(span) / es;
        let mut sizes = sizes[..rank].to_vec();
        sizes[0] *= 3;
        let row = (sizes[0] * u64::from(es)).next_multiple_of(16);
        let mut strides = Vec::new();
        for size in &sizes[1..] {
            strides.push(strides.last().map_or(row + 16, |s: &u64| s * size));
        }
        // `strides[n]` grew by the size of its own dimension; shift so that rows do not overlap.
        let mut apart = row + 16;
        for (stride, size) in strides.iter_mut().zip(&sizes[1..]) {
            *stride = apart;
            apart *= size;
        }
        let mut map = TensorMap::tiled(element, BASE, &sizes, &strides, &boxes).unwrap();
        map.swizzle = swizzle;
        map.element_strides[1..rank].copy_from_slice(&steps[1..rank]);
        if nan && element.is_float() { map.fill = Fill::Nan; }
        let mut places = places[..rank].to_vec();
        places[0] *= (16 / es) as i32;
        (map, places, dst * 128)
    }
}

proptest! {
    #[test]
    fn loads_agree_with_the_model((map, at, dst) in map_and_place(), seed in any::<u8>()) {
        prop_assert_eq!(map.validate(Target::Sm100a), Ok(()));
        let global: Vec<u8> = (0..1 << 18).map(|i: u32| (i % 251) as u8 ^ seed).collect();
        let plan = Plan::new(&map, &at, dst, Direction::Load).unwrap();
        let mut shared = vec![0xee; 1 << 15];
        load(&plan, &global, &mut shared);
        let mut expected = vec![0xee; 1 << 15];
        let bytes = bytes_of(&map, &at, dst as usize);
        for (n, (place, global_at)) in bytes.iter().enumerate() {
            let filler = match map.fill { Fill::Zero => 0, Fill::Nan => [0xf7, 0x7f][n % 2] };
            expected[*place] = global_at.map_or(filler, |a| global[(a - BASE) as usize]);
        }
        prop_assert!(shared == expected);
        prop_assert_eq!(plan.complete_bytes as usize, bytes.len());
        let total: u32 = plan.shared_ranges().iter().map(|range| range.end - range.start).sum();
        prop_assert_eq!(total as usize, bytes.len());
    }

    #[test]
    fn stores_write_whole_units((map, at, dst) in map_and_place()) {
        let at: Vec<i32> = at.iter().map(|place| place.abs()).collect();
        let plan = Plan::new(&map, &at, dst, Direction::Store).unwrap();
        let shared: Vec<u8> = (0..1 << 15).map(|i: u32| (i % 249) as u8).collect();
        let mut global = vec![0xee; 1 << 18];
        store(&plan, &shared, &mut global);
        let mut expected = vec![0xee; 1 << 18];
        let inside = |at: &Option<u64>| at.is_some();
        for unit in bytes_of(&map, &at, dst as usize).chunks(16) {
            let Some(Some(first)) = unit.first().map(|(_, at)| *at).filter(inside) else { continue };
            for (n, (place, _)) in unit.iter().enumerate() {
                expected[(first - BASE) as usize + n] = shared[*place];
            }
        }
        prop_assert!(global == expected);
    }

    #[test]
    fn hostile_maps_make_no_panic(
        words in proptest::collection::vec(any::<u64>(), 14), at in proptest::collection::vec(any::<i32>(), 0..7),
        dst in any::<u32>(), set in any::<bool>(),
    ) {
        let map = TensorMap::tiled(MapElement::F16, 0, &[8, 8], &[16], &[8, 8]).unwrap();
        let mut bytes = map.encode();
        if set { bytes[8..12].fill(0xff); }
        for (n, word) in words.iter().enumerate() {
            bytes[12 + 8 * n..20 + 8 * n].copy_from_slice(&(word & (word >> 32)).to_le_bytes());
        }
        bytes[12] %= 16;
        for byte in &mut bytes[13..19] { *byte %= 4; }
        let Ok(map) = TensorMap::decode(&bytes) else { return Ok(()) };
        let _ = map.validate(Target::Sm100a).map(|()| {
            for direction in [Direction::Load, Direction::Store] {
                let _ = Plan::new(&map, &at, dst, direction);
            }
        });
    }
}
