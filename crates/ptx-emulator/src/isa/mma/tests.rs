//! Every form of `mma.sync` against a plain product of small integers, which is exact in every
//! format. The places of the elements are restated from the PTX ISA.

use super::super::matrix::tests::{SCHEDULES, kernel, list, refusal, run, run_clean};
use super::*;
use crate::formats::narrow::{self, Modifiers, Rounding};
use crate::{Kind, Schedule};

/// The bits of a small integer.
pub(in crate::isa) fn encode(element: Element, value: i32) -> u32 {
    let bits = (value as f32).to_bits();
    let nearest = Rounding::NearestEven;
    match element {
        Element::F16 => narrow::f32_to_f16(bits, nearest, Modifiers::default()).into(),
        Element::Bf16 => narrow::f32_to_bf16(bits, nearest, Modifiers::default()).into(),
        // Bits that the tensor core ignores.
        Element::Tf32 => bits | 0x1fff,
        Element::E4m3 => narrow::f32_to_e4m3(bits, false).into(),
        Element::E5m2 => narrow::f32_to_e5m2(bits, false).into(),
        _ => u32::from(value as u8),
    }
}

/// Element bits to registers: A of 16 rows, `value(row, k)`.
pub(in crate::isa) fn pack_a(
    element: Element,
    registers: usize,
    lane: usize,
    value: impl Fn(usize, usize) -> i32,
) -> Vec<u32> {
    let e = element.per_register();
    let register = |r: usize| {
        (0..e).fold(0, |word, i| {
            let (row, k) = (lane / 4 + 8 * (r % 2), lane % 4 * e + r / 2 * 4 * e + i);
            word | encode(element, value(row, k)) << (32 / e * i)
        })
    };
    (0..registers).map(register).collect()
}

fn pack_b(
    element: Element,
    registers: usize,
    lane: usize,
    value: impl Fn(usize, usize) -> i32,
) -> Vec<u32> {
    let e = element.per_register();
    let register = |r: usize| {
        (0..e).fold(0, |word, i| {
            let k = lane % 4 * e + r * 4 * e + i;
            word | encode(element, value(lane / 4, k)) << (32 / e * i)
        })
    };
    (0..registers).map(register).collect()
}

/// A small integer that depends on everything, negative too unless the type has no sign.
pub(in crate::isa) fn small(element: Element, seed: usize, row: usize, k: usize) -> i32 {
    let value = ((row * 7 + k * 5 + row * k + seed) % 9) as i32 - 4;
    if element == Element::U8 {
        value + 250
    } else {
        value
    }
}

struct Form {
    name: &'static str,
    a: Element,
    b: Element,
    kind: Accumulator,
    depth: usize,
}

fn form(name: &'static str, a: Element, b: Element, kind: Accumulator, depth: usize) -> Form {
    Form {
        name,
        a,
        b,
        kind,
        depth,
    }
}

fn forms() -> Vec<Form> {
    use Element::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    let (half, float, int) = (Accumulator::F16, Accumulator::F32, Accumulator::S32);
    vec![
        form("m16n8k16.row.col.f32.f16.f16.f32", F16, F16, float, 16),
        form("m16n8k8.row.col.f32.f16.f16.f32", F16, F16, float, 8),
        form("m16n8k16.row.col.f16.f16.f16.f16", F16, F16, half, 16),
        form("m16n8k8.row.col.f16.f16.f16.f16", F16, F16, half, 8),
        form("m16n8k16.row.col.f32.bf16.bf16.f32", Bf16, Bf16, float, 16),
        form("m16n8k8.row.col.f32.bf16.bf16.f32", Bf16, Bf16, float, 8),
        form("m16n8k8.row.col.f32.tf32.tf32.f32", Tf32, Tf32, float, 8),
        form("m16n8k4.row.col.f32.tf32.tf32.f32", Tf32, Tf32, float, 4),
        form("m16n8k32.row.col.s32.s8.s8.s32", S8, S8, int, 32),
        form("m16n8k16.row.col.s32.s8.u8.s32", S8, U8, int, 16),
        form("m16n8k32.row.col.satfinite.s32.u8.u8.s32", U8, U8, int, 32),
        form("m16n8k32.row.col.f32.e4m3.e4m3.f32", E4m3, E4m3, float, 32),
        form("m16n8k32.row.col.f32.e4m3.e5m2.f32", E4m3, E5m2, float, 32),
        form("m16n8k32.row.col.f32.e5m2.e5m2.f32", E5m2, E5m2, float, 32),
    ]
}

