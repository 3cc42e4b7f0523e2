//! Text that nobody would write must not take the stack, the memory or the time.

use proptest::prelude::*;

use super::parse;

/// Each would take the stack or the memory if it were not bounded.
#[test]
fn depth_and_size_are_bounded() {
    let body = |body: &str| format!(".version 9.0 .target sm_90a .entry k {{ .reg .b32 %r; {body}");
    let many = |text: &str| text.repeat(100_000);
    let ranges: String = (0..100).map(|i| format!(".reg .b32 r{i}x<1>;")).collect();
    for (text, message) in [
        (body(&many("{")), "nested deeper than 64 levels"),
        (body(&format!("mov.b32 %r, {}", many("("))), "nested deeper"),
        (body(&format!("mov.b32 %r, {}", many("-"))), "nested deeper"),
        (body(&format!("mov.b32 %r, {}", many("{"))), "nested deeper"),
        (
            body(&format!("mov.b32 %r, {}", many("["))),
            "expected an address",
        ),
        (
            body(&format!("mov.b32 %r, {}", many("[%r,"))),
            "nested deeper",
        ),
        (
            body(&format!("mov.b32 %r, {}", many("1?"))),
            "nested deeper",
        ),
        (
            body(&format!("mov.b32 %r, {}", many("%r,"))),
            "more than 256 operands",
        ),
        (
            body(&format!("mov.b32 {{{}", many("%r,"))),
            "more than 256 operands",
        ),
        (
            body(&many(".reg .b32 x<99999>; {")),
            "more than 200000 registers",
        ),
        (body(&ranges), "too many register ranges"),
        (
            format!(".version 9.0 .target sm_80 .global .b8 x{};", many("[1]")),
            "more than 16 dimensions",
        ),
        (
            format!(
                ".version 9.0 .target sm_80 .global .b8 x[1] = {};",
                many("{")
            ),
            "braces nested deeper",
        ),
        (" ".repeat((64 << 20) + 1), "the text is longer than 64 MiB"),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.message.contains(message), "{error}, not {message}");
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    ",",
    ";",
    ":",
    "@",
    "!",
    "|",
    "_",
    "+",
    "-",
    "*",
    "/",
    "%",
    "?",
    "=",
    "{{{{",
    "((((",
    "/*",
    "*/",
    "//",
    "\n",
    "\"",
    "\"a\"",
    "é",
    "\0",
    ".",
    "..",
    ".entry k",
    ".reg",
    ".b32",
    ".pred",
    ".v2",
    ".align",
    ".param",
    ".shared",
    ".global",
    ".const",
    ".extern",
    ".func",
    ".loc 1 1 1",
    ".file 1",
    ".section",
    ".branchtargets",
    ".pragma",
    ".x",
    ".reqntid",
    "%r<9>",
    "%r1",
    "%r10000000000",
    "%tid",
    "%p",
    "x",
    "x:",
    "bra",
    "brx",
    "call",
    "mov",
    "ret;",
    "WARP_SZ",
    "0",
    "1",
    "16",
    "0x",
    "0f0",
    "0f3F800000",
    "1.5",
    "1e999",
    "99999999999999999999",
    "4294967295",
    "0xffffffffffffffff",
    "<<",
    ">>",
    "~",
    "&&",
    "::",
    "a::b",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(String::from),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn token_soup_never_panics(text in soup(), inside in 0..4) {
        let start = match inside {
            0 => "",
            1 => ".version 9.0 .target sm_80 ",
            2 => ".version 9.0 .target sm_80 .entry k { .reg .b32 %r<9>; .reg .pred %p; ",
            _ => ".version 9.0 .target sm_80 .global .b32 x[2][2] = { ",
        };
        let text = format!("{start}{text}");
        if let Err(error) = parse(&text) {
            let lines = text.bytes().filter(|b| *b == b'\n').count() as u32 + 1;
            prop_assert!((1..=lines).contains(&error.span.line));
            prop_assert!(!error.message.ends_with('.'));
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = parse(&text);
    }
}
