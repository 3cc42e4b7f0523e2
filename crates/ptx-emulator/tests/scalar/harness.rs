//! Runs statements on up to 32 rows of operands at once.

use std::sync::Arc;

use ptx_emulator::{Emulator, Launch, Options, Program, syntax::parse};

/// Makes the kernel. The operands of a lane stand in `%a`, `%b`, `%c`, as `.b32`, in `%ah` … as
/// `.b16` and in `%ad` … as `.b64`; `%r`, `%h`, `%d`, `%q` (128 bits) and `%p` are free.
fn kernel(body: &str, result: &str) -> String {
    let to_64 = match result.as_bytes()[1] {
        b'r' => format!("cvt.u64.u32 %result, {result};"),
        b'h' => format!("cvt.u64.u16 %result, {result};"),
        b'p' => format!("selp.b64 %result, 1, 0, {result};"),
        _ => format!("mov.b64 %result, {result};"),
    };
    format!(
        ".version 8.7\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %a, %b, %c, %lane, %r<10>; .reg .b16 %ah, %bh, %ch, %h<10>;\n\
         .reg .b64 %ad, %bd, %cd, %in, %out, %result, %d<10>; .reg .b128 %q<4>; .reg .pred %p<10>;\n\
         ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %lane, %tid.x;\n\
         mad.wide.u32 %in, %lane, 24, %in; mad.wide.u32 %out, %lane, 8, %out;\n\
         ld.global.b64 %ad, [%in]; ld.global.b64 %bd, [%in+8]; ld.global.b64 %cd, [%in+16];\n\
         cvt.u32.u64 %a, %ad; cvt.u32.u64 %b, %bd; cvt.u32.u64 %c, %cd;\n\
         cvt.u16.u64 %ah, %ad; cvt.u16.u64 %bh, %bd; cvt.u16.u64 %ch, %cd;\n\
         {body}\n{to_64}\nst.global.b64 [%out], %result;\nret;\n}}\n"
    )
}

/// The error that decoding the statements gives.
pub(crate) fn refused(body: &str) -> String {
    let ptx = kernel(body, "%r0");
    let module = parse(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    match Program::new(&module, &module.entries[0]) {
        Ok(_) => panic!("not refused: {body}"),
        Err(error) => error.message,
    }
}

/// What the statements leave in `result`, row by row.
pub(crate) fn run(body: &str, result: &str, rows: &[[u64; 3]]) -> Vec<u64> {
    let ptx = kernel(body, result);
    let module = parse(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let program =
        Program::new(&module, &module.entries[0]).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let mut emulator = Emulator::new(Arc::new(program)).expect("fits");
    let memory = emulator.memory_mut();
    let input = memory.allocate(32 * 24, "in").expect("fits");
    let output = memory.allocate(32 * 8, "out").expect("fits");
    let mut results = Vec::new();
    for chunk in rows.chunks(32) {
        let bytes: Vec<u8> = chunk
            .iter()
            .flatten()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        emulator.memory_mut().write(input, &bytes).expect("fits");
        let launch = Launch {
            grid: [1, 1, 1],
            block: [32, 1, 1],
            cluster: [1, 1, 1],
            dynamic_shared_bytes: 0,
            parameters: vec![input.to_le_bytes().to_vec(), output.to_le_bytes().to_vec()],
        };
        let outcome = emulator
            .run(&launch, &Options::default())
            .expect("launches");
        assert!(outcome.is_clean(), "{:?}\n{ptx}", outcome.reports);
        let values = emulator.memory().bytes_from(output).chunks_exact(8);
        let values = values.map(|x| u64::from_le_bytes(x.try_into().expect("eight bytes")));
        results.extend(values.take(chunk.len()));
    }
    results
}

/// Checks rows of operands and what they give.
pub(crate) fn expect(body: &str, result: &str, cases: &[([u64; 3], u64)]) {
    let rows: Vec<_> = cases.iter().map(|(row, _)| *row).collect();
    for ((row, expected), got) in cases.iter().zip(run(body, result, &rows)) {
        assert_eq!(
            got, *expected,
            "{body} of {row:x?}: expected {expected:x}, got {got:x}"
        );
    }
}

/// The same for one operand.
pub(crate) fn expect1(body: &str, result: &str, cases: &[(u64, u64)]) {
    let cases: Vec<_> = cases.iter().map(|&(a, out)| ([a, 0, 0], out)).collect();
    expect(body, result, &cases);
}

/// The same for two.
pub(crate) fn expect2(body: &str, result: &str, cases: &[(u64, u64, u64)]) {
    let cases: Vec<_> = cases.iter().map(|&(a, b, out)| ([a, b, 0], out)).collect();
    expect(body, result, &cases);
}

/// The bits of an f32.
pub(crate) fn f(x: f32) -> u64 {
    x.to_bits().into()
}

/// The bits of an f64.
pub(crate) fn g(x: f64) -> u64 {
    x.to_bits()
}
