//! Matrix moves as whole kernels, and what the tests of all matrix instructions share.

use std::{fmt::Write as _, sync::Arc};

use super::*;
use crate::{Emulator, Launch, Options, Outcome, Program, Schedule};

/// Every schedule that tests run under.
pub(in crate::isa) const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Late(1),
    Schedule::Early(2),
    Schedule::Random(3),
];

/// A kernel whose threads load `inputs` words each into `%i0…`, do `body`, and store `%o0…` to
/// `outputs` words each. `%s` is the address of 32 KiB of shared memory, `%t` the thread's number,
/// `%x…`, `%y…` and `%p…` are free registers of 32 and 64 bits and predicates.
pub(in crate::isa) fn kernel(body: &str, inputs: usize, outputs: usize) -> String {
    let mut text = String::from(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 input, .param .u64 output)\n{\n\
         .shared .align 1024 .b8 buffer[32768];\n\
         .reg .pred %p<4>;\n.reg .b64 %in, %out, %off, %y<8>;\n.reg .b32 %s, %t, %x<8>;\n",
    );
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line(format!(
        ".reg .b32 %i<{}>;\n.reg .b32 %o<{}>;",
        inputs + 1,
        outputs + 1
    ));
    line("ld.param.u64 %in, [input];\nld.param.u64 %out, [output];".to_owned());
    line("mov.u32 %t, %tid.x;\nmov.u32 %s, buffer;".to_owned());
    line(format!(
        "mul.wide.u32 %off, %t, {};\nadd.s64 %in, %in, %off;",
        4 * inputs
    ));
    line(format!(
        "mul.wide.u32 %off, %t, {};\nadd.s64 %out, %out, %off;",
        4 * outputs
    ));
    for index in 0..inputs {
        line(format!("ld.global.b32 %i{index}, [%in+{}];", 4 * index));
    }
    line(body.to_owned());
    for index in 0..outputs {
        line(format!("st.global.b32 [%out+{}], %o{index};", 4 * index));
    }
    line("ret;\n}".to_owned());
    text
}

/// Runs such a kernel; the words are those of thread 0, then of thread 1, ….
pub(in crate::isa) fn run(
    text: &str,
    input: &[u32],
    outputs: usize,
    threads: u32,
    schedule: Schedule,
) -> (Outcome, Vec<u32>) {
    let module = crate::syntax::parse(text).expect("the kernel parses");
    let program = Program::new(&module, &module.entries[0]);
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let mut emulator = Emulator::new(Arc::new(program)).expect("memory");
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let len = 4 * outputs * threads as usize;
    let memory = emulator.memory_mut();
    let source = memory
        .allocate(bytes.len().max(4) as u64, "input")
        .expect("memory");
    let target = memory
        .allocate(len.max(4) as u64, "output")
        .expect("memory");
    memory.write(source, &bytes).expect("input");
    let launch = Launch {
        grid: [1; 3],
        block: [threads, 1, 1],
        cluster: [1; 3],
        dynamic_shared_bytes: 0,
        parameters: [source, target]
            .map(|address| address.to_le_bytes().to_vec())
            .into(),
    };
    let options = Options {
        schedule,
        ..Options::default()
    };
    let outcome = emulator.run(&launch, &options).expect("the launch fits");
    let mut bytes = vec![0; len];
    emulator.memory().read(target, &mut bytes).expect("output");
    let words = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    (outcome, words.collect())
}

/// Runs a kernel that has nothing wrong with it.
pub(in crate::isa) fn run_clean(
    text: &str,
    input: &[u32],
    outputs: usize,
    threads: u32,
    schedule: Schedule,
) -> Vec<u32> {
    let (outcome, words) = run(text, input, outputs, threads, schedule);
    let reports: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
    assert!(
        outcome.completed && reports.is_empty(),
        "{schedule:?}\n{}",
        reports.join("\n")
    );
    words
}

/// What decoding a kernel says.
pub(in crate::isa) fn refusal(body: &str) -> String {
    let module = crate::syntax::parse(&kernel(body, 16, 16)).expect("the kernel parses");
    match Program::new(&module, &module.entries[0]) {
        Ok(_) => panic!("{body} is accepted"),
        Err(error) => error.message,
    }
}

