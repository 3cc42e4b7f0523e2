//! Bits, fields of bits, shifts and logic.

use super::harness::{expect, expect1, expect2, refused, run};

#[test]
fn counting_and_finding() {
    expect1(
        "popc.b32 %r0, %a;",
        "%r0",
        &[(0, 0), (0xffff_ffff, 32), (0xf0, 4)],
    );
    expect1("popc.b64 %r0, %ad;", "%r0", &[(u64::MAX, 64)]);
    expect1(
        "clz.b32 %r0, %a;",
        "%r0",
        &[(0, 32), (1, 31), (0x8000_0000, 0)],
    );
    expect1("clz.b64 %r0, %ad;", "%r0", &[(0, 64), (1, 63)]);
    expect1(
        "brev.b32 %r0, %a;",
        "%r0",
        &[(1, 0x8000_0000), (0x6, 0x6000_0000)],
    );
    expect1("brev.b64 %d0, %ad;", "%d0", &[(1, 1 << 63)]);
    let none = 0xffff_ffff;
    expect1(
        "bfind.u32 %r0, %a;",
        "%r0",
        &[(0, none), (1, 0), (0x8000_0000, 31)],
    );
    expect1(
        "bfind.s32 %r0, %a;",
        "%r0",
        &[(0, none), (0xffff_ffff, none), (0xffff_fffb, 2)],
    );
    expect1(
        "bfind.shiftamt.u32 %r0, %a;",
        "%r0",
        &[(0, none), (1, 31), (0x8000_0000, 0)],
    );
    expect1(
        "bfind.shiftamt.s64 %r0, %ad;",
        "%r0",
        &[(4, 61), (u64::MAX, none)],
    );
}

#[test]
fn fields() {
    // The 64-bit forms by the rule measured for 32 bits.
    expect(
        "bfe.u64 %d0, %ad, %b, %c;",
        "%d0",
        &[
            ([0xff00, 8, 4], 0xf),
            ([u64::MAX, 60, 255], 0xf),
            ([u64::MAX, 64, 8], 0),
            ([u64::MAX, 0, 0], 0),
        ],
    );
    expect(
        "bfe.s64 %d0, %ad, %b, %c;",
        "%d0",
        &[
            ([0xf00, 8, 4], u64::MAX),
            ([0x700, 8, 4], 7),
            ([1 << 63, 100, 3], u64::MAX),
        ],
    );
    expect(
        "bfi.b64 %d0, %ad, %bd, %c, 8;",
        "%d0",
        &[
            ([0xab, 0, 56], 0xab << 56),
            ([0xab, 5, 64], 5),
            ([0xab, u64::MAX, 4], 0xffff_ffff_ffff_fabf),
        ],
    );
    expect2(
        "bmsk.clamp.b32 %r0, %a, %b;",
        "%r0",
        &[
            (4, 8, 0xff0),
            (0, 32, 0xffff_ffff),
            (28, 8, 0xf000_0000),
            (32, 4, 0),
            (0, 0xffff_ffff, 0xffff_ffff),
        ],
    );
    expect2(
        "bmsk.wrap.b32 %r0, %a, %b;",
        "%r0",
        &[(36, 8, 0xff0), (0, 32, 0)],
    );
    expect2(
        "szext.clamp.s32 %r0, %a, %b;",
        "%r0",
        &[(0xff, 8, 0xffff_ffff), (0x7f, 8, 0x7f)],
    );
    expect2(
        "szext.wrap.u32 %r0, %a, %b;",
        "%r0",
        &[(0xffff, 40, 0xff), (0xffff, 32, 0)],
    );
}

#[test]
fn dot_products_of_bytes() {
    expect(
        "dp4a.u32.u32 %r0, %a, %b, %c;",
        "%r0",
        &[([0x0102_03ff, 0x0101_0102, 5], 510 + 11)],
    );
    expect(
        "dp4a.s32.u32 %r0, %a, %b, %c;",
        "%r0",
        &[([0x0000_00ff, 0xff, 0], 0xffff_ff01)],
    );
    expect(
        "dp4a.s32.s32 %r0, %a, %b, %c;",
        "%r0",
        &[([0x0000_00ff, 0xff, 1], 2)],
    );
    expect(
        "dp2a.lo.s32.u32 %r0, %a, %b, %c;",
        "%r0",
        &[([0xffff_0002, 0x0000_0304, 0], 5)],
    );
    expect(
        "dp2a.hi.u32.u32 %r0, %a, %b, %c;",
        "%r0",
        &[([0x0001_0002, 0x0304_0000, 7], 18)],
    );
}

