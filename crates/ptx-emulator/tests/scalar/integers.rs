//! Integer arithmetic.

use proptest::prelude::*;

use super::harness::{expect, expect1, expect2, refused, run};

#[test]
fn sums_and_differences_wrap_or_saturate() {
    expect2(
        "add.s32 %r0, %a, %b;",
        "%r0",
        &[
            (1, 2, 3),
            (0xffff_ffff, 1, 0),
            (0x7fff_ffff, 1, 0x8000_0000),
        ],
    );
    expect2(
        "add.sat.s32 %r0, %a, %b;",
        "%r0",
        &[
            (0x7fff_ffff, 1, 0x7fff_ffff),
            (0x8000_0000, 0xffff_ffff, 0x8000_0000),
            (5, 0xffff_fffe, 3),
        ],
    );
    expect2(
        "sub.sat.s32 %r0, %a, %b;",
        "%r0",
        &[
            (0x8000_0000, 1, 0x8000_0000),
            (0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff),
        ],
    );
    expect2(
        "sub.u16 %h0, %ah, %bh;",
        "%h0",
        &[(0, 1, 0xffff), (0x1_0005, 2, 3)],
    );
    expect2("add.u64 %d0, %ad, %bd;", "%d0", &[(u64::MAX, 2, 1)]);
    expect2("sub.s64 %d0, %ad, %bd;", "%d0", &[(0, 1, u64::MAX)]);
    expect2(
        "add.u16x2 %r0, %a, %b;",
        "%r0",
        &[(0xffff_ffff, 0x0001_0002, 0x0000_0001)],
    );
}

#[test]
fn products_have_a_low_a_high_and_a_wide_form() {
    let minus_one = 0xffff_ffff;
    expect2(
        "mul.lo.s32 %r0, %a, %b;",
        "%r0",
        &[(minus_one, 7, 0xffff_fff9)],
    );
    expect2(
        "mul.hi.s32 %r0, %a, %b;",
        "%r0",
        &[(minus_one, 7, minus_one)],
    );
    expect2("mul.hi.u32 %r0, %a, %b;", "%r0", &[(minus_one, 7, 6)]);
    expect2(
        "mul.wide.s32 %d0, %a, %b;",
        "%d0",
        &[(minus_one, 7, 7u64.wrapping_neg())],
    );
    expect2(
        "mul.wide.u32 %d0, %a, %b;",
        "%d0",
        &[(minus_one, 7, 0x6_ffff_fff9)],
    );
    expect2(
        "mul.wide.s16 %r0, %ah, %bh;",
        "%r0",
        &[(0x8000, 0x8000, 0x4000_0000)],
    );
    expect2(
        "mul.hi.u16 %h0, %ah, %bh;",
        "%h0",
        &[(0xffff, 0xffff, 0xfffe)],
    );
    expect2(
        "mul.hi.u64 %d0, %ad, %bd;",
        "%d0",
        &[(u64::MAX, u64::MAX, u64::MAX - 1)],
    );
    expect2(
        "mul.hi.s64 %d0, %ad, %bd;",
        "%d0",
        &[(u64::MAX, 5, u64::MAX)],
    );
    expect(
        "mad.lo.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([3, 5, minus_one], 14)],
    );
    expect(
        "mad.wide.s32 %d0, %a, %b, %cd;",
        "%d0",
        &[([minus_one, 4, 1 << 40], (1 << 40) - 4)],
    );
    expect(
        "mad.wide.u16 %r0, %ah, %bh, %c;",
        "%r0",
        &[([0xffff, 2, 1], 0x1_ffff)],
    );
    expect(
        "mad.hi.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([minus_one, 7, 1], 0)],
    );
    expect(
        "mad.hi.sat.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff], 0x7fff_ffff)],
    );
    expect(
        "mad.lo.s64 %d0, %ad, %bd, %cd;",
        "%d0",
        &[([u64::MAX, 3, 5], 2)],
    );
    expect2("mul24.lo.u32 %r0, %a, %b;", "%r0", &[(0xff00_0003, 5, 15)]);
    expect2(
        "mul24.hi.s32 %r0, %a, %b;",
        "%r0",
        &[(0x0080_0000, 0x0080_0000, 0x4000_0000)],
    );
    expect(
        "mad24.lo.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([0x00ff_ffff, 5, 6], 1)],
    );
}

#[test]
fn division_rounds_to_zero_and_by_zero_gives_ones() {
    expect2(
        "div.s32 %r0, %a, %b;",
        "%r0",
        &[
            (7, 2, 3),
            (0xffff_fff9, 2, 0xffff_fffd),
            (0x8000_0000, 0xffff_ffff, 0x8000_0000),
            (5, 0, 0xffff_ffff),
        ],
    );
    expect2(
        "rem.s32 %r0, %a, %b;",
        "%r0",
        &[
            (7, 3, 1),
            (0xffff_fff9, 3, 0xffff_ffff),
            (0x8000_0000, 0xffff_ffff, 0),
            (5, 0, 0xffff_ffff),
        ],
    );
    expect2(
        "div.u64 %d0, %ad, %bd;",
        "%d0",
        &[(u64::MAX, 2, u64::MAX / 2), (1, 0, u64::MAX)],
    );
    expect2(
        "rem.u16 %h0, %ah, %bh;",
        "%h0",
        &[(100, 7, 2), (100, 0, 0xffff)],
    );
}

