//! Whole kernels of one warpgroup: results of all types and layouts, and the defects that a program
//! can have.

use super::super::{
    matrix::tests::{SCHEDULES, kernel, list, refusal, run, run_clean},
    mma::tests::{encode, pack_a, small},
};
use crate::{Kind, Schedule, formats::tile::Element};

/// Columns of the products in these tests.
const COLUMNS: usize = 64;
/// Where B begins in the shared buffer, bytes.
const B_START: usize = 8192;
/// Words of shared memory that each of the 128 threads fills.
const WORDS: usize = 32;

/// How an operand lies in shared memory, all in the pattern of 128 bytes.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// Rows of 128 bytes, K inside them.
    KMajor,
    /// Rows of 64 elements of 16 bits, one row for each K.
    MnMajor,
}

impl Layout {
    /// Byte of element (mn, k), restated from the measured formulas; stride offset 1024.
    fn byte(self, mn: usize, k: usize, size: usize) -> usize {
        let linear = match self {
            Self::KMajor => mn * 128 + k * size,
            Self::MnMajor => mn * 2 + k * 128,
        };
        linear ^ (linear >> 7 & 7) << 4
    }
}

struct Case {
    types: &'static str,
    element: Element,
    a_layout: Layout,
    b_layout: Layout,
    a_in_registers: bool,
    /// The operands after scale-d.
    tail: &'static str,
}

impl Case {
    fn depth(&self) -> usize {
        2 * self.element.per_chunk() as usize
    }

    fn a(&self, row: usize, k: usize) -> i32 {
        small(self.element, 1, row, k)
    }

    fn b(&self, column: usize, k: usize) -> i32 {
        small(self.element, 2, column, k)
    }

    /// The first 16 KiB of the buffer as the kernel has to fill it.
    fn image(&self) -> Vec<u32> {
        let size = 16 / self.element.per_chunk() as usize;
        // What no operand covers is filled too, with something that would be noticed.
        let mut bytes = vec![0x3c; 4 * 128 * WORDS];
        let mut put = |at: usize, value: i32| {
            let bits = encode(self.element, value).to_le_bytes();
            bytes[at..at + size].copy_from_slice(&bits[..size]);
        };
        for k in 0..self.depth() {
            for mn in 0..64 {
                put(self.a_layout.byte(mn, k, size), self.a(mn, k));
                put(B_START + self.b_layout.byte(mn, k, size), self.b(mn, k));
            }
        }
        let words = bytes.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    }

    /// Per thread: its part of the image, then its registers of A.
    fn input(&self) -> Vec<u32> {
        let image = self.image();
        let mut input = Vec::new();
        for thread in 0..128 {
            input.extend_from_slice(&image[thread * WORDS..][..WORDS]);
            let row = |row| 16 * (thread / 32) + row;
            input.extend(pack_a(self.element, 4, thread % 32, |r, k| {
                self.a(row(r), k)
            }));
        }
        input
    }

    fn instruction(&self, scale_d: &str) -> String {
        let a = if self.a_in_registers {
            list("i", WORDS..WORDS + 4)
        } else {
            "%y0".to_owned()
        };
        format!(
            "wgmma.mma_async.sync.aligned.m64n{COLUMNS}k{}.{} {}, {a}, %y1, {scale_d}{};\n",
            self.depth(),
            self.types,
            list("o", 0..self.outputs()),
            self.tail,
        )
    }

    fn outputs(&self) -> usize {
        if self.types.starts_with("f16") {
            COLUMNS / 4
        } else {
            COLUMNS / 2
        }
    }

    /// The registers of D after `times` products.
    fn expected(&self, times: i32, sign: i32) -> Vec<i32> {
        let mut values = Vec::new();
        for thread in 0..128 {
            for i in 0..COLUMNS / 2 {
                let row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
                let column = 8 * (i / 4) + 2 * (thread % 4) + i % 2;
                let terms = (0..self.depth()).map(|k| self.a(row, k) * self.b(column, k));
                values.push(times * sign * terms.sum::<i32>());
            }
        }
        values
    }
}

/// Fills the buffer and makes the descriptors of A and B in `%y0` and `%y1`.
fn prepare(fence: &str) -> String {
    let mut body = format!(
        "shl.b32 %x0, %t, {};\nadd.u32 %x0, %s, %x0;\n",
        (4 * WORDS).ilog2()
    );
    for word in 0..WORDS {
        body += &format!("st.shared.b32 [%x0+{}], %i{word};\n", 4 * word);
    }
    body += fence;
    body += "bar.sync 0;\n";
    // 128-byte swizzle, stride offset 1024, leading offset 16.
    body += "and.b32 %x1, %s, 262143;\nshr.u32 %x1, %x1, 4;\ncvt.u64.u32 %y0, %x1;\n\
             or.b64 %y0, %y0, 4611686293305360384;\n";
    body += &format!("add.s64 %y1, %y0, {};\n", B_START / 16);
    body
}