/// Amounts at and past the width were measured for 32 bits.
#[test]
fn shifts_past_the_width_clamp() {
    let amounts: Vec<[u64; 3]> = (0..10).map(|i| [0x8000_0001, 8 * i, 0]).collect();
    let none = [0; 5];
    let left = run("shl.b32 %r0, %a, %b;", "%r0", &amounts);
    assert_eq!(left[..5], [0x8000_0001, 0x100, 0x1_0000, 0x100_0000, 0]);
    assert_eq!(left[5..], none);
    let right = run("shr.u32 %r0, %a, %b;", "%r0", &amounts);
    assert_eq!(right[..5], [0x8000_0001, 0x80_0000, 0x8000, 0x80, 0]);
    assert_eq!(right[5..], none);
    let signed = run("shr.s32 %r0, %a, %b;", "%r0", &amounts);
    assert_eq!(signed[..3], [0x8000_0001, 0xff80_0000, 0xffff_8000]);
    assert_eq!(
        signed[3..],
        [
            0xffff_ff80,
            [0xffff_ffff; 6][0],
            0xffff_ffff,
            0xffff_ffff,
            0xffff_ffff,
            0xffff_ffff,
            0xffff_ffff
        ]
    );
    expect2(
        "shl.b64 %d0, %ad, %b;",
        "%d0",
        &[(1, 63, 1 << 63), (1, 64, 0), (1, 1 << 31, 0)],
    );
    expect2("shr.s64 %d0, %ad, %b;", "%d0", &[(1 << 63, 200, u64::MAX)]);
    expect2(
        "shr.s16 %h0, %ah, %b;",
        "%h0",
        &[(0x8000, 3, 0xf000), (0x8000, 99, 0xffff)],
    );
    expect2(
        "shl.b16 %h0, %ah, %b;",
        "%h0",
        &[(0xffff, 4, 0xfff0), (1, 16, 0)],
    );
}

#[test]
fn logic_of_words() {
    expect2("and.b32 %r0, %a, %b;", "%r0", &[(0xff0f, 0x0ff1, 0x0f01)]);
    expect2("or.b64 %d0, %ad, %bd;", "%d0", &[(1 << 63, 1, 1 << 63 | 1)]);
    expect2("xor.b16 %h0, %ah, %bh;", "%h0", &[(0xffff, 0x00ff, 0xff00)]);
    expect1("not.b32 %r0, %a;", "%r0", &[(0, 0xffff_ffff)]);
    expect1("not.b16 %h0, %ah;", "%h0", &[(1, 0xfffe)]);
    expect1("cnot.b32 %r0, %a;", "%r0", &[(0, 1), (7, 0)]);
    // a ^ b ^ c, and the choice of b or c by a.
    expect(
        "lop3.b32 %r0, %a, %b, %c, 0x96;",
        "%r0",
        &[([0xf0, 0xcc, 0xaa], 0x96)],
    );
    expect(
        "lop3.b32 %r0, %a, %b, %c, 0xca;",
        "%r0",
        &[([0xff00, 0x1234, 0x5678], 0x1278)],
    );
    let test = "setp.ne.u32 %p1, %c, 0; lop3.and.b32 %r1|%p0, %a, %b, 0, 0xc0, %p1;";
    expect(
        test,
        "%p0",
        &[([1, 1, 1], 1), ([1, 1, 0], 0), ([1, 2, 1], 0)],
    );
    assert_eq!(
        refused("lop3.b32 %r0, %a, %b, %c, 0x100;"),
        "lop3.b32: needs a table of 8 bits, got 256"
    );
}

#[test]
fn logic_of_predicates() {
    let predicates = "setp.ne.u32 %p1, %a, 0; setp.ne.u32 %p2, %b, 0;";
    for (operation, table) in [
        ("and.pred %p0, %p1, %p2;", [0, 0, 0, 1]),
        ("or.pred %p0, %p1, %p2;", [0, 1, 1, 1]),
        ("xor.pred %p0, %p1, %p2;", [0, 1, 1, 0]),
        ("and.pred %p0, %p1, !%p2;", [0, 1, 0, 0]),
        ("not.pred %p0, %p1;", [1, 0, 1, 0]),
        ("mov.pred %p0, %p2;", [0, 0, 1, 1]),
        ("mov.pred %p0, 1;", [1, 1, 1, 1]),
    ] {
        let cases: Vec<_> = (0..4).map(|i| (i & 1, i >> 1, table[i as usize])).collect();
        expect2(&format!("{predicates} {operation}"), "%p0", &cases);
    }
}
