//! `cvt` beyond what was measured.

use super::harness::{expect, expect1, expect2, f, g, refused};

#[test]
fn integers_are_cut_extended_or_saturated() {
    expect1(
        "cvt.s64.s32 %d0, %a;",
        "%d0",
        &[(0xffff_ffff, u64::MAX), (5, 5)],
    );
    expect1("cvt.u64.u32 %d0, %a;", "%d0", &[(0xffff_ffff, 0xffff_ffff)]);
    expect1("cvt.u32.u64 %r0, %ad;", "%r0", &[(0x5_0000_0007, 7)]);
    // The source's width counts, not the register's.
    expect1(
        "cvt.s32.s8 %r0, %a;",
        "%r0",
        &[(0x1ff, 0xffff_ffff), (0x17f, 0x7f)],
    );
    expect1("cvt.u32.u8 %r0, %a;", "%r0", &[(0x1ff, 0xff)]);
    expect1("cvt.s64.u32 %d0, %a;", "%d0", &[(0xffff_ffff, 0xffff_ffff)]);
    expect1("cvt.u64.s32 %d0, %a;", "%d0", &[(0xffff_ffff, u64::MAX)]);
    // A wider register holds the result extended by its own sign.
    expect1(
        "cvt.s8.s32 %r0, %a;",
        "%r0",
        &[(0x80, 0xffff_ff80), (0x17f, 0x7f)],
    );
    expect1("cvt.u8.s32 %r0, %a;", "%r0", &[(0xffff_ff80, 0x80)]);
    expect1(
        "cvt.sat.u8.s32 %r0, %a;",
        "%r0",
        &[(0xffff_ffff, 0), (300, 255), (7, 7)],
    );
    expect1(
        "cvt.sat.s16.s32 %h0, %a;",
        "%h0",
        &[(0x8000, 0x7fff), (0xffff_0000, 0x8000)],
    );
    expect1(
        "cvt.sat.u32.s64 %r0, %ad;",
        "%r0",
        &[(u64::MAX, 0), (1 << 40, 0xffff_ffff)],
    );
    expect1(
        "cvt.sat.s32.u64 %r0, %ad;",
        "%r0",
        &[(u64::MAX, 0x7fff_ffff)],
    );
    expect1("cvt.sat.u64.s64 %d0, %ad;", "%d0", &[(u64::MAX, 0), (9, 9)]);
}

#[test]
fn integers_become_floats_in_every_rounding() {
    // 2^24 + 1 lies in the middle of two f32, 2^24 + 3 as well.
    let (one, three) = ((1 << 24) + 1, (1 << 24) + 3);
    let at = |n: u64| f(16_777_216.0) + n;
    expect1(
        "cvt.rn.f32.u32 %r0, %a;",
        "%r0",
        &[(one, at(0)), (three, at(2)), (0xffff_ffff, f(4294967296.0))],
    );
    expect1(
        "cvt.rz.f32.u32 %r0, %a;",
        "%r0",
        &[(one, at(0)), (three, at(1))],
    );
    expect1(
        "cvt.rp.f32.u32 %r0, %a;",
        "%r0",
        &[(one, at(1)), (three, at(2))],
    );
    expect1(
        "cvt.rm.f32.s32 %r0, %a;",
        "%r0",
        &[(one, at(0)), (0xffff_ffff, f(-1.0))],
    );
    expect1(
        "cvt.rn.f32.s32 %r0, %a;",
        "%r0",
        &[(0x8000_0000, f(-2_147_483_648.0))],
    );
    expect1(
        "cvt.rn.f64.u64 %d0, %ad;",
        "%d0",
        &[(u64::MAX, g(18_446_744_073_709_551_616.0))],
    );
    expect1(
        "cvt.rz.f64.u64 %d0, %ad;",
        "%d0",
        &[(u64::MAX, g(18_446_744_073_709_551_616.0) - 1)],
    );
    expect1("cvt.rn.f64.s32 %d0, %a;", "%d0", &[(0xffff_fffe, g(-2.0))]);
    expect1(
        "cvt.rn.f16.s32 %h0, %a;",
        "%h0",
        &[(2049, 0x6800), (2051, 0x6802), (65520, 0x7c00)],
    );
    expect1("cvt.rz.f16.u64 %h0, %ad;", "%h0", &[(u64::MAX, 0x7bff)]);
    expect1("cvt.rn.bf16.u16 %h0, %ah;", "%h0", &[(257, 0x4380)]);
    expect1(
        "cvt.rn.sat.f32.s32 %r0, %a;",
        "%r0",
        &[(7, f(1.0)), (0xffff_ffff, 0)],
    );
    // Rounding to f64 first would make a tie of this one.
    expect1(
        "cvt.rn.f32.u64 %r0, %ad;",
        "%r0",
        &[((1 << 60) + (1 << 36) + 1, f(2f32.powi(60)) + 1)],
    );
}

