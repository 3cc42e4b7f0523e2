//! Every value measured on an H200 (`measured.txt`: a name, then operands and results in hex).

use super::harness::run;

const MEASURED: &str = include_str!("measured.txt");

/// The entries of a measurement.
fn entries(name: &str) -> Vec<(Vec<u64>, u64)> {
    let line = MEASURED
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}: ")));
    let hex = |x: &str| u64::from_str_radix(x, 16).unwrap_or_else(|_| panic!("{name}: {x}"));
    line.unwrap_or_else(|| panic!("no measurement {name}"))
        .split_whitespace()
        .map(|entry| {
            let (operands, result) = entry.split_once("->").expect("an arrow");
            let operands = operands
                .trim_matches(['(', ')'])
                .split(',')
                .map(hex)
                .collect();
            (operands, hex(result))
        })
        .collect()
}

fn outputs(body: &str, entries: &[(Vec<u64>, u64)]) -> Vec<u64> {
    let rows: Vec<[u64; 3]> = entries
        .iter()
        .map(|(operands, _)| std::array::from_fn(|i| operands.get(i).copied().unwrap_or(0)))
        .collect();
    run(body, "%r0", &rows)
}

fn exactly(name: &str, body: &str) {
    let entries = entries(name);
    assert!(entries.len() > 5);
    for ((operands, expected), got) in entries.iter().zip(outputs(body, &entries)) {
        assert_eq!(
            got, *expected,
            "{name} of {operands:x?}: the hardware gives {expected:x}, got {got:x}"
        );
    }
}

#[test]
fn conversions_give_the_hardware_s_bits() {
    for (name, instruction) in [
        ("c_tf32_rna", "cvt.rna.tf32.f32 %r0, %a;"),
        ("c_tf32_rna_sat", "cvt.rna.satfinite.tf32.f32 %r0, %a;"),
        ("c_tf32_rn", "cvt.rn.tf32.f32 %r0, %a;"),
        ("c_tf32_rz", "cvt.rz.tf32.f32 %r0, %a;"),
        ("c_tf32_rn_relu", "cvt.rn.relu.tf32.f32 %r0, %a;"),
        ("c_f16x2", "cvt.rn.f16x2.f32 %r0, 0f40000000, %a;"),
        ("c_f16x2_relu", "cvt.rn.relu.f16x2.f32 %r0, 0f40000000, %a;"),
        ("c_f16x2_rz", "cvt.rz.f16x2.f32 %r0, 0f40000000, %a;"),
        ("c_bf16x2", "cvt.rn.bf16x2.f32 %r0, 0f40000000, %a;"),
        ("c_bf16x2_rz", "cvt.rz.bf16x2.f32 %r0, 0f40000000, %a;"),
        (
            "c_bf16x2_relu",
            "cvt.rn.relu.bf16x2.f32 %r0, 0f40000000, %a;",
        ),
        ("c_f32_sat", "cvt.sat.f32.f32 %r0, %a;"),
        ("c_f32_rni", "cvt.rni.f32.f32 %r0, %a;"),
        ("c_s32_rni", "cvt.rni.s32.f32 %r0, %a;"),
        ("c_s32_rzi", "cvt.rzi.s32.f32 %r0, %a;"),
        ("c_u32_rzi", "cvt.rzi.u32.f32 %r0, %a;"),
        ("c_u8_rni", "cvt.rni.u8.f32 %h0, %a; cvt.u32.u16 %r0, %h0;"),
        ("c_s8_rni", "cvt.rni.s8.f32 %h0, %a; cvt.s32.s16 %r0, %h0;"),
        (
            "c_s8_sat_s32",
            "cvt.sat.s8.s32 %h0, %a; cvt.s32.s16 %r0, %h0;",
        ),
        (
            "c_e4m3",
            "cvt.rn.satfinite.e4m3x2.f32 %h0, 0f40000000, %a; cvt.u32.u16 %r0, %h0;",
        ),
        (
            "c_e5m2",
            "cvt.rn.satfinite.e5m2x2.f32 %h0, 0f40000000, %a; cvt.u32.u16 %r0, %h0;",
        ),
        (
            "c_e4m3_relu",
            "cvt.rn.satfinite.relu.e4m3x2.f32 %h0, 0f40000000, %a; cvt.u32.u16 %r0, %h0;",
        ),
    ] {
        exactly(name, instruction);
    }
}

