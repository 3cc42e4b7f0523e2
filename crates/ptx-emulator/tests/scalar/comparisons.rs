//! `setp`, `set`, `selp`, `slct`.

use super::harness::{expect, expect2, f, g, refused};

const NAN: u64 = 0x7fc0_0000;

#[test]
fn integers_compare_by_their_type() {
    expect2(
        "setp.lt.s32 %p0, %a, %b;",
        "%p0",
        &[(0xffff_ffff, 0, 1), (0, 0xffff_ffff, 0)],
    );
    expect2(
        "setp.lt.u32 %p0, %a, %b;",
        "%p0",
        &[(0xffff_ffff, 0, 0), (0, 0xffff_ffff, 1)],
    );
    expect2("setp.hs.u32 %p0, %a, %b;", "%p0", &[(5, 5, 1), (4, 5, 0)]);
    expect2(
        "setp.ne.b64 %p0, %ad, %bd;",
        "%p0",
        &[(1 << 40, 0, 1), (7, 7, 0)],
    );
    expect2(
        "setp.le.s16 %p0, %ah, %bh;",
        "%p0",
        &[(0x8000, 0, 1), (1, 0, 0)],
    );
    // Bits above the type do not count.
    expect2("setp.eq.b16 %p0, %ah, %bh;", "%p0", &[(0x1_0005, 5, 1)]);
}

#[test]
fn floats_compare_ordered_and_unordered() {
    let rows = [
        (f(1.0), f(2.0)),
        (f(2.0), f(2.0)),
        (f(2.0), f(1.0)),
        (NAN, f(1.0)),
        (f(1.0), NAN),
    ];
    for (name, answers) in [
        ("eq", [0, 1, 0, 0, 0]),
        ("ne", [1, 0, 1, 0, 0]),
        ("lt", [1, 0, 0, 0, 0]),
        ("le", [1, 1, 0, 0, 0]),
        ("gt", [0, 0, 1, 0, 0]),
        ("ge", [0, 1, 1, 0, 0]),
        ("equ", [0, 1, 0, 1, 1]),
        ("neu", [1, 0, 1, 1, 1]),
        ("ltu", [1, 0, 0, 1, 1]),
        ("leu", [1, 1, 0, 1, 1]),
        ("gtu", [0, 0, 1, 1, 1]),
        ("geu", [0, 1, 1, 1, 1]),
        ("num", [1, 1, 1, 0, 0]),
        ("nan", [0, 0, 0, 1, 1]),
    ] {
        let cases: Vec<_> = rows
            .iter()
            .zip(answers)
            .map(|(&(a, b), out)| (a, b, out))
            .collect();
        expect2(&format!("setp.{name}.f32 %p0, %a, %b;"), "%p0", &cases);
    }
    expect2(
        "setp.eq.f32 %p0, %a, %b;",
        "%p0",
        &[(f(0.0), f(-0.0), 1), (1, 0, 0)],
    );
    expect2("setp.eq.ftz.f32 %p0, %a, %b;", "%p0", &[(1, 0, 1)]);
    expect2(
        "setp.lt.f64 %p0, %ad, %bd;",
        "%p0",
        &[(g(1.0), g(1.5), 1), (g(f64::NAN), 0, 0)],
    );
    expect2(
        "setp.gt.f16 %p0, %ah, %bh;",
        "%p0",
        &[(0x4000, 0x3c00, 1), (0x7e00, 0, 0)],
    );
    expect2("setp.lt.bf16 %p0, %ah, %bh;", "%p0", &[(0xbf80, 0x3f80, 1)]);
}