const FENCE: &str = "fence.proxy.async.shared::cta;\n";
const OPEN: &str = "wgmma.fence.sync.aligned;\n";
const CLOSE: &str = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";

fn case(types: &'static str, element: Element, a_in_registers: bool, tail: &'static str) -> Case {
    Case {
        types,
        element,
        a_layout: Layout::KMajor,
        b_layout: Layout::KMajor,
        a_in_registers,
        tail,
    }
}

fn cases() -> Vec<Case> {
    use Element::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    let float = ", 1, 1";
    let plain = case("f32.f16.f16", F16, false, ", 1, 1, 0, 0");
    let mn = |a_layout, b_layout, tail| Case {
        a_layout,
        b_layout,
        ..case("f32.f16.f16", F16, false, tail)
    };
    vec![
        plain,
        case("f32.f16.f16", F16, true, ", 1, 1, 0"),
        mn(Layout::MnMajor, Layout::KMajor, ", 1, 1, 1, 0"),
        mn(Layout::KMajor, Layout::MnMajor, ", 1, 1, 0, 1"),
        Case {
            b_layout: Layout::MnMajor,
            ..case("f32.f16.f16", F16, true, ", 1, 1, 1")
        },
        case("f16.f16.f16", F16, false, ", 1, 1, 0, 0"),
        case("f32.bf16.bf16", Bf16, false, ", 1, 1, 0, 0"),
        case("f32.tf32.tf32", Tf32, false, float),
        case("f32.tf32.tf32", Tf32, true, float),
        case("f32.e4m3.e4m3", E4m3, false, float),
        case("f32.e5m2.e5m2", E5m2, true, float),
        case("s32.s8.s8", S8, false, ""),
        case("s32.u8.u8", U8, true, ""),
    ]
}

fn value(case: &Case, words: &[u32], index: usize) -> i32 {
    if case.types.starts_with("s32") {
        return words[index].cast_signed();
    }
    if case.types.starts_with("f16") {
        let half = (words[index / 2] >> (16 * (index % 2))) as u16;
        return crate::formats::narrow::f16_to_f32(half) as i32;
    }
    f32::from_bits(words[index]) as i32
}

/// Two products: the first starts D afresh although garbage stands there, the second adds.
#[test]
fn all_types_and_layouts_multiply() {
    for case in cases() {
        let mut body = prepare(FENCE);
        for register in 0..case.outputs() {
            body += &format!("mov.b32 %o{register}, 1234567;\n");
        }
        body += "setp.ne.b32 %p0, %t, %t;\n";
        body += OPEN;
        body += &case.instruction("%p0");
        body += &case.instruction("1");
        body += CLOSE;
        let text = kernel(&body, WORDS + 4, case.outputs());
        let expected = case.expected(2, 1);
        for schedule in SCHEDULES {
            let output = run_clean(&text, &case.input(), case.outputs(), 128, schedule);
            for (index, &expected) in expected.iter().enumerate() {
                let got = value(&case, &output, index);
                assert_eq!(got, expected, "{} {} {index}", case.types, case.tail);
            }
        }
    }
}

#[test]
fn either_operand_may_be_negated() {
    for (tail, sign) in [
        (", -1, 1, 0, 0", -1),
        (", 1, -1, 0, 0", -1),
        (", -1, -1, 0, 0", 1),
    ] {
        let case = case("f32.f16.f16", Element::F16, false, tail);
        let body = prepare(FENCE) + OPEN + &case.instruction("0") + CLOSE;
        let text = kernel(&body, WORDS + 4, case.outputs());
        let output = run_clean(&text, &case.input(), case.outputs(), 128, Schedule::Late(5));
        for (index, &expected) in case.expected(1, sign).iter().enumerate() {
            assert_eq!(value(&case, &output, index), expected);
        }
    }
}

/// The kinds of reports of a kernel with this body, under every schedule.
fn kinds(body: &str) -> Vec<Vec<Kind>> {
    let case = &cases()[0];
    let text = kernel(body, WORDS + 4, case.outputs());
    let kinds = |schedule| {
        let (outcome, _) = run(&text, &case.input(), case.outputs(), 128, schedule);
        let mut kinds: Vec<Kind> = outcome.reports.iter().map(|report| report.kind).collect();
        kinds.dedup();
        kinds
    };
    SCHEDULES.into_iter().map(kinds).collect()
}

#[track_caller]
fn finds(body: &str, kind: Kind) {
    for kinds in kinds(body) {
        assert_eq!(kinds, [kind]);
    }
}

#[test]
fn a_missing_proxy_fence_is_found() {
    let case = &cases()[0];
    finds(
        &(prepare("") + OPEN + &case.instruction("0") + CLOSE),
        Kind::MissingProxyFence,
    );
}