#[test]
fn the_rest_of_integer_arithmetic() {
    expect1(
        "neg.s32 %r0, %a;",
        "%r0",
        &[(1, 0xffff_ffff), (0x8000_0000, 0x8000_0000)],
    );
    expect1(
        "abs.s32 %r0, %a;",
        "%r0",
        &[(0xffff_ffff, 1), (0x8000_0000, 0x8000_0000)],
    );
    expect1("abs.s64 %d0, %ad;", "%d0", &[(u64::MAX, 1)]);
    expect2(
        "min.s32 %r0, %a, %b;",
        "%r0",
        &[(0xffff_ffff, 1, 0xffff_ffff)],
    );
    expect2("min.u32 %r0, %a, %b;", "%r0", &[(0xffff_ffff, 1, 1)]);
    expect2("max.s64 %d0, %ad, %bd;", "%d0", &[(u64::MAX, 0, 0)]);
    expect2(
        "max.s32.relu %r0, %a, %b;",
        "%r0",
        &[(0xffff_ffff, 0xffff_fffe, 0), (3, 1, 3)],
    );
    expect2(
        "min.s16x2 %r0, %a, %b;",
        "%r0",
        &[(0xffff_0003, 0x0001_0002, 0xffff_0002)],
    );
    expect2(
        "max.u16x2 %r0, %a, %b;",
        "%r0",
        &[(0xffff_0003, 0x0001_0002, 0xffff_0003)],
    );
    expect2(
        "min.relu.s16x2 %r0, %a, %b;",
        "%r0",
        &[(0xffff_0003, 0x0001_0002, 0x0000_0002)],
    );
    expect(
        "sad.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([0xffff_ffff, 4, 10], 15)],
    );
    expect(
        "sad.u32 %r0, %a, %b, %c;",
        "%r0",
        &[([4, 0xffff_ffff, 0], 0xffff_fffb)],
    );
}

#[test]
fn carries_go_from_one_instruction_to_the_next() {
    let sum = "mov.b64 {%r1, %r2}, %ad; mov.b64 {%r3, %r4}, %bd;\n\
               add.cc.u32 %r5, %r1, %r3; addc.u32 %r6, %r2, %r4; mov.b64 %d0, {%r5, %r6};";
    expect2(
        sum,
        "%d0",
        &[
            (0xffff_ffff, 1, 1 << 32),
            (0x1_ffff_ffff, 0x1_0000_0001, 0x3_0000_0000),
            (5, 6, 11),
        ],
    );
    let difference = "mov.b64 {%r1, %r2}, %ad; mov.b64 {%r3, %r4}, %bd;\n\
                      sub.cc.u32 %r5, %r1, %r3; subc.u32 %r6, %r2, %r4; mov.b64 %d0, {%r5, %r6};";
    expect2(
        difference,
        "%d0",
        &[(0, 1, u64::MAX), (1 << 32, 1, 0xffff_ffff), (7, 5, 2)],
    );
    let product = "mad.lo.cc.u32 %r5, %a, %b, %c; madc.hi.u32 %r6, %a, %b, 0;\n\
                   mov.b64 %d0, {%r5, %r6};";
    expect(
        product,
        "%d0",
        &[(
            [0xffff_ffff, 0xffff_ffff, 0xffff_ffff],
            0xffff_ffff_0000_0000,
        )],
    );
    // `addc.cc` passes the carry on, `addc` keeps it for the next reader.
    let chain = "add.cc.u32 %r1, %a, %b; addc.cc.u32 %r2, %c, 0; addc.u32 %r0, 0, 0;";
    expect(
        chain,
        "%r0",
        &[
            ([0xffff_ffff, 1, 0xffff_ffff], 1),
            ([0xffff_ffff, 1, 5], 0),
            ([0, 1, 0xffff_ffff], 0),
        ],
    );
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    for (statement, sentence) in [
        (
            "add.sat.u32 %r0, %a, %b;",
            "add.sat.u32: .sat is for .s32 only",
        ),
        (
            "mul.s32 %r0, %a, %b;",
            "mul.s32: needs one of .lo, .hi, .wide",
        ),
        ("neg.u32 %r0, %a;", "neg.u32: does not exist for this type"),
        (
            "add.s32.foo %r0, %a, %b;",
            "add.s32.foo: .foo is not supported here",
        ),
        (
            "mul.wide.s64 %d0, %ad, %bd;",
            "mul.wide.s64: does not exist for this type",
        ),
        ("add.s32 %r0, %a;", "add.s32: takes 3 operands, got 2"),
    ] {
        assert_eq!(refused(statement), sentence);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn arithmetic_is_that_of_the_host(
        rows in proptest::collection::vec(any::<[u64; 3]>(), 32),
    ) {
        let check = |body: &str, result: &str, f: &dyn Fn([u64; 3]) -> u64| {
            let got = run(body, result, &rows);
            for (row, got) in rows.iter().zip(got) {
                assert_eq!(got, f(*row), "{body} of {row:x?}");
            }
        };
        let s = |x: u64| i64::from(x as u32 as i32);
        check("mad.lo.u32 %r0, %a, %b, %c;", "%r0", &|[a, b, c]| {
            u64::from((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))
        });
        check("mul.hi.s32 %r0, %a, %b;", "%r0", &|[a, b, _]| {
            u64::from(((s(a) * s(b)) >> 32) as u32)
        });
        check("mad.wide.s32 %d0, %a, %b, %cd;", "%d0", &|[a, b, c]| {
            (s(a) * s(b)).wrapping_add(c as i64) as u64
        });
        check("mul.hi.s64 %d0, %ad, %bd;", "%d0", &|[a, b, _]| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        });
        check("div.s64 %d0, %ad, %bd;", "%d0", &|[a, b, _]| {
            (a as i64).checked_div(b as i64).map_or(u64::MAX, |x| x as u64)
        });
    }
}
