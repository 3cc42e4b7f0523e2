//! Conversions measured on an H200, decoding tables, and the encoder against a search over the whole table.

use super::*;
use proptest::prelude::*;

// Each list: source f32 bits, then the lower half of what `cvt` wrote for it.
const TF32_RNA: &str = "\
     3f801000:3f802000 3f800fff:3f800000 3f801001:3f802000 3f803000:3f804000 \
     7f7fffff:7f800000 7f800000:7f800000 ff800000:ff800000 7fc00000:7fc00000 \
     7f800001:7f800000 ffc12345:ffc12000 00000001:0 00001000:2000 007fffff:800000 \
     80000000:80000000 bf801000:bf802000 477ff000:47800000 477fefff:477fe000 \
     33000000:33000000 33000001:33000000";

const TF32_RNA_SAT: &str = "\
     3f801000:3f802000 3f800fff:3f800000 3f801001:3f802000 3f803000:3f804000 \
     7f7fffff:7f7fe000 7f800000:7f7fe000 ff800000:ff7fe000 7fc00000:7fbfe000 \
     7f800001:7f7fe000 ffc12345:ffc10000 00000001:0 00001000:2000 007fffff:800000 \
     80000000:80000000 bf801000:bf802000 477ff000:47800000 477fefff:477fe000 \
     33000000:33000000 33000001:33000000";

const TF32_RN: &str = "\
     3f801000:3f800000 3f800fff:3f800000 3f801001:3f802000 3f803000:3f804000 \
     7f7fffff:7f800000 7f800000:7f800000 ff800000:ff800000 7fc00000:7fffe000 \
     7f800001:7fffe000 ffc12345:7fffe000 00000001:0 00001000:0 007fffff:800000 \
     80000000:80000000 bf801000:bf800000 477ff000:47800000 477fefff:477fe000 \
     33000000:33000000 33000001:33000000";

const TF32_RZ: &str = "\
     3f801000:3f800000 3f800fff:3f800000 3f801001:3f800000 3f803000:3f802000 \
     7f7fffff:7f7fe000 7f800000:7f800000 ff800000:ff800000 7fc00000:7fffe000 \
     7f800001:7fffe000 ffc12345:7fffe000 00000001:0 00001000:0 007fffff:7fe000 \
     80000000:80000000 bf801000:bf800000 477ff000:477fe000 477fefff:477fe000 \
     33000000:33000000 33000001:33000000";

const TF32_RN_RELU: &str = "\
     3f801000:3f800000 3f800fff:3f800000 3f801001:3f802000 3f803000:3f804000 \
     7f7fffff:7f800000 7f800000:7f800000 ff800000:0 7fc00000:7fffe000 7f800001:7fffe000 \
     ffc12345:7fffe000 00000001:0 00001000:0 007fffff:800000 80000000:0 bf801000:0 \
     477ff000:47800000 477fefff:477fe000 33000000:33000000 33000001:33000000";

const F16X2: &str = "\
     3f801000:3c00 3f800fff:3c00 3f801001:3c01 3f803000:3c02 7f7fffff:7c00 7f800000:7c00 \
     ff800000:fc00 7fc00000:7fff 7f800001:7fff ffc12345:7fff 00000001:0 00001000:0 \
     007fffff:0 80000000:8000 bf801000:bc00 477ff000:7c00 477fefff:7bff 33000000:0 \
     33000001:1";

const F16X2_RELU: &str = "\
     3f801000:3c00 3f800fff:3c00 3f801001:3c01 3f803000:3c02 7f7fffff:7c00 7f800000:7c00 \
     ff800000:0 7fc00000:7fff 7f800001:7fff ffc12345:7fff 00000001:0 00001000:0 \
     007fffff:0 80000000:0 bf801000:0 477ff000:7c00 477fefff:7bff 33000000:0 33000001:1";

const F16X2_RZ: &str = "\
     3f801000:3c00 3f800fff:3c00 3f801001:3c00 3f803000:3c01 7f7fffff:7bff 7f800000:7c00 \
     ff800000:fc00 7fc00000:7fff 7f800001:7fff ffc12345:7fff 00000001:0 00001000:0 \
     007fffff:0 80000000:8000 bf801000:bc00 477ff000:7bff 477fefff:7bff 33000000:0 \
     33000001:0";