#[test]
fn floats_become_integers_in_every_rounding() {
    expect1(
        "cvt.rmi.s32.f32 %r0, %a;",
        "%r0",
        &[(f(-1.5), 0xffff_fffe), (f(1.5), 1)],
    );
    expect1(
        "cvt.rpi.s32.f32 %r0, %a;",
        "%r0",
        &[(f(-1.5), 0xffff_ffff), (f(1.5), 2)],
    );
    expect1("cvt.rpi.ftz.s32.f32 %r0, %a;", "%r0", &[(1, 0)]);
    expect1("cvt.rpi.s32.f32 %r0, %a;", "%r0", &[(1, 1)]);
    expect1(
        "cvt.rzi.u64.f32 %d0, %a;",
        "%d0",
        &[(f(1e30), u64::MAX), (f(-5.0), 0), (f(f32::NAN), 1 << 63)],
    );
    expect1(
        "cvt.rni.s64.f64 %d0, %ad;",
        "%d0",
        &[(g(-2.5), 2u64.wrapping_neg())],
    );
    expect1(
        "cvt.rzi.s32.f64 %r0, %ad;",
        "%r0",
        &[(g(1e10), 0x7fff_ffff), (g(f64::NAN), 1 << 31)],
    );
    expect1(
        "cvt.rni.s32.f16 %r0, %ah;",
        "%r0",
        &[(0x4100, 2), (0xc100, 0xffff_fffe)],
    );
    expect1("cvt.rzi.u16.bf16 %h0, %ah;", "%h0", &[(0x4060, 3)]);
}

#[test]
fn floats_become_floats() {
    expect1(
        "cvt.f32.f16 %r0, %ah;",
        "%r0",
        &[
            (0x3c00, f(1.0)),
            (1, f(2f32.powi(-24))),
            (0xfc00, f(f32::NEG_INFINITY)),
            (0xfe00, 0x7fff_ffff),
        ],
    );
    expect1("cvt.f32.bf16 %r0, %ah;", "%r0", &[(0xbfc0, f(-1.5))]);
    expect1(
        "cvt.f64.f32 %d0, %a;",
        "%d0",
        &[(f(0.1), g(f64::from(0.1f32))), (1, g(2f64.powi(-149)))],
    );
    expect1("cvt.ftz.f64.f32 %d0, %a;", "%d0", &[(1, 0)]);
    expect1(
        "cvt.rn.f32.f64 %r0, %ad;",
        "%r0",
        &[(g(0.1), f(0.1)), (g(1e300), f(f32::INFINITY))],
    );
    expect1(
        "cvt.rz.f32.f64 %r0, %ad;",
        "%r0",
        &[(g(1e300), f(f32::MAX))],
    );
    expect1(
        "cvt.rn.ftz.f32.f64 %r0, %ad;",
        "%r0",
        &[(g(-1e-40), 0x8000_0000)],
    );
    expect1(
        "cvt.rn.f16.f32 %h0, %a;",
        "%h0",
        &[(f(1.0), 0x3c00), (f(65520.0), 0x7c00), (1, 0)],
    );
    expect1(
        "cvt.rn.satfinite.f16.f32 %h0, %a;",
        "%h0",
        &[(f(1e9), 0x7bff)],
    );
    expect1("cvt.rp.f16.f32 %h0, %a;", "%h0", &[(1, 1)]);
    expect1(
        "cvt.rn.bf16.f32 %h0, %a;",
        "%h0",
        &[(f(1.0), 0x3f80), (0x3f80_8001, 0x3f81)],
    );
    expect1("cvt.rn.relu.bf16.f32 %h0, %a;", "%h0", &[(f(-1.0), 0)]);
    expect1(
        "cvt.rn.sat.f16.f64 %h0, %ad;",
        "%h0",
        &[(g(3.0), 0x3c00), (g(f64::NAN), 0)],
    );
    expect1(
        "cvt.rmi.f32.f32 %r0, %a;",
        "%r0",
        &[(f(-1.5), f(-2.0)), (f(-0.0), f(-0.0))],
    );
    expect1("cvt.rpi.f64.f64 %d0, %ad;", "%d0", &[(g(1.25), g(2.0))]);
    expect1("cvt.rzi.f16.f16 %h0, %ah;", "%h0", &[(0x3e00, 0x3c00)]);
    expect1(
        "cvt.ftz.f32.f32 %r0, %a;",
        "%r0",
        &[(0x8000_0001, 0x8000_0000)],
    );
    expect1("cvt.rz.f16.bf16 %h0, %ah;", "%h0", &[(0x3f80, 0x3c00)]);
}

