//! Arithmetic of `.f16`, `.bf16` and pairs.

use super::harness::{expect, expect1, expect2, refused};

#[test]
fn results_are_rounded_once() {
    expect2(
        "add.f16 %h0, %ah, %bh;",
        "%h0",
        &[(0x3c00, 0x4000, 0x4200), (0x7bff, 0x7bff, 0x7c00)],
    );
    expect2("sub.f16 %h0, %ah, %bh;", "%h0", &[(0x3c00, 0x4000, 0xbc00)]);
    expect2(
        "mul.rn.f16 %h0, %ah, %bh;",
        "%h0",
        &[(0x3e00, 0x4000, 0x4200), (1, 0x3800, 0)],
    );
    // 1 + 2^-11 is a tie: to even, and up as soon as anything is added.
    expect(
        "fma.rn.f16 %h0, %ah, %bh, %ch;",
        "%h0",
        &[
            ([0x3c00, 0x1000, 0x3c00], 0x3c00),
            ([0x3c00, 0x1001, 0x3c00], 0x3c01),
        ],
    );
    // The product 1.00390625 is a tie of bf16; 2^-100 is far below what f64 keeps beside it.
    expect(
        "fma.rn.bf16 %h0, %ah, %bh, %ch;",
        "%h0",
        &[
            ([0x3f83, 0x3f7d, 0], 0x3f81),
            ([0x3f90, 0x3f8a, 0], 0x3f9b),
            ([0x3f88, 0x3f88, 0], 0x3f90),
            ([0x3f88, 0x3f88, 0x0d80], 0x3f91),
            ([0x3f88, 0x3f88, 0x8d80], 0x3f90),
        ],
    );
    expect2(
        "add.rn.bf16 %h0, %ah, %bh;",
        "%h0",
        &[(0x3f80, 0x3b80, 0x3f80), (0x3f81, 0x3b80, 0x3f82)],
    );
}

#[test]
fn pairs_go_half_by_half() {
    expect2(
        "add.f16x2 %r0, %a, %b;",
        "%r0",
        &[(0x3c00_4000, 0x4000_3c00, 0x4200_4200)],
    );
    expect(
        "fma.rn.f16x2 %r0, %a, %b, %c;",
        "%r0",
        &[([0x4000_4200, 0x4200_4200, 0x3c00_bc00], 0x4700_4800)],
    );
    expect2(
        "mul.bf16x2 %r0, %a, %b;",
        "%r0",
        &[(0x4000_4040, 0x4000_3f80, 0x4080_4040)],
    );
    expect1("neg.bf16x2 %r0, %a;", "%r0", &[(0x3f80_bf80, 0xbf80_3f80)]);
    expect1("abs.f16x2 %r0, %a;", "%r0", &[(0xbc00_fe00, 0x3c00_7fff)]);
}

#[test]
fn modifiers() {
    expect2(
        "add.sat.f16 %h0, %ah, %bh;",
        "%h0",
        &[(0x3c00, 0x3c00, 0x3c00), (0xbc00, 0, 0), (0x7e00, 0, 0)],
    );
    expect2(
        "add.ftz.f16 %h0, %ah, %bh;",
        "%h0",
        &[(0x8001, 0x8001, 0x8000), (1, 0x3c00, 0x3c00)],
    );
    expect2("add.f16 %h0, %ah, %bh;", "%h0", &[(1, 1, 2)]);
    expect(
        "fma.rn.relu.bf16x2 %r0, %a, %b, %c;",
        "%r0",
        &[([0xbf80_7fc0, 0x3f80_3f80, 0], 0x0000_7fff)],
    );
}

#[test]
fn minima_and_maxima_follow_f32() {
    expect2(
        "max.f16 %h0, %ah, %bh;",
        "%h0",
        &[
            (0x8000, 0, 0),
            (0x7e00, 0x3c00, 0x3c00),
            (0x7e00, 0xfe01, 0x7fff),
        ],
    );
    expect2(
        "min.NaN.bf16x2 %r0, %a, %b;",
        "%r0",
        &[(0x7fc0_3f80, 0x3f80_4000, 0x7fff_3f80)],
    );
    expect2(
        "max.xorsign.abs.f16 %h0, %ah, %bh;",
        "%h0",
        &[(0xbc00, 0x4000, 0xc000)],
    );
}

#[test]
fn functions() {
    expect1(
        "ex2.approx.f16 %h0, %ah;",
        "%h0",
        &[(0x4200, 0x4800), (0xfc00, 0)],
    );
    expect1(
        "ex2.approx.ftz.bf16x2 %r0, %a;",
        "%r0",
        &[(0x4040_3f80, 0x4100_4000)],
    );
    expect1(
        "tanh.approx.f16x2 %r0, %a;",
        "%r0",
        &[(0x7c00_fc00, 0x3c00_bc00)],
    );
    expect1(
        "tanh.approx.bf16 %h0, %ah;",
        "%h0",
        &[(0, 0), (0x7fc0, 0x7fff)],
    );
}

#[test]
fn forms_that_do_not_exist_are_refused() {
    assert_eq!(
        refused("add.rz.f16 %h0, %ah, %bh;"),
        "add.rz.f16: only .rn exists for 16-bit types"
    );
    assert_eq!(
        refused("mul.relu.f16 %h0, %ah, %bh;"),
        "mul.relu.f16: does not know .relu"
    );
    assert_eq!(
        refused("add.sat.bf16 %h0, %ah, %bh;"),
        "add.sat.bf16: .bf16 knows neither .ftz nor .sat"
    );
}