fn accumulator_value(row: usize, column: usize) -> i32 {
    (row * 8 + column) as i32 - 60
}

#[test]
fn every_form_multiplies() {
    for form in forms() {
        let b_registers = form.depth / (4 * form.b.per_register());
        let (na, nb, nc) = (2 * b_registers, b_registers, form.kind.registers(8));
        let inputs = na + nb + nc;
        let a = |row, k| small(form.a, 1, row, k);
        let b = |column, k| small(form.b, 2, column, k);
        let mut input = Vec::new();
        for lane in 0..32 {
            input.extend(pack_a(form.a, na, lane, a));
            input.extend(pack_b(form.b, nb, lane, b));
            let c = |i: usize| accumulator_value(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
            match form.kind {
                Accumulator::F32 => input.extend((0..4).map(|i| (c(i) as f32).to_bits())),
                Accumulator::S32 => input.extend((0..4).map(|i| c(i).cast_unsigned())),
                Accumulator::F16 => input.extend((0..2).map(|r| {
                    encode(Element::F16, c(2 * r)) | encode(Element::F16, c(2 * r + 1)) << 16
                })),
            }
        }
        let body = format!(
            "mma.sync.aligned.{} {}, {}, {}, {};",
            form.name,
            list("o", 0..nc),
            list("i", 0..na),
            list("i", na..na + nb),
            list("i", na + nb..inputs),
        );
        let output = run_clean(
            &kernel(&body, inputs, nc),
            &input,
            nc,
            32,
            Schedule::RoundRobin,
        );
        for lane in 0..32 {
            for i in 0..4 {
                let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
                let dot: i32 = (0..form.depth).map(|k| a(row, k) * b(column, k)).sum();
                let expected = accumulator_value(row, column) + dot;
                let words = &output[lane * nc..][..nc];
                let got = match form.kind {
                    Accumulator::F32 => f32::from_bits(words[i]) as i32,
                    Accumulator::S32 => words[i].cast_signed(),
                    Accumulator::F16 => {
                        narrow::f16_to_f32((words[i / 2] >> (16 * (i % 2))) as u16) as i32
                    }
                };
                assert_eq!(got, expected, "{} ({row}, {column})", form.name);
            }
        }
    }
}

/// D may be the registers of A, B or C: all are read first.
#[test]
fn results_may_overwrite_operands() {
    let body = "mov.b32 %o0, %i0;\nmov.b32 %o1, %i0;\nmov.b32 %o2, %i0;\nmov.b32 %o3, %i0;\n\
                mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 \
                {%o0, %o1, %o2, %o3}, {%o0, %o1, %o2, %o3}, {%o0, %o1}, {%o0, %o1, %o2, %o3};";
    let one = [1f32.to_bits(); 32];
    for schedule in SCHEDULES {
        let output = run_clean(&kernel(body, 1, 4), &one, 4, 32, schedule);
        assert!(output.iter().all(|&word| f32::from_bits(word) == 9.0));
    }
}

#[test]
fn half_a_warp_is_not_enough() {
    let body = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 \
                {%o0, %o1, %o2, %o3}, {%i0, %i1}, {%i2}, {%i3, %i4, %i5, %i6};";
    let (outcome, _) = run(
        &kernel(body, 7, 4),
        &[0; 7 * 16],
        4,
        16,
        Schedule::RoundRobin,
    );
    assert_eq!(outcome.reports[0].kind, Kind::Divergence);
}

#[test]
fn unknown_forms_are_refused_by_name() {
    let four = "{%o0, %o1, %o2, %o3}";
    let message = refusal(&format!(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {four}, {four}, {{%i0, %i1}}, {{%i2, %i3}};"
    ));
    assert!(
        message.contains("different types of c and d are not supported"),
        "{message}"
    );
    let message = refusal(&format!(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32 {four}, {four}, {{%i0, %i1}}, {four};"
    ));
    assert!(
        message.contains("this combination of shape and types"),
        "{message}"
    );
    let message = refusal(&format!(
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {four}, {four}, {{%i0, %i1}}, {four};"
    ));
    assert!(message.contains(".sp is not supported here"), "{message}");
    let message = refusal(&format!(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {four}, {{%i0, %i1}}, {{%i0, %i1}}, {four};"
    ));
    assert!(
        message.contains("operand 2 needs 4 elements, got 2"),
        "{message}"
    );
}