#[test]
fn overwriting_an_operand_in_flight_is_found() {
    let case = &cases()[0];
    let overwrite = "st.shared.b32 [%x0], %t;\n";
    // The barrier lets every warp issue its product before anybody overwrites.
    let start = prepare(FENCE) + OPEN + &case.instruction("0") + "bar.sync 0;\n";
    finds(
        &(start.clone() + overwrite + CLOSE),
        Kind::OverwriteWhileRead,
    );
    // Each warp knows of its own products only: the others may still read.
    finds(
        &(start.clone() + CLOSE + overwrite),
        Kind::OverwriteWhileRead,
    );
    let clean = start + CLOSE + "bar.sync 0;\n" + overwrite;
    assert!(kinds(&clean).iter().all(Vec::is_empty));
}

#[test]
fn a_group_in_flight_is_not_covered_by_the_wait() {
    let case = &cases()[0];
    let wait = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\nbar.sync 0;\n";
    let body = prepare(FENCE) + OPEN + &case.instruction("0") + wait;
    let overwrite = "st.shared.b32 [%x0], %t;\nwgmma.wait_group.sync.aligned 0;\n";
    finds(&(body + overwrite), Kind::OverwriteWhileRead);
}

#[test]
fn a_missing_fence_or_wait_is_found() {
    let case = &cases()[0];
    finds(
        &(prepare(FENCE) + &case.instruction("0") + CLOSE),
        Kind::WgmmaRegister,
    );
    let never = prepare(FENCE) + OPEN + &case.instruction("0") + "ret;\n";
    finds(&never, Kind::ExitWithWork);
}

/// Accumulators of a product in flight may be those of the next, but not its A.
#[test]
fn a_product_must_not_read_accumulators_in_flight() {
    let case = &cases()[0];
    let columns = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ";
    let second =
        format!("{columns}{{%x4, %x5, %x6, %x7}}, {{%o0, %o1, %o2, %o3}}, %y1, 0, 1, 1, 0;\n");
    finds(
        &(prepare(FENCE) + OPEN + &case.instruction("0") + &second + CLOSE),
        Kind::WgmmaRegister,
    );
    let second = format!("{columns}{{%o0, %o1, %o2, %o3}}, %y0, %y1, 0, 1, 1, 0, 0;\n");
    finds(
        &(prepare(FENCE) + OPEN + &case.instruction("0") + &second + CLOSE),
        Kind::WgmmaRegister,
    );
}

#[test]
fn touching_registers_in_flight_is_found() {
    let body =
        |case: &Case, touch: &str| prepare(FENCE) + OPEN + &case.instruction("0") + touch + CLOSE;
    let case = &cases()[0];
    finds(&body(case, "mov.b32 %x2, %o3;\n"), Kind::WgmmaRegister);
    finds(&body(case, "mov.b32 %o3, %x0;\n"), Kind::WgmmaRegister);
    finds(
        &body(case, "st.shared.b32 [%x0+16384], %o3;\n"),
        Kind::WgmmaRegister,
    );
    let case = &cases()[1];
    assert!(case.a_in_registers);
    finds(&body(case, "mov.b32 %i32, %x0;\n"), Kind::WgmmaRegister);
    let reading = kinds(&body(case, "mov.b32 %x2, %i32;\n"));
    assert!(
        reading.iter().all(Vec::is_empty),
        "A may be read: {reading:?}"
    );
}

#[test]
fn wrong_operands_stop_the_run() {
    let case = &cases()[0];
    let with = |change: &str| {
        let body = prepare(FENCE) + change + OPEN + &case.instruction("0") + CLOSE;
        let kinds = kinds(&body);
        assert!(
            kinds
                .iter()
                .all(|found| *found == kinds[0] && found.len() == 1),
            "{kinds:?}"
        );
        kinds[0][0]
    };
    assert_eq!(
        with("or.b64 %y0, %y0, 70368744177664;\n"),
        Kind::InvalidOperand
    );
    assert_eq!(with("or.b64 %y0, %y0, 16383;\n"), Kind::OutOfBounds);
    assert_eq!(
        with("cvt.u64.u32 %y2, %t;\nadd.s64 %y0, %y0, %y2;\n"),
        Kind::Divergence
    );
}

#[test]
fn unknown_forms_are_refused_by_name() {
    let four = "{%o0, %o1, %o2, %o3}";
    let says = |instruction: &str, expected: &str| {
        let message = refusal(instruction);
        assert!(message.contains(expected), "{message}");
    };
    says(
        &format!("wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {four}, %y0, %y1, 1, 1, 1;"),
        "this combination of types is not supported",
    );
    says(
        &format!(
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {four}, %y0, %y1, %o4, 0, 1, 1, 1, 0, 0;"
        ),
        "this shape does not exist",
    );
    says(
        &format!(
            "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {four}, %y0, %y1, 1, 1, 1, 0, 0;"
        ),
        "this shape does not exist",
    );
    says(
        &format!(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {four}, %y0, %y1, 1, 2, 1, 0, 0;"
        ),
        "imm-scale-a has to be 1 or -1, got 2",
    );
    says(
        "wgmma.wait_group.sync.aligned -1;",
        "the number of groups is negative",
    );
}
