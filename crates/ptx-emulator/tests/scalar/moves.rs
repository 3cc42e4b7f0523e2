//! `mov` and `activemask`.

use super::harness::{expect1, expect2, refused, run};

#[test]
fn vectors_are_packed_lowest_first() {
    expect2(
        "mov.b32 %r0, {%ah, %bh};",
        "%r0",
        &[(0x1234, 0x5678, 0x5678_1234)],
    );
    expect2("mov.b64 %d0, {%a, %b};", "%d0", &[(1, 2, 2 << 32 | 1)]);
    expect2(
        "mov.b64 %d0, {%ah, %bh, 7, -1};",
        "%d0",
        &[(1, 2, 0xffff_0007_0002_0001)],
    );
    expect1("mov.b32 {%h0, %h1}, %a;", "%h1", &[(0x5678_1234, 0x5678)]);
    expect1("mov.b64 {_, %r0}, %ad;", "%r0", &[(2 << 32 | 1, 2)]);
    expect1("mov.b64 {%r0, _}, %ad;", "%r0", &[(2 << 32 | 1, 1)]);
    expect1("mov.b64 {%h0, %h1, %h2, %h3}, %ad;", "%h2", &[(3 << 32, 3)]);
}

#[test]
fn wide_registers_have_two_halves() {
    let there_and_back = "mov.b128 %q0, {%ad, %bd}; mov.b128 %q1, %q0; mov.b128 {%d0, %d1}, %q1;";
    expect2(there_and_back, "%d0", &[(1 << 40, 2 << 40, 1 << 40)]);
    expect2(there_and_back, "%d1", &[(1 << 40, 2 << 40, 2 << 40)]);
    let quarters = "mov.b128 %q0, {%ad, %bd}; mov.b128 {%r1, %r2, %r0, _}, %q0;";
    expect2(quarters, "%r0", &[(1, 0x5_0000_0007, 7)]);
    assert_eq!(
        refused("mov.b128 %q0, 5;"),
        "mov.b128: needs a register of 128 bits"
    );
}

#[test]
fn single_values() {
    expect1("mov.b16 %h0, %ah;", "%h0", &[(0x1_2345, 0x2345)]);
    expect1("mov.f32 %r0, 0f3F800000;", "%r0", &[(0, 0x3f80_0000)]);
    expect1("mov.b64 %d0, -1;", "%d0", &[(0, u64::MAX)]);
    let lanes: Vec<u64> = (0..32).collect();
    assert_eq!(run("mov.u32 %r0, %laneid;", "%r0", &[[0; 3]; 32]), lanes);
    assert_eq!(
        refused("mov.b32 %r0, {%ah, %bh, %ch};"),
        "mov.b32: 3 elements do not make up its type"
    );
}

#[test]
fn clocks_advance() {
    let body = "mov.u64 %d1, %globaltimer; mov.u32 %r1, %clock; nanosleep.u32 100;\n\
                mov.u64 %d2, %globaltimer; mov.u32 %r2, %clock;\n\
                setp.lt.u64 %p1, %d1, %d2; setp.lt.and.u32 %p0, %r1, %r2, %p1;";
    expect1(body, "%p0", &[(0, 1)]);
}

#[test]
fn the_active_mask_has_the_lanes_that_execute() {
    let body = "mov.u32 %r0, 0; setp.lt.u32 %p1, %lane, 5; @%p1 activemask.b32 %r0;";
    let got = run(body, "%r0", &[[0; 3]; 32]);
    assert_eq!(got[..5], [31; 5]);
    assert_eq!(got[5..], [0; 27]);
}