#[test]
fn answers_combine_and_have_an_opposite() {
    let with = "setp.ne.u32 %p1, %c, 0;";
    let table = |name: &str| format!("{with} setp.lt.{name}.s32 %p0|%p2, %a, %b, %p1;");
    expect(
        &table("and"),
        "%p0",
        &[([1, 2, 1], 1), ([1, 2, 0], 0), ([2, 1, 1], 0)],
    );
    expect(
        &table("and"),
        "%p2",
        &[([1, 2, 1], 0), ([2, 1, 0], 0), ([2, 1, 1], 1)],
    );
    expect(
        &table("or"),
        "%p0",
        &[([2, 1, 1], 1), ([2, 1, 0], 0), ([1, 2, 0], 1)],
    );
    expect(
        &table("xor"),
        "%p0",
        &[([1, 2, 1], 0), ([1, 2, 0], 1), ([2, 1, 1], 1)],
    );
    let negated = format!("{with} setp.lt.and.s32 %p0, %a, %b, !%p1;");
    expect(&negated, "%p0", &[([1, 2, 0], 1), ([1, 2, 1], 0)]);
    expect2(
        "setp.eq.f16x2 %p0|%p2, %a, %b;",
        "%p0",
        &[(0x3c00_4000, 0x3c00_4000, 1), (0, 1, 0)],
    );
    expect2(
        "setp.eq.f16x2 %p0|%p2, %a, %b;",
        "%p2",
        &[(0x3c00_4000, 0x3c00_0000, 1), (0, 1, 1)],
    );
    expect2("setp.eq.s32 _|%p2, %a, %b;", "%p2", &[(1, 1, 0), (1, 2, 1)]);
}

#[test]
fn answers_can_be_numbers() {
    expect2(
        "set.lt.u32.s32 %r0, %a, %b;",
        "%r0",
        &[(1, 2, 0xffff_ffff), (2, 1, 0)],
    );
    expect2(
        "set.lt.f32.f32 %r0, %a, %b;",
        "%r0",
        &[(f(1.0), f(2.0), f(1.0)), (NAN, NAN, 0)],
    );
    expect2(
        "set.ge.f16x2.f16x2 %r0, %a, %b;",
        "%r0",
        &[(0x3c00_0000, 0x3c00_3c00, 0x3c00_0000)],
    );
    let with = "setp.ne.u32 %p1, %c, 0; set.eq.and.u32.u32 %r0, %a, %b, %p1;";
    expect(with, "%r0", &[([3, 3, 1], 0xffff_ffff), ([3, 3, 0], 0)]);
}

#[test]
fn selection() {
    let by = "setp.ne.u32 %p0, %c, 0;";
    let select = |rest: &str| format!("{by} {rest}");
    expect(
        &select("selp.b32 %r0, %a, %b, %p0;"),
        "%r0",
        &[([1, 2, 1], 1), ([1, 2, 0], 2)],
    );
    expect(
        &select("selp.b32 %r0, -1, 0, !%p0;"),
        "%r0",
        &[([0, 0, 0], 0xffff_ffff)],
    );
    expect(
        &select("selp.f32 %r0, %a, 0fFF800000, %p0;"),
        "%r0",
        &[([7, 0, 0], 0xff80_0000)],
    );
    expect(
        &select("selp.b64 %d0, %ad, %bd, %p0;"),
        "%d0",
        &[([1 << 40, 2, 1], 1 << 40)],
    );
    expect(
        &select("selp.u16 %h0, %ah, %bh, %p0;"),
        "%h0",
        &[([1, 2, 0], 2)],
    );
    expect(
        "slct.b32.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([1, 2, 0], 1), ([1, 2, 0xffff_ffff], 2)],
    );
    expect(
        "slct.b32.f32 %r0, %a, %b, %c;",
        "%r0",
        &[
            ([1, 2, f(-0.0)], 1),
            ([1, 2, f(-1.0)], 2),
            ([1, 2, NAN], 2),
            ([1, 2, 0x8000_0001], 2),
        ],
    );
    expect(
        "slct.ftz.b32.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([1, 2, 0x8000_0001], 1)],
    );
}

#[test]
fn comparisons_that_do_not_suit_the_type_are_refused() {
    assert_eq!(
        refused("setp.lt.b32 %p0, %a, %b;"),
        "setp.lt.b32: .lt does not exist for this type"
    );
    assert_eq!(
        refused("setp.lo.s32 %p0, %a, %b;"),
        "setp.lo.s32: .lo does not exist for this type"
    );
    assert_eq!(
        refused("setp.nan.s32 %p0, %a, %b;"),
        "setp.nan.s32: .nan does not exist for this type"
    );
}
