//! Wrong programs.

use super::kernels;
use embed::source::Source;

/// What is said about a program, line and column first.
fn refused(text: &str) -> String {
    let source = Source::new("p", text);
    kernels(&source).expect_err(text)
}

/// A kernel with this body and no mistake of its own.
fn body(statements: &str) -> String {
    format!(
        "kernel k(A: f16[M, K], B: f16[N, K], W: bf16[N, K], b: f16[N], s: f32) -> C: f16[M, N]\n{statements}\n"
    )
}

#[track_caller]
fn expect_in_body(statement: &str, expected: &str) {
    let got = refused(&body(statement));
    let first = got.lines().next().unwrap_or_default();
    assert_eq!(first, format!("p:2:{expected}"), "{statement}");
}

#[test]
fn errors_show_the_line_and_mark_the_place() {
    let got = refused(&body("\tC = relu(A\t@ B + b)"));
    assert_eq!(
        got,
        "p:2:13: error: expected as many columns on the left as rows on the right, got [M, K] @ [N, K]\n\
         \tC = relu(A\t@ B + b)\n\
         \t         ~~^~~\n"
    );
    let got = refused(&body("# ä\n  C = A @ W.T"));
    assert_eq!(
        got,
        "p:3:9: error: expected equal element types in a product, got f16 and bf16\n  \
           C = A @ W.T\n      \
               ~~^~~~~\n"
    );
}

#[test]
fn a_message_may_point_to_a_second_place() {
    let got = refused("kernel k(A: f16[M, N], A: f16[N]) -> C: f16[M, N]\nC = A\n");
    assert_eq!(
        got,
        "p:1:24: error: there is already a parameter `A`\n\
         kernel k(A: f16[M, N], A: f16[N]) -> C: f16[M, N]\n                       \
                                ^\n\
         p:1:10: note: it is here\n\
         kernel k(A: f16[M, N], A: f16[N]) -> C: f16[M, N]\n         \
                  ^\n"
    );
}

#[test]
fn syntax_errors_name_what_would_be_right() {
    for (text, expected) in [
        ("", "1:1: error: expected a kernel, got the end of the text"),
        ("C = A", "1:1: error: expected `kernel`, got `C`"),
        (
            "kernel (",
            "1:8: error: expected the name of a kernel, got `(`",
        ),
        (
            "kernel k(A f16)",
            "1:12: error: expected `:` and an element type, got `f16`",
        ),
        (
            "kernel k(A: f16[M,)",
            "1:19: error: expected a dimension, got `)`",
        ),
        (
            "kernel k(A: f16[0])",
            "1:17: error: expected a whole number of at least 1, got `0`",
        ),
        (
            "kernel k(A: f16[M]\nB: f16)",
            "2:1: error: expected `)` behind the parameters, got `B`",
        ),
        (
            "kernel k()\nC = A",
            "1:11: error: expected `->` and the result, got the end of the line",
        ),
        (
            "kernel k() -> C: f16[M, N] C",
            "1:28: error: expected the end of the line behind the result, got `C`",
        ),
        (
            "kernel k() -> C: f16[M, N]\n",
            "2:1: error: expected a statement such as `C = A @ B`, got the end of the text",
        ),
    ] {
        let got = refused(text);
        assert_eq!(
            got.lines().next(),
            Some(format!("p:{expected}").as_str()),
            "{text}"
        );
    }
    for (statement, expected) in [
        ("C + A", "3: error: expected `=` in a statement, got `+`"),
        (
            "C = ",
            "5: error: expected an expression, got the end of the line",
        ),
        (
            "C = A @ kernel",
            "9: error: expected an expression, got `kernel`",
        ),
        (
            "C = (A + b",
            "1: error: expected `)` behind the expression, got the end of the text",
        ),
        (
            "C = A B",
            "7: error: expected the end of the line behind the statement, got `B`",
        ),
        (
            "C = A.K",
            "7: error: expected `T`, which transposes, got `K`",
        ),
        (
            "C = A ? 1",
            "7: error: expected a name, number or operator, got '?'",
        ),
        ("C = 1.5x", "5: error: expected a blank behind a number"),
        ("C = relu(A,)", "12: error: expected an expression, got `)`"),
    ] {
        if statement.contains('(') && !statement.contains(')') {
            // Brackets go on over lines, so this one ends with the text.
            let got = refused(&body(statement));
            assert!(got.starts_with(&format!("p:3:{expected}")), "{got}");
            continue;
        }
        expect_in_body(statement, expected);
    }
}

