use proptest::prelude::*;

use super::*;
use crate::{
    formats::narrow::{BF16, F16, Format, Modifiers},
    isa::float::exact,
};

fn check_nearest(bits: u32) {
    let x = f32::from_bits(bits);
    let encode = |format: &Format| {
        format.encode(x.into(), Rounding::NearestEven, Modifiers::default()) as u16
    };
    assert_eq!(nearest(Kind::F16, x), encode(&F16), "f16 of {bits:08x}");
    assert_eq!(nearest(Kind::Bf16, x), encode(&BF16), "bf16 of {bits:08x}");
}

/// Every exponent, and around each of the places where rounding turns.
#[test]
fn nearest_is_the_formats_own_rounding() {
    for upper in 0..=0xffffu32 {
        for lower in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
            check_nearest(upper << 16 | lower);
        }
    }
    for step in 0..1u32 << 17 {
        for near in [-1i32, 0, 1] {
            check_nearest((0x3300_0000 + (step << 12)).wrapping_add_signed(near));
        }
    }
}

fn finish(kind: Kind) -> Finish {
    Finish {
        kind,
        pair: false,
        ftz: false,
        sat: false,
        relu: false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn nearest_of_any_value(bits in any::<u32>()) {
        check_nearest(bits);
    }

    #[test]
    fn sums_and_fused_products_round_once(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
        for (kind, format) in [(Kind::F16, &F16), (Kind::Bf16, &BF16)] {
            let finish = finish(kind);
            let [x, y, z] = [a, b, c].map(|bits| finish.widen(bits));
            let nearest = Rounding::NearestEven;
            let exactly =
                |value: exact::Exact| value.to(format, nearest, Modifiers::default()) as u16;
            prop_assert_eq!(finish.round(x + y), exactly(exact::add(x, y, nearest)));
            prop_assert_eq!(finish.round(x * y), exactly(exact::mul(x, y)));
            let fused = finish.round(add_odd(x * y, z));
            prop_assert_eq!(fused, exactly(exact::fma(x, y, z, nearest)));
        }
    }
}