#[test]
fn pairs_of_narrow_floats() {
    let narrow = "cvt.rn.satfinite";
    expect1(
        &format!("{narrow}.e4m3x2.f16x2 %h0, %a;"),
        "%h0",
        &[(0x3c00_4000, 0x3840)],
    );
    expect1(
        &format!("{narrow}.e5m2x2.f16x2 %h0, %a;"),
        "%h0",
        &[(0xfc00_3c00, 0xfb3c)],
    );
    expect1(
        "cvt.rn.f16x2.e4m3x2 %r0, %ah;",
        "%r0",
        &[(0x3840, 0x3c00_4000), (0x7f01, 0x7fff_1800)],
    );
    expect1(
        "cvt.rn.f16x2.e5m2x2 %r0, %ah;",
        "%r0",
        &[(0xfc3c, 0xfc00_3c00)],
    );
    expect1("cvt.rn.relu.f16x2.e4m3x2 %r0, %ah;", "%r0", &[(0xb8b8, 0)]);
    let body = format!("{narrow}.e2m1x2.f32 %h0, %a, %b;");
    expect2(
        &body,
        "%h0",
        &[(f(6.0), f(-0.5), 0x79), (f(1e9), f(1.25), 0x72)],
    );
    expect1(
        "cvt.rn.f16x2.e2m1x2 %r0, %ah;",
        "%r0",
        &[(0x79, 0x4600_b800)],
    );
    let body = format!("{narrow}.e2m3x2.f32 %h0, %a, %b;");
    expect2(&body, "%h0", &[(f(7.5), f(-1.0), 0x1f28)]);
    let body = format!("{narrow}.e3m2x2.f32 %h0, %a, %b;");
    expect2(&body, "%h0", &[(f(28.0), f(f32::NAN), 0x1f1f)]);
    expect1(
        "cvt.rn.f16x2.e3m2x2 %r0, %ah;",
        "%r0",
        &[(0x1f2c, 0x4f00_bc00)],
    );
    expect2(
        "cvt.rz.ue8m0x2.f32 %h0, %a, %b;",
        "%h0",
        &[(f(1.5), f(2.0), 0x7f80)],
    );
    expect2(
        "cvt.rp.satfinite.ue8m0x2.f32 %h0, %a, %b;",
        "%h0",
        &[(f(1.5), f(f32::MAX), 0x80fe)],
    );
    expect1(
        "cvt.rp.ue8m0x2.bf16x2 %h0, %a;",
        "%h0",
        &[(0x3fc0_7fc0, 0x80ff)],
    );
    expect1(
        "cvt.rn.bf16x2.ue8m0x2 %r0, %ah;",
        "%r0",
        &[(0x7fff, 0x3f80_7fff), (0x0080, 0x0040_4000)],
    );
}

#[test]
fn packed_integers() {
    expect2(
        "cvt.pack.sat.s16.s32 %r0, %a, %b;",
        "%r0",
        &[(70000, 0xffff_0000, 0x7fff_8000)],
    );
    expect2(
        "cvt.pack.sat.u16.s32 %r0, %a, %b;",
        "%r0",
        &[(70000, 0xffff_0000, 0xffff_0000)],
    );
    expect(
        "cvt.pack.sat.u8.s32.b32 %r0, %a, %b, %c;",
        "%r0",
        &[([300, 7, 0x1234_5678], 0x5678_ff07)],
    );
    expect(
        "cvt.pack.sat.s4.s32.b32 %r0, %a, %b, %c;",
        "%r0",
        &[([100, 0xffff_ff00, 0xab], 0xab78)],
    );
}

#[test]
fn forms_that_do_not_exist_are_refused() {
    for (statement, sentence) in [
        ("cvt.f32.s32 %r0, %a;", "cvt.f32.s32: needs a rounding"),
        (
            "cvt.s32.f32 %r0, %a;",
            "cvt.s32.f32: needs .rni, .rzi, .rmi or .rpi",
        ),
        (
            "cvt.rn.f64.f32 %d0, %a;",
            "cvt.rn.f64.f32: does not have this rounding",
        ),
        ("cvt.f32.f64 %r0, %ad;", "cvt.f32.f64: needs a rounding"),
        (
            "cvt.relu.s32.s16 %r0, %ah;",
            "cvt.relu.s32.s16: .relu does not exist for these types",
        ),
        (
            "cvt.rn.e4m3x2.f32 %h0, %a, %b;",
            "cvt.rn.e4m3x2.f32: needs .satfinite",
        ),
        (
            "cvt.rs.f16x2.f32 %r0, %a, %b, %c;",
            "cvt.rs.f16x2.f32: needs a rounding",
        ),
        (
            "cvt.rn.e4m3x4.f32 %h0, %a, %b;",
            "cvt.rn.e4m3x4.f32: needs two types that are known",
        ),
        (
            "cvt.rn.rz.f32.s32 %r0, %a;",
            "cvt.rn.rz.f32.s32: .rz is not supported here",
        ),
    ] {
        assert_eq!(refused(statement), sentence);
    }
}