/// `%name0, %name1, …` in braces.
pub(in crate::isa) fn list(name: &str, range: std::ops::Range<usize>) -> String {
    let mut text = String::from("{");
    for (position, index) in range.enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}%{name}{index}");
    }
    text.push('}');
    text
}

/// Measured on an H200: half h of a lane becomes element (2q + h, g).
#[test]
fn transposing_exchanges_rows_and_columns() {
    let element = |row: usize, column: usize| (row * 8 + column) as u64;
    let input: Row = std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        element(row, column) | element(row, column + 1) << 16
    });
    let output = transpose(&input);
    for (lane, value) in output.iter().enumerate() {
        let (g, q) = (lane / 4, lane % 4);
        assert_eq!(*value, element(2 * q, g) | element(2 * q + 1, g) << 16);
    }
    assert_eq!(transpose(&output), input);
}

/// Each lane's 16 bytes go to shared memory in order and come back through `ldmatrix`; what
/// `stmatrix` then writes elsewhere is read back the same way. Row r of matrix j comes from lane
/// 8j + r, whose element c is 64j + 8r + c.
#[test]
fn matrices_go_through_shared_memory() {
    let input: Vec<u32> = (0..32 * 4)
        .map(|word| (2 * word) | ((2 * word + 1) << 16))
        .collect();
    for (count, transposed) in [(1, false), (2, true), (4, false), (4, true)] {
        let trans = if transposed { ".trans" } else { "" };
        let there = list("o", 0..count);
        let back = list("o", count..2 * count);
        let body = format!(
            "shl.b32 %x0, %t, 4;\nadd.u32 %x0, %s, %x0;\n\
             st.shared.v4.b32 [%x0], {{%i0, %i1, %i2, %i3}};\nbar.sync 0;\n\
             ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {there}, [%x0];\n\
             stmatrix.sync.aligned.m8n8.x{count}{trans}.shared::cta.b16 [%x0+4096], {there};\n\
             bar.sync 0;\n\
             ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {back}, [%x0+4096];",
        );
        let text = kernel(&body, 4, 2 * count);
        for schedule in SCHEDULES {
            let output = run_clean(&text, &input, 2 * count, 32, schedule);
            for lane in 0..32u32 {
                for matrix in 0..count as u32 {
                    let (g, q) = (lane / 4, lane % 4);
                    let element = |row, column| 64 * matrix + 8 * row + column;
                    let plain = element(g, 2 * q) | element(g, 2 * q + 1) << 16;
                    let turned = element(2 * q, g) | element(2 * q + 1, g) << 16;
                    let words = &output[lane as usize * 2 * count..];
                    let expected = if transposed { turned } else { plain };
                    assert_eq!(words[matrix as usize], expected, "lane {lane}");
                    assert_eq!(words[count + matrix as usize], plain, "lane {lane}");
                }
            }
        }
    }
}

#[test]
fn a_row_has_to_be_aligned_and_shared() {
    let load = |address: &str| {
        let body = format!(
            "shl.b32 %x0, %t, 4;\nadd.u32 %x0, %s, %x0;\ncvt.u64.u32 %y0, %x0;\n\
             ldmatrix.sync.aligned.m8n8.x1{address};"
        );
        let (outcome, _) = run(&kernel(&body, 0, 1), &[], 1, 32, Schedule::RoundRobin);
        outcome.reports[0].kind
    };
    assert_eq!(load(".shared.b16 {%o0}, [%x0+8]"), Kind::Misaligned);
    assert_eq!(load(".shared.b16 {%o0}, [%x0+65536]"), Kind::OutOfBounds);
    assert_eq!(load(".b16 {%o0}, [%out]"), Kind::InvalidOperand);
    assert_eq!(load(".shared.b16 {%o0}, [%x0]"), Kind::UninitialisedRead);
}

#[test]
fn unknown_forms_are_refused_by_name() {
    let message = refusal("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%o0, %o1}, [%s];");
    assert!(
        message.contains("the shape .m16n16 is not supported"),
        "{message}"
    );
    let message = refusal("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%o0}, [%s];");
    assert!(message.contains("needs 2 elements, got 1"), "{message}");
    let message = refusal("stmatrix.sync.aligned.m8n8.x1.global.b16 [%s], {%o0};");
    assert!(
        message.contains(".global is not supported here"),
        "{message}"
    );
}