#[test]
fn names_shapes_and_types_are_checked() {
    for (statement, expected) in [
        (
            "C = A @ X.T",
            "9: error: unknown name `X`; there are: A, B, W, b, s",
        ),
        (
            "C = swish(b)",
            "5: error: unknown function `swish`; there are: relu, gelu, silu, sigmoid, tanh, exp, log, sqrt, abs, max, min",
        ),
        (
            "C = relu(b, b)",
            "5: error: expected 1 argument of `relu`, got 2",
        ),
        (
            "C = max(b)",
            "5: error: expected 2 arguments of `max`, got 1",
        ),
        (
            "C = A @ B.T + A",
            "13: error: shapes [M, N] and [M, K] do not fit",
        ),
        (
            "C = max(A @ B.T, A)",
            "5: error: shapes [M, N] and [M, K] do not fit",
        ),
        (
            "C = A @ b",
            "9: error: expected a matrix as an operand of `@`, got `b` of shape [N]",
        ),
        (
            "C = s @ B.T",
            "5: error: expected a matrix as an operand of `@`, got `s` of shape []",
        ),
        (
            "C = A @ -B",
            "9: error: expected a parameter as an operand of `@`, or its transpose, got an expression",
        ),
        (
            "C = B.T",
            "5: error: expected `.T` on an operand of `@` only",
        ),
        (
            "C = 1",
            "5: error: expected `C` to have the shape [M, N], got []",
        ),
        (
            "C = b * 2",
            "7: error: expected `C` to have the shape [M, N], got [N]",
        ),
        (
            "D = A + 1",
            "7: error: expected `D` to have the shape [M, N], as the result, got [M, K]",
        ),
        ("A = A @ B.T", "1: error: there is already a parameter `A`"),
        (
            "C = C",
            "5: error: expected a value, got the result `C`, which is written",
        ),
        (
            "t = s",
            "1: error: expected the last statement to make `C`, got `t`",
        ),
    ] {
        expect_in_body(statement, expected);
    }
    let parameters = |list: &str| refused(&format!("kernel k({list}) -> C: f16[M, N]\nC = A\n"));
    assert!(
        parameters("A: f64[M, N]")
            .starts_with("p:1:13: error: expected f16, bf16 or f32, got `f64`")
    );
    assert!(
        parameters("A: f16[B, M, N]")
            .starts_with("p:1:10: error: expected at most 2 dimensions, got 3")
    );
    let twice = "kernel k(A: f16[M, N]) -> C: f16[M, N]\nC = A\n".repeat(2);
    assert!(refused(&twice).starts_with("p:3:8: error: there is already a kernel `k`"));
    let row = refused("kernel k(A: f16[N]) -> C: f16[N]\nC = A\n");
    assert!(
        row.starts_with("p:1:24: error: expected a result of 2 dimensions, got 1"),
        "{row}"
    );
}

#[test]
fn every_statement_is_checked_and_no_mistake_is_reported_twice() {
    let got = refused(&body("u = A @ B\nv = u + 1\nw = b + x\nC = v * w"));
    let errors: Vec<&str> = got
        .lines()
        .filter(|line| line.contains(": error: "))
        .collect();
    assert_eq!(errors.len(), 2, "{got}");
    assert!(
        errors[0].starts_with("p:2:7:") && errors[1].starts_with("p:4:9:"),
        "{got}"
    );
}

#[test]
fn deep_and_strange_texts_are_refused_without_a_panic() {
    for text in [
        body(&format!(
            "C = {}A{}",
            "(".repeat(100_000),
            ")".repeat(100_000)
        )),
        body(&format!("C = {}s", "-".repeat(100_000))),
        body(&format!("C = s{}", " + s".repeat(100_000))),
        body(&format!("C = A{}", ".T".repeat(100_000))),
        body(&format!("C = {}A{}", "relu(".repeat(300), ")".repeat(300))),
    ] {
        assert!(refused(&text).contains("error: expected an expression of at most 200 levels"));
    }
    // Whatever begins a right program, cut anywhere, or with a character too many.
    let right = super::sample("residual").text;
    for at in (0..right.len()).filter(|at| right.is_char_boundary(*at)) {
        for strange in ["", "\u{0}", "é", ")", "\n", "9e", "@"] {
            let text = format!("{}{strange}{}", &right[..at], &right[at..]);
            let _ = kernels(&Source::new("p", &text));
        }
        let _ = kernels(&Source::new("p", &right[..at]));
    }
}
