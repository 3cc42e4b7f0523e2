//! What an H200 (CUDA 13.0) did with tensor copies.

use ptx_model::target::Target;

use super::model::{BASE, load, store};
use crate::tensor_map::{
    CopyError, Direction, Fill, MapElement, MapRule, Plan, Swizzle, TensorMap, round_tf32,
};

/// A 64 x 64 tensor of 16-bit indices and a box of 16 rows of `inner` bytes.
fn index_map(swizzle: Swizzle, inner: u32) -> TensorMap {
    let columns = if inner == 256 { 128 } else { 64 };
    let mut map = TensorMap::tiled(
        MapElement::U16,
        BASE,
        &[columns, 4096 / columns],
        &[columns * 2],
        &[inner / 2, 16],
    )
    .unwrap();
    map.swizzle = swizzle;
    map
}

const SWIZZLES: [(Swizzle, u32); 4] = [
    (Swizzle::None, u32::MAX),
    (Swizzle::B32, 32),
    (Swizzle::B64, 64),
    (Swizzle::B128, 128),
];

#[test]
fn boxes_lie_where_the_device_put_them() {
    let global: Vec<u8> = (0..4096_u16).flat_map(u16::to_le_bytes).collect();
    let mut cases = 0;
    for (swizzle, span) in SWIZZLES {
        for inner in [16, 32, 48, 64, 96, 128, 256]
            .into_iter()
            .filter(|inner| *inner <= span)
        {
            let map = index_map(swizzle, inner);
            map.validate(Target::Sm90a).unwrap();
            let pitch = if span == u32::MAX { inner } else { span };
            for dst in [0, 128, 256, 384, 512, 640, 896] {
                let plan = Plan::new(&map, &[0, 0], dst, Direction::Load).unwrap();
                assert_eq!(plan.complete_bytes, inner * 16);
                let mut shared = vec![0xee; 8192];
                load(&plan, &global, &mut shared);
                for (y, u) in (0..16).flat_map(|y| (0..inner / 8).map(move |u| (y, u))) {
                    let a = dst + y * pitch + u * 8;
                    let mask = if span == u32::MAX { 0 } else { span / 16 - 1 };
                    let at = (a ^ ((a >> 7 & mask) << 4)) as usize;
                    let from = (y * (map.strides[0] as u32) + u * 8) as usize;
                    assert_eq!(
                        shared[at..at + 8],
                        global[from..from + 8],
                        "{swizzle:?} {inner}"
                    );
                }
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 133, "as many as were measured");
}

#[test]
fn rows_longer_than_the_swizzle_are_refused() {
    for (swizzle, inner, span) in [
        (Swizzle::B32, 48, 32),
        (Swizzle::B64, 96, 64),
        (Swizzle::B128, 256, 128),
    ] {
        let bytes = u64::from(inner);
        let refused = index_map(swizzle, inner).validate(Target::Sm90a);
        assert_eq!(refused, Err(MapRule::RowTooLong { bytes, span }));
    }
}

#[test]
fn swizzles_with_larger_units_are_refused_on_hopper_only() {
    for swizzle in [
        Swizzle::B128Atom32,
        Swizzle::B128Atom32Flip8,
        Swizzle::B128Atom64,
    ] {
        let map = index_map(swizzle, 128);
        let target = Target::Sm90a;
        assert_eq!(map.validate(target), Err(MapRule::SwizzleUnit { target }));
        assert_eq!(map.validate(Target::Sm100a), Ok(()));
    }
}

#[test]
fn dimension_0_is_the_fastest_of_a_box() {
    let global: Vec<u8> = (0..1024_u32).flat_map(u32::to_le_bytes).collect();
    let map = TensorMap::tiled(MapElement::U32, BASE, &[16, 8, 8], &[64, 512], &[8, 4, 3]).unwrap();
    let plan = Plan::new(&map, &[4, 2, 1], 0, Direction::Load).unwrap();
    let mut shared = vec![0xee; 1024];
    load(&plan, &global, &mut shared);
    for (z, y, x) in itertools(3, 4, 8) {
        let at = (((z * 4 + y) * 8 + x) * 4) as usize;
        let expected = (1 + z) * 128 + (2 + y) * 16 + 4 + x;
        assert_eq!(shared[at..at + 4], expected.to_le_bytes());
    }
}

fn itertools(a: u32, b: u32, c: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..a * b * c).map(move |n| (n / (b * c), n / c % b, n % c))
}

#[test]
fn element_strides_skip_rows_and_bytes() {
    let global: Vec<u8> = (0..1024_u32).flat_map(u32::to_le_bytes).collect();
    let mut map = TensorMap::tiled(MapElement::U32, BASE, &[16, 64], &[64], &[8, 7]).unwrap();
    map.element_strides[1] = 2;
    let plan = Plan::new(&map, &[0, 1], 0, Direction::Load).unwrap();
    assert_eq!(plan.complete_bytes, 128, "4 rows of 32 bytes, not 224");
    let mut shared = vec![0xee; 256];
    load(&plan, &global, &mut shared);
    for (_, y, x) in itertools(1, 4, 8) {
        let at = ((y * 8 + x) * 4) as usize;
        assert_eq!(shared[at..at + 4], ((1 + 2 * y) * 16 + x).to_le_bytes());
    }
    assert!(shared[128..].iter().all(|byte| *byte == 0xee));
}

/// A tensor of 20 x 10 elements in rows of 512 bytes and a box of 32 x 8.
fn small_map(element: MapElement, fill: Fill) -> TensorMap {
    let mut map = TensorMap::tiled(element, BASE, &[20, 10], &[512], &[32, 8]).unwrap();
    map.fill = fill;
    map
}

#[test]
fn elements_outside_are_filled() {
    // (coordinates, elements outside) of f16 boxes, as counted on the device.
    let cases = [
        ([0, 0], 96),
        ([8, 6], 208),
        ([-8, 0], 96),
        ([0, -2], 136),
        ([1000, -77], 256),
        ([i32::MIN, i32::MAX], 256),
    ];
    for (at, outside) in cases {
        let plan = Plan::new(
            &small_map(MapElement::F16, Fill::Zero),
            &at,
            0,
            Direction::Load,
        );
        let plan = plan.unwrap();
        let mut shared = vec![0xee; 512];
        load(&plan, &[0x11; 8192], &mut shared);
        let zeros = shared.chunks(2).filter(|pair| *pair == [0, 0]).count();
        let ones = shared
            .chunks(2)
            .filter(|pair| *pair == [0x11, 0x11])
            .count();
        assert_eq!((zeros, ones), (outside, 256 - outside), "{at:?}");
    }
}

#[test]
fn nan_fill_is_one_pattern_for_all_types() {
    for element in [
        MapElement::F16,
        MapElement::Bf16,
        MapElement::F32,
        MapElement::F32Ftz,
        MapElement::Tf32,
        MapElement::Tf32Ftz,
        MapElement::F64,
    ] {
        let map = small_map(element, Fill::Nan);
        map.validate(Target::Sm90a).unwrap();
        let plan = Plan::new(&map, &[8, 6], 0, Direction::Load).unwrap();
        let mut shared = vec![0xee; 2048];
        load(&plan, &[0x11; 8192], &mut shared);
        let bytes = element.bits() as usize / 8;
        let nan: Vec<u8> = [0xf7, 0x7f].repeat(bytes / 2);
        let filled = shared
            .chunks(bytes)
            .filter(|element| *element == nan)
            .count();
        assert_eq!(filled, 208, "{element}");
    }
    for element in [MapElement::U8, MapElement::S32] {
        let refused = small_map(element, Fill::Nan).validate(Target::Sm90a);
        assert_eq!(refused, Err(MapRule::NanFill { element }));
    }
}

#[test]
fn boxes_start_at_multiples_of_16_bytes() {
    let at = |element, coordinate| {
        let map = small_map(element, Fill::Zero);
        Plan::new(&map, &[coordinate, 0], 0, Direction::Load).is_ok()
    };
    for bad in [3, 5, 12, -5] {
        assert!(!at(MapElement::F16, bad), "{bad}");
    }
    assert!(at(MapElement::F16, 8) && at(MapElement::F16, -8));
    assert!(!at(MapElement::U8, 8) && at(MapElement::S32, 8) && !at(MapElement::U32, 3));
}

#[test]
fn stores_drop_what_is_outside_and_refuse_negative_coordinates() {
    let map = TensorMap::tiled(MapElement::U32, BASE, &[20, 10], &[128], &[32, 8]).unwrap();
    let plan = |at: [i32; 2]| Plan::new(&map, &at, 0, Direction::Store);
    let plan_at = plan([12, 6]).unwrap();
    let shared: Vec<u8> = (1000..1256_u32).flat_map(u32::to_le_bytes).collect();
    let mut global = vec![0; 2048];
    store(&plan_at, &shared, &mut global);
    for (_, y, x) in itertools(1, 16, 32) {
        let inside = (12..20).contains(&x) && (6..10).contains(&y);
        let expected = if inside {
            1000 + (y - 6) * 32 + x - 12
        } else {
            0
        };
        let at = ((y * 32 + x) * 4) as usize;
        assert_eq!(global[at..at + 4], expected.to_le_bytes(), "{x} {y}");
    }
    for (at, dimension) in [([0, -2], 1), ([-4, 2], 0), ([-40, 3], 0)] {
        let coordinate = at[dimension];
        let expected = CopyError::NegativeStore {
            dimension,
            coordinate,
        };
        assert_eq!(plan(at), Err(expected));
    }
    assert!(matches!(
        plan([3, 2]),
        Err(CopyError::Unaligned { bytes: 12, .. })
    ));
    assert!(matches!(plan([19, 9]), Err(CopyError::Unaligned { .. })));
}

#[test]
fn stored_rows_end_at_the_next_multiple_of_16_bytes() {
    let map = TensorMap::tiled(MapElement::F32, BASE, &[31, 3], &[128], &[64, 2]).unwrap();
    let plan = Plan::new(&map, &[0, 0], 0, Direction::Store).unwrap();
    let mut global = vec![0; 512];
    store(&plan, &[1; 512], &mut global);
    assert_eq!(global[..256], [1; 256], "element 31 of each row is overrun");
    assert_eq!(global[256..], [0; 256]);
}

#[test]
fn tf32_is_rounded_on_load() {
    let cases = [
        (0x3f80_0fff, 0x3f80_0000),
        (0x3f80_1fff, 0x3f80_2000),
        (0x3f80_3fff, 0x3f80_4000),
        (0x0000_0001, 0),
        (0x807f_ffff, 0x8080_0000),
        (0x7f80_0001, 0x7fff_e000),
        (0x7fc0_1234, 0x7fff_e000),
        (0x7f80_0000, 0x7f80_0000),
        (0xff7f_ffff, 0xff80_0000),
        (0x3f80_1000, 0x3f80_0000),
        (0x3f80_3000, 0x3f80_4000),
        (0x0080_0fff, 0x0080_0000),
    ];
    for (bits, expected) in cases {
        assert_eq!(round_tf32(bits), expected, "{bits:08x}");
    }
    let global: Vec<u8> = cases
        .iter()
        .flat_map(|(bits, _)| bits.to_le_bytes())
        .collect();
    for (element, rounds) in [
        (MapElement::F32, false),
        (MapElement::F32Ftz, false),
        (MapElement::Tf32, true),
        (MapElement::Tf32Ftz, true),
    ] {
        let map = TensorMap::tiled(element, BASE, &[12], &[], &[12]).unwrap();
        let plan = Plan::new(&map, &[0], 0, Direction::Load).unwrap();
        let mut shared = vec![0; 48];
        load(&plan, &global, &mut shared);
        for (word, (bits, rounded)) in shared.chunks(4).zip(cases) {
            let expected = if rounds { rounded } else { bits };
            assert_eq!(*word, expected.to_le_bytes(), "{element}");
        }
    }
}