#[test]
fn arithmetic_gives_the_hardware_s_bits() {
    for (name, instruction) in [
        ("m_max", "max.f32 %r0, %a, 0f3F800000;"),
        ("m_maxnan", "max.NaN.f32 %r0, %a, 0f3F800000;"),
        ("m_max0", "max.f32 %r0, %a, 0f00000000;"),
        ("m_min0", "min.f32 %r0, %a, 0f00000000;"),
        ("m_add", "add.f32 %r0, %a, 0f00000000;"),
        ("prmt", "prmt.b32 %r0, %a, %b, %c;"),
        ("prmt.f4e", "prmt.b32.f4e %r0, %a, %b, %c;"),
        ("prmt.b4e", "prmt.b32.b4e %r0, %a, %b, %c;"),
        ("prmt.rc8", "prmt.b32.rc8 %r0, %a, %b, %c;"),
        ("prmt.ecl", "prmt.b32.ecl %r0, %a, %b, %c;"),
        ("prmt.ecr", "prmt.b32.ecr %r0, %a, %b, %c;"),
        ("prmt.rc16", "prmt.b32.rc16 %r0, %a, %b, %c;"),
        ("bfe.u32 (a,pos,len)", "bfe.u32 %r0, %a, %b, %c;"),
        ("bfe.s32 (a,pos,len)", "bfe.s32 %r0, %a, %b, %c;"),
        ("shf.l.wrap", "shf.l.wrap.b32 %r0, %a, %b, %c;"),
        ("shf.l.clamp", "shf.l.clamp.b32 %r0, %a, %b, %c;"),
        ("shf.r.wrap", "shf.r.wrap.b32 %r0, %a, %b, %c;"),
        ("shf.r.clamp", "shf.r.clamp.b32 %r0, %a, %b, %c;"),
    ] {
        exactly(name, instruction);
    }
}

/// Position and length are decimal here, the rest hex.
#[test]
fn bit_field_insertion_gives_the_hardware_s_bits() {
    let name = "bfi (insert ffffffff into 11111111 at pos,len): ";
    let line = MEASURED
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .expect("there");
    for entry in line.split_whitespace() {
        let (operands, result) = entry.split_once("->").expect("an arrow");
        let (position, length) = operands
            .trim_matches(['(', ')'])
            .split_once(',')
            .expect("two");
        let row = [
            position.parse().expect("decimal"),
            length.parse().expect("decimal"),
            0,
        ];
        let got = run(
            "bfi.b32 %r0, 0xffffffff, 0x11111111, %a, %b;",
            "%r0",
            &[row],
        );
        let expected = u64::from_str_radix(result, 16).expect("hex");
        assert_eq!(got[0], expected, "{entry}");
    }
}

/// Distance in units of the last place; infinite where a special value has to be met.
fn distance(got: u64, hardware: u64) -> u32 {
    let (x, y) = (f32::from_bits(got as u32), f32::from_bits(hardware as u32));
    if x.is_nan() && y.is_nan() || got == hardware {
        return 0;
    }
    if !x.is_finite() || !y.is_finite() || x.is_sign_negative() != y.is_sign_negative() {
        return u32::MAX;
    }
    x.to_bits().abs_diff(y.to_bits())
}

/// The hardware's error and ours together. Results that are zero or infinite agree exactly.
#[test]
fn approximations_are_close_to_the_hardware() {
    for (name, instruction, ulps) in [
        ("e_ex2", "ex2.approx.f32", 3),
        ("e_ex2f", "ex2.approx.ftz.f32", 3),
        ("e_rcp", "rcp.approx.f32", 1),
        ("e_rcpf", "rcp.approx.ftz.f32", 1),
        ("e_rsq", "rsqrt.approx.f32", 2),
        ("e_sqrt", "sqrt.approx.f32", 1),
        ("e_lg2", "lg2.approx.f32", 2),
        // Promised: a relative error of 2^-11.
        ("e_tanh", "tanh.approx.f32", 1 << 13),
    ] {
        let entries = entries(name);
        assert_eq!(entries.len(), 29, "{name}");
        let got = outputs(&format!("{instruction} %r0, %a;"), &entries);
        for ((operands, hardware), got) in entries.iter().zip(got) {
            assert!(
                distance(got, *hardware) <= ulps,
                "{name} of {operands:x?}: the hardware gives {hardware:x}, got {got:x}"
            );
        }
    }
}

