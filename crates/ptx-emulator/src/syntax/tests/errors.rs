//! What is refused, where, and in which words.

use super::parse;

/// Texts, the place of the error, and part of its message. `$` stands for a header in a line of
/// its own, `@k` for one and a line that begins a kernel, and two blanks.
const CASES: &[(&str, &str, &str)] = &[
    // The header.
    ("", "1:1", "expected `.version`, got the end of the text"),
    (".target sm_80", "1:1", "expected `.version`, got `.target`"),
    (".version 9", "1:10", "expected a version such as `9.0`"),
    (".version 9.0\n.entry k {}", "2:1", "expected `.target`"),
    (".version 9.0\n.target 80", "2:9", "expected a target"),
    ("$.address_size 32", "2:15", "addresses of 32 bits"),
    ("$.version 9.0", "2:1", "`.version` stands here twice"),
    // Text that is no token.
    ("$ /* é", "2:2", "the comment has no end"),
    ("$.pragma \"abc\n\";", "2:9", "the string has no end"),
    ("$  é", "2:3", "unexpected character `é`"),
    ("$  \u{7}", "2:3", "unexpected character `\\u{7}`"),
    // The module.
    ("$ret;", "2:1", "expected a directive, got `ret`"),
    (
        "$.alias a, b;",
        "2:1",
        "directive `.alias` is not supported",
    ),
    (
        "$.visible .file 1 \"a\"",
        "2:10",
        "`.file` cannot be `.visible`",
    ),
    ("$.extern .entry k;", "2:9", "`.entry` cannot be `.extern`"),
    (
        "$.file 1 \"a\" .file 1 \"b\"",
        "2:19",
        "`.file` 1 is declared twice",
    ),
    ("$.file 1 a", "2:9", "expected a file's name, got `a`"),
    ("$.section .debug {\n{ }", "2:17", "the `{` has no `}`"),
    (
        "$.func f() { ret; }",
        "2:7",
        "device function `f` is not supported",
    ),
    (
        "$.visible .func (.param .b32 r) g { }",
        "2:32",
        "device function `g`",
    ),
    (
        "$.extern .func f(",
        "2:17",
        "expected the rest of the declaration",
    ),
    (
        "$.entry k {} .entry k {}",
        "2:20",
        "kernel `k` is defined twice",
    ),
    ("$.entry k;", "2:9", "expected a directive or `{`, got `;`"),
    ("$.entry k .reqntid 0 {}", "2:19", "a size cannot be 0"),
    (
        "$.entry k .reqntid 4294967296 {}",
        "2:19",
        "does not fit 32 bits",
    ),
    (
        "$.entry k .reqntid 1 .reqntid 1 {}",
        "2:21",
        "`.reqntid` stands here twice",
    ),
    (
        "$.entry k .maxnreg 1 .maxnreg 1 {}",
        "2:21",
        "`.maxnreg` stands here twice",
    ),
    (
        "$.entry k .speed 9 {}",
        "2:10",
        "directive `.speed` of a kernel",
    ),
    // Parameters.
    (
        "$.entry k(.reg .b32 a) {}",
        "2:10",
        "expected `.param`, got `.reg`",
    ),
    (
        "$.entry k(.param .b32 a, .param .b32 a) {}",
        "2:37",
        "parameter `a` is declared twice",
    ),
    (
        "$.entry k(.param .b8 a[]) {}",
        "2:21",
        "parameter `a` has no size",
    ),
    (
        "$.entry k(.param .b8 a[40000]) {}",
        "2:21",
        "parameters take more than 32764 bytes",
    ),
    (
        "$.entry k(.param .b32 a .param .b32 b) {}",
        "2:24",
        "expected `,` or `)`",
    ),
    // Variables.
    ("$.global .texref t;", "2:9", "unknown type `.texref`"),
    ("$.global .pred t;", "2:9", "variables cannot be predicates"),
    (
        "$.global .align 3 .b8 t;",
        "2:16",
        "alignment 3 is not a power of two",
    ),
    ("$.global .b8 t[];", "2:13", "array `t` has no size"),
    (
        "$.global .b8 t[0];",
        "2:15",
        "an array cannot have 0 elements",
    ),
    (
        "$.global .b8 t[-1];",
        "2:15",
        "an array cannot have -1 elements",
    ),
    (
        "$.global .b8 t[4294967296][4294967296];",
        "2:13",
        "`t` is larger than 4 GiB",
    ),
    ("$.global .b8 t, t;", "2:16", "`t` is declared twice"),
    (
        "$.shared .b8 t = 1;",
        "2:15",
        "only `.global` and `.const` variables",
    ),
    (
        "$.extern .global .b8 t = 1;",
        "2:23",
        "only `.global` and `.const` variables",
    ),
    (
        "$.global .b8 t[1] = {1, 2};",
        "2:24",
        "more initial values than elements",
    ),
    ("$.global .b8 t[1] = {{1}};", "2:21", "braces nested deeper"),
    (
        "$.global .b8 t = 256;",
        "2:17",
        "does not fit the variable's type",
    ),
    (
        "$.global .b8 t = 1.5;",
        "2:17",
        "does not fit the variable's type",
    ),
    (
        "$.global .b64 t = k;",
        "2:18",
        "address `k` as an initial value",
    ),
    (
        "$.global .b8 t[2][99999999] = {{1},{1}};",
        "2:36",
        "initial values beyond 64 MiB",
    ),
    ("$.global .b8 t[] = {};", "2:19", "expected a value"),
    (
        "$.global .b8 t",
        "2:14",
        "expected `,` or `;` after a variable, got the end",
    ),
    // Names in a body.
    (
        "@k mov.b32 %r9, 0; }",
        "3:12",
        "register `%r9` is not declared",
    ),
    (
        "@k mov.b32 %r01, 0; }",
        "3:12",
        "register `%r01` is not declared",
    ),
    ("@k mov.b32 %r1, t; }", "3:17", "name `t` is not declared"),
    (
        "@k { .reg .b32 x; } mov.b32 x, 0; }",
        "3:29",
        "name `x` is not declared",
    ),
    ("@k bra out; }", "3:8", "label `out` is not declared"),
    ("@k bra in; { in: } }", "3:8", "label `in` is not declared"),
    ("@k a: a: }", "3:7", "label `a` is declared twice"),
    (
        "@k brx.idx %r1, a; a: }",
        "3:17",
        "expected a `.branchtargets` table",
    ),
    (
        "@k t: .branchtargets a; a: bra t; }",
        "3:32",
        "expected a label, got",
    ),
    (
        "@k .branchtargets a; }",
        "3:4",
        "`.branchtargets` needs a label",
    ),
    ("@k .reg .b32 %r3; }", "3:14", "`%r3` is declared twice"),
    ("@k .reg .b32 %r<1>; }", "3:14", "`%r<…>` overlaps"),
    ("@k .reg .b32 x1, x<4>; }", "3:18", "`x<…>` overlaps"),
    ("@k .reg .b32 x<20>, x1<1>; }", "3:21", "`x1<…>` overlaps"),
    ("@k .reg .b32 x1<1>, x<20>; }", "3:21", "`x<…>` overlaps"),
    (
        "@k .reg .b32 x<4000000000>; }",
        "3:16",
        "declares more than 200000 registers",
    ),
    (
        "@k .reg .b32 x<4000000000000>; }",
        "3:16",
        "does not fit 32 bits",
    ),
    (
        "@k .reg .v2 .b32 x; }",
        "3:9",
        "vector registers are not supported",
    ),
    (
        "@k .reg .q32 x; }",
        "3:9",
        "unknown type `.q32` of a register",
    ),
    ("@k .loc 3 1 1 ret; }", "3:9", "`.file` 3 is not declared"),
    (
        "@k .loc 1 1 1, foo 2 ret; }",
        "3:16",
        "expected `function_name` or `inlined_at`",
    ),
    (
        "@k .maxnreg 3; }",
        "3:4",
        "directive `.maxnreg` is not supported in a kernel",
    ),
    // Instructions.
    ("@k @%r1 ret; }", "3:5", "guard `%r1` is not a predicate"),
    ("@k @%p1 ; }", "3:9", "expected an instruction, got `;`"),
    ("@k %r1 = 4; }", "3:4", "expected an instruction, got `%r1`"),
    (
        "@k call.uni (%r1), vprintf, (%r1); }",
        "3:4",
        "calls of functions are not supported: `vprintf`",
    ),
    (
        "@k mov.b32 %r1.x, 0; }",
        "3:15",
        "`.x` selects a part of register `%r1`",
    ),
    (
        "@k mov.b32 %r1, %tid; }",
        "3:17",
        "`%tid` needs a component",
    ),
    (
        "@k mov.b32 %r1, %tid.q; }",
        "3:21",
        "`%tid` has no component `.q`",
    ),
    (
        "@k mov.b32 %r1, %laneid.x; }",
        "3:24",
        "`%laneid` has no component `.x`",
    ),
    (
        "@k mov.b32 %r1, %envreg32; }",
        "3:17",
        "register `%envreg32` is not declared",
    ),
    (
        "@k mov.b32 %r1 %r2; }",
        "3:16",
        "expected `,` or `;` after an operand, got `%r2`",
    ),
    (
        "@k mov.b32 %r1, ; }",
        "3:17",
        "expected an operand, got `;`",
    ),
    (
        "@k mov.b32 %r1, [%r1; }",
        "3:21",
        "expected `,` or `]` in an address",
    ),
    (
        "@k mov.b32 %r1, []; }",
        "3:18",
        "expected an address, got `]`",
    ),
    (
        "@k mov.b32 %r1, [%r1+%r2]; }",
        "3:22",
        "expected a constant, got `%r2`",
    ),
    (
        "@k mov.b32 %r1, {}; }",
        "3:18",
        "expected an operand, got `}`",
    ),
    (
        "@k mov.b32 %r1, {%r1 ; }",
        "3:22",
        "expected `,` or `}` after an element",
    ),
    (
        "@k mov.b32 %r1, !%laneid; }",
        "3:18",
        "expected a register, got `%laneid`",
    ),
    (
        "@k mov.b32 %r1|4, 0; }",
        "3:16",
        "expected a register or `_` after `|`",
    ),
    // Numbers.
    (
        "@k mov.b32 %r1, 18446744073709551616; }",
        "3:17",
        "does not fit 64 bits",
    ),
    ("@k mov.b32 %r1, 0xg; }", "3:17", "malformed number `0xg`"),
    ("@k mov.b32 %r1, 09; }", "3:17", "malformed number `09`"),
    (
        "@k mov.b32 %r1, 0f123; }",
        "3:17",
        "malformed number `0f123`",
    ),
    (
        "@k mov.b32 %r1, 0d123; }",
        "3:17",
        "malformed number `0d123`",
    ),
    ("@k mov.b32 %r1, 1e999; }", "3:17", "`1e999` is too large"),
    ("@k mov.b32 %r1, 1 / 0; }", "3:19", "division by zero"),
    (
        "@k mov.b32 %r1, 1.5 + 1; }",
        "3:21",
        "expected an integer, got a floating-point",
    ),
    (
        "@k mov.b32 %r1, (.u32) 1; }",
        "3:18",
        "expected `.s64` or `.u64`",
    ),
    ("@k mov.b32 %r1, (1; }", "3:19", "expected `)`, got `;`"),
    // Ends.
    ("@k { ret;", "3:4", "the `{` has no `}`"),
    ("@k ret; ", "2:10", "the `{` has no `}`"),
    (
        "@k ret",
        "3:7",
        "expected an operand, got the end of the text",
    ),
];

#[test]
fn every_error_is_located() {
    let mut wrong = Vec::new();
    for (text, place, message) in CASES {
        let text = text.replace('$', ".version 9.0 .target sm_90a\n").replace(
            "@k",
            ".version 9.0 .target sm_90a\n.entry k {.reg .b32 %r<9>; .reg .pred %p<9>;\n  ",
        );
        match parse(&text) {
            Ok(_) => wrong.push(format!("accepted: {text}")),
            Err(error) => {
                let found = error.to_string();
                let expected = format!("{place}: error: ");
                if !found.starts_with(&expected) || !error.message.contains(message) {
                    wrong.push(format!(
                        "{text}\n  expected {expected}{message}\n  got {found}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn long_names_are_cut_in_messages() {
    let error = parse(&format!(".version 9.0 .target sm_80 {}", "é".repeat(3))).unwrap_err();
    assert_eq!(error.message, "unexpected character `é`");
    let error = parse(&format!(".version 9.0 .target sm_80 {}", "x".repeat(1000))).unwrap_err();
    assert!(error.message.len() < 200, "{error}");
}