const BF16X2: &str = "\
     3f801000:3f80 3f800fff:3f80 3f801001:3f80 3f803000:3f80 7f7fffff:7f80 7f800000:7f80 \
     ff800000:ff80 7fc00000:7fff 7f800001:7fff ffc12345:7fff 00000001:0 00001000:0 \
     007fffff:80 80000000:8000 bf801000:bf80 477ff000:4780 477fefff:4780 33000000:3300 \
     33000001:3300";

const BF16X2_RZ: &str = "\
     3f801000:3f80 3f800fff:3f80 3f801001:3f80 3f803000:3f80 7f7fffff:7f7f 7f800000:7f80 \
     ff800000:ff80 7fc00000:7fff 7f800001:7fff ffc12345:7fff 00000001:0 00001000:0 \
     007fffff:7f 80000000:8000 bf801000:bf80 477ff000:477f 477fefff:477f 33000000:3300 \
     33000001:3300";

const BF16X2_RELU: &str = "\
     3f801000:3f80 3f800fff:3f80 3f801001:3f80 3f803000:3f80 7f7fffff:7f80 7f800000:7f80 \
     ff800000:0 7fc00000:7fff 7f800001:7fff ffc12345:7fff 00000001:0 00001000:0 \
     007fffff:80 80000000:0 bf801000:0 477ff000:4780 477fefff:4780 33000000:3300 \
     33000001:3300";

const E4M3: &str = "\
     3f880000:38 3f980000:3a 43e00000:7e 43e78000:7e 43e80000:7e 43e88000:7e 43f00000:7e \
     7149f2ca:7e f149f2ca:fe 3a800000:0 3a800001:1 3ac00000:1 3b000000:1 3c800000:8 \
     47600000:7e 476fff00:7e 47700000:7e 47800000:7e 37800000:0 37000000:0 37012f40:0 \
     80000000:80 bf800000:b8 7f800000:7e ff800000:fe 7fc00000:7f ffc00000:7f";

const E5M2: &str = "\
     3f880000:3c 3f980000:3d 43e00000:5f 43e78000:5f 43e80000:5f 43e88000:5f 43f00000:60 \
     7149f2ca:7b f149f2ca:fb 3a800000:14 3a800001:14 3ac00000:16 3b000000:18 3c800000:24 \
     47600000:7b 476fff00:7b 47700000:7b 47800000:7b 37800000:1 37000000:0 37012f40:1 \
     80000000:80 bf800000:bc 7f800000:7b ff800000:fb 7fc00000:7f ffc00000:7f";

const E4M3_RELU: &str = "\
     3f880000:38 3f980000:3a 43e00000:7e 43e78000:7e 43e80000:7e 43e88000:7e 43f00000:7e \
     7149f2ca:7e f149f2ca:0 3a800000:0 3a800001:1 3ac00000:1 3b000000:1 3c800000:8 \
     47600000:7e 476fff00:7e 47700000:7e 47800000:7e 37800000:0 37000000:0 37012f40:0 \
     80000000:0 bf800000:0 7f800000:7e ff800000:0 7fc00000:7f ffc00000:7f";

const PLAIN: Modifiers = Modifiers {
    relu: false,
    satfinite: false,
};
const RELU: Modifiers = Modifiers {
    relu: true,
    satfinite: false,
};
const SATFINITE: Modifiers = Modifiers {
    relu: false,
    satfinite: true,
};

fn check(measured: &str, convert: impl Fn(u32) -> u32) {
    for pair in measured.split_whitespace() {
        let (source, expected) = pair.split_once(':').expect("a pair");
        let source = u32::from_str_radix(source, 16).expect("hexadecimal");
        let expected = u32::from_str_radix(expected, 16).expect("hexadecimal");
        let got = convert(source);
        assert_eq!(
            got, expected,
            "{source:08x}: got {got:x}, measured {expected:x}"
        );
    }
}

#[test]
fn tf32_as_measured() {
    check(TF32_RNA, |x| f32_to_tf32(x, Rounding::NearestAway, PLAIN));
    check(TF32_RNA_SAT, |x| {
        f32_to_tf32(x, Rounding::NearestAway, SATFINITE)
    });
    check(TF32_RN, |x| f32_to_tf32(x, Rounding::NearestEven, PLAIN));
    check(TF32_RZ, |x| f32_to_tf32(x, Rounding::TowardZero, PLAIN));
    check(TF32_RN_RELU, |x| {
        f32_to_tf32(x, Rounding::NearestEven, RELU)
    });
}