/// `lane:value/predicate`, all lanes.
fn lanes(name: &str) -> Vec<(u64, u64)> {
    let line = MEASURED
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no measurement {name}"))
        .split_whitespace()
        .map(|entry| {
            let (_, rest) = entry.split_once(':').expect("a lane");
            let (value, predicate) = rest.split_once('/').expect("a predicate");
            let hex = |x| u64::from_str_radix(x, 16).expect("hex");
            (hex(value), hex(predicate))
        })
        .collect()
}

#[test]
fn warp_instructions_give_the_hardware_s_values() {
    let member = "setp.ge.u32 %p1, %lane, 5; setp.lt.and.u32 %p1, %lane, 20, %p1;\n\
                  mov.u32 %r0, 0; mov.pred %p0, 0; @%p1 elect.sync %r0|%p0, 0xfffe0;";
    for (name, body) in [
        ("shfl.up 3 c=0", "shfl.sync.up.b32 %r0|%p0, %a, 3, 0, -1;"),
        (
            "shfl.up 3 c=0x1800",
            "shfl.sync.up.b32 %r0|%p0, %a, 3, 0x1800, -1;",
        ),
        (
            "shfl.down 3 c=31",
            "shfl.sync.down.b32 %r0|%p0, %a, 3, 31, -1;",
        ),
        (
            "shfl.down 3 c=0x1807",
            "shfl.sync.down.b32 %r0|%p0, %a, 3, 0x1807, -1;",
        ),
        (
            "shfl.bfly 5 c=31",
            "shfl.sync.bfly.b32 %r0|%p0, %a, 5, 31, -1;",
        ),
        (
            "shfl.bfly 5 c=0x1c03",
            "shfl.sync.bfly.b32 %r0|%p0, %a, 5, 0x1c03, -1;",
        ),
        (
            "shfl.idx 37 c=31",
            "shfl.sync.idx.b32 %r0|%p0, %a, 37, 31, -1;",
        ),
        (
            "shfl.idx 9 c=0x1807",
            "shfl.sync.idx.b32 %r0|%p0, %a, 9, 0x1807, -1;",
        ),
        (
            "shfl.down 3 c=0x1c1f",
            "shfl.sync.down.b32 %r0|%p0, %a, 3, 0x1c1f, -1;",
        ),
        ("elect all", "elect.sync %r0|%p0, -1;"),
        ("elect lanes 5..19", member),
        (
            "match.any l/3",
            "div.u32 %r1, %lane, 3; match.any.sync.b32 %r0, %r1, -1; mov.pred %p0, 0;",
        ),
        (
            "match.all equal",
            "shr.u32 %r1, %lane, 5; match.all.sync.b32 %r0|%p0, %r1, -1;",
        ),
        (
            "match.all different",
            "shr.u32 %r1, %lane, 4; match.all.sync.b32 %r0|%p0, %r1, -1;",
        ),
        (
            "redux.add.s32 overflow",
            "add.u32 %r1, %lane, 0x7fffff00; redux.sync.add.s32 %r0, %r1, -1; mov.pred %p0, 0;",
        ),
    ] {
        let rows: Vec<_> = (0..32).map(|lane| [100 + lane, 0, 0]).collect();
        let both = format!("{body} selp.b32 %r2, 1, 0, %p0; mov.b64 %d0, {{%r0, %r2}};");
        let got: Vec<_> = run(&both, "%d0", &rows)
            .into_iter()
            .map(|x| (x & 0xffff_ffff, x >> 32))
            .collect();
        assert_eq!(got, lanes(name), "{name}");
    }
}