#[test]
fn sixteen_bits_as_measured() {
    check(F16X2, |x| {
        f32_to_f16(x, Rounding::NearestEven, PLAIN).into()
    });
    check(F16X2_RELU, |x| {
        f32_to_f16(x, Rounding::NearestEven, RELU).into()
    });
    check(F16X2_RZ, |x| {
        f32_to_f16(x, Rounding::TowardZero, PLAIN).into()
    });
    check(BF16X2, |x| {
        f32_to_bf16(x, Rounding::NearestEven, PLAIN).into()
    });
    check(BF16X2_RZ, |x| {
        f32_to_bf16(x, Rounding::TowardZero, PLAIN).into()
    });
    check(BF16X2_RELU, |x| {
        f32_to_bf16(x, Rounding::NearestEven, RELU).into()
    });
}

#[test]
fn eight_bits_as_measured() {
    check(E4M3, |x| f32_to_e4m3(x, false).into());
    check(E5M2, |x| f32_to_e5m2(x, false).into());
    check(E4M3_RELU, |x| f32_to_e4m3(x, true).into());
}

#[test]
fn tables_have_the_documented_values() {
    assert_eq!(E2M1_VALUES[..8], [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    for (code, &value) in E2M1_VALUES[..8].iter().enumerate() {
        assert_eq!(E2M1_VALUES[code | 8].to_bits(), (-value).to_bits());
    }
    assert_eq!((E2M3_VALUES[0x1f], E2M3_VALUES[1]), (7.5, 0.125));
    assert_eq!((E2M3_VALUES[8], E2M3_VALUES[0x3f]), (1.0, -7.5));
    assert_eq!((E3M2_VALUES[0x1f], E3M2_VALUES[1]), (28.0, 0.0625));
    assert_eq!((E3M2_VALUES[4], E3M2_VALUES[0x3f]), (0.25, -28.0));
    assert_eq!((E4M3_VALUES[0x7e], E4M3_VALUES[0xfe]), (448.0, -448.0));
    assert_eq!(
        (E4M3_VALUES[8], E4M3_VALUES[1]),
        (2f32.powi(-6), 2f32.powi(-9))
    );
    assert!(E4M3_VALUES[0x7f].is_nan() && E4M3_VALUES[0xff].is_nan());
    assert_eq!(
        (E5M2_VALUES[0x7b], E5M2_VALUES[0x7c]),
        (57344.0, f32::INFINITY)
    );
    assert_eq!(
        (E5M2_VALUES[4], E5M2_VALUES[1]),
        (2f32.powi(-14), 2f32.powi(-16))
    );
    assert_eq!(E5M2_VALUES[0xfc], f32::NEG_INFINITY);
    assert!(
        [0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff]
            .iter()
            .all(|&code: &usize| E5M2_VALUES[code].is_nan())
    );
    assert_eq!((UE4M3_VALUES[0xfe], UE4M3_VALUES[0x38]), (448.0, 1.0));
    assert_eq!(ue8m0_to_f32(0), 2f32.powi(-127));
    assert_eq!(
        (ue8m0_to_f32(127), ue8m0_to_f32(254)),
        (1.0, 2f32.powi(127))
    );
    assert!(ue8m0_to_f32(255).is_nan());
}

#[test]
fn quick_decoders_agree_with_the_format() {
    for code in 0..=u16::MAX {
        for (quick, exact) in [
            (f16_to_f32(code), F16.decode(code.into())),
            (bf16_to_f32(code), BF16.decode(code.into())),
        ] {
            if exact.is_nan() {
                assert!(quick.is_nan(), "{code:04x}");
            } else {
                assert_eq!(quick.to_bits(), exact.to_bits(), "{code:04x}");
            }
        }
    }
}

#[test]
fn scales_take_the_exponent_of_the_magnitude() {
    let rz = |x: f32| f32_to_ue8m0(x.to_bits(), false, false);
    let rp = |x: f32| f32_to_ue8m0(x.to_bits(), true, true);
    assert_eq!((rz(1.0), rz(1.99), rz(-4.0), rz(0.0)), (127, 127, 129, 0));
    assert_eq!((rp(1.0), rp(1.01), rp(-4.1), rp(0.0)), (127, 128, 130, 0));
    // 2^-127 itself is pattern 00, one step above it is not.
    assert_eq!(f32_to_ue8m0(0x0040_0000, true, true), 0);
    assert_eq!(f32_to_ue8m0(0x0040_0001, true, true), 1);
    assert_eq!(
        (rz(f32::INFINITY), rp(f32::INFINITY), rp(f32::MAX)),
        (0xff, 0xfe, 0xfe)
    );
    assert_eq!((rz(f32::NAN), rp(f32::NAN)), (0xff, 0xff));
}

#[test]
fn nan_becomes_the_largest_value_where_there_is_no_nan() {
    let nan = f32::NAN.to_bits();
    assert_eq!(
        (
            f32_to_e2m3(nan, false),
            f32_to_e3m2(nan, true),
            f32_to_e2m1(nan, false)
        ),
        (0x1f, 0x1f, 7)
    );
    assert_eq!(
        (
            f32_to_e2m1((-100f32).to_bits(), false),
            f32_to_e2m1((-100f32).to_bits(), true)
        ),
        (0xf, 0)
    );
}

#[test]
fn directed_roundings_overflow_to_one_side_only() {
    let big = 70000f32.to_bits();
    let small = (-70000f32).to_bits();
    assert_eq!(f32_to_f16(big, Rounding::Up, PLAIN), 0x7c00);
    assert_eq!(f32_to_f16(big, Rounding::Down, PLAIN), 0x7bff);
    assert_eq!(f32_to_f16(small, Rounding::Up, PLAIN), 0xfbff);
    assert_eq!(f32_to_f16(small, Rounding::Down, PLAIN), 0xfc00);
    assert_eq!(f32_to_f16(big, Rounding::Up, SATFINITE), 0x7bff);
    // The smallest f64 still rounds up to the smallest f16, and only under `.rp`.
    assert_eq!(f64_to_f16(1, Rounding::Up, PLAIN), 1);
    assert_eq!(f64_to_f16(1, Rounding::NearestEven, PLAIN), 0);
    assert_eq!(f64_to_f16(1 | 1 << 63, Rounding::Down, PLAIN), 0x8001);
}

/// The pattern a rounding has to give, found by looking at every finite magnitude of the format.
fn search(format: &Format, value: f64, rounding: Rounding) -> u32 {
    let magnitude = value.abs();
    let below = (0..=format.max_finite)
        .rev()
        .find(|&code| f64::from(format.decode(code)) <= magnitude)
        .expect("zero is below everything");
    let low = f64::from(format.decode(below));
    let sign = if value.is_sign_negative() {
        1 << (format.bits() - 1)
    } else {
        0
    };
    if low == magnitude {
        return sign | below;
    }
    let high = f64::from(format.decode(below + 1));
    let up = match rounding {
        Rounding::TowardZero => false,
        Rounding::Down => value < 0.0,
        Rounding::Up => value > 0.0,
        Rounding::NearestEven | Rounding::NearestAway => {
            let middle = f64::midpoint(low, high);
            let tie = rounding == Rounding::NearestAway || below & 1 == 1;
            magnitude > middle || magnitude == middle && tie
        }
    };
    sign | (below + u32::from(up))
}

fn rounding() -> impl Strategy<Value = Rounding> {
    prop_oneof![
        Just(Rounding::NearestEven),
        Just(Rounding::NearestAway),
        Just(Rounding::TowardZero),
        Just(Rounding::Down),
        Just(Rounding::Up),
    ]
}

proptest! {
    /// Below the largest value, the encoder agrees with a search over the table of the format.
    #[test]
    fn encoding_is_the_neighbour_the_rounding_asks_for(
        which in 0usize..5,
        code in 0u32..128,
        fraction in prop_oneof![Just(0.0), Just(0.5), Just(0.25), 0.0f64..1.0],
        negative: bool,
        rounding in rounding(),
    ) {
        let format = [super::E4M3, super::E5M2, E2M3, E3M2, E2M1][which];
        let code = code % format.max_finite;
        let low = f64::from(format.decode(code));
        let magnitude = low + fraction * (f64::from(format.decode(code + 1)) - low);
        let value = if negative { -magnitude } else { magnitude };
        prop_assert_eq!(format.encode(value, rounding, PLAIN), search(&format, value, rounding));
    }

    /// Rounding an f64 to f32 to nearest is what the host does; decoding takes every pattern back to itself.
    #[test]
    fn f32_rounding_agrees_with_the_host(bits: u64, code: u32) {
        let value = f64::from_bits(bits);
        if !value.is_nan() {
            prop_assert_eq!(f64_to_f32(bits, Rounding::NearestEven, PLAIN), (value as f32).to_bits());
        }
        for format in [F32, F16, BF16, super::E4M3, super::E5M2, E2M3, E3M2, E2M1] {
            let code = code & ((1u64 << format.bits()) - 1) as u32;
            let value = format.decode(code);
            if !value.is_nan() {
                prop_assert_eq!(format.encode(value.into(), Rounding::Down, PLAIN), code);
            }
        }
    }
}
