use proptest::prelude::*;

use super::*;

struct Env;

impl GridEnv for Env {
    fn dim(&self, argument: u32, dimension: u32) -> Option<i64> {
        (argument < 4 && dimension < 4).then(|| 1000 * i64::from(argument) + i64::from(dimension))
    }

    fn scalar(&self, argument: u32) -> Option<i64> {
        (argument == 5).then_some(7)
    }

    fn sm_count(&self) -> Option<i64> {
        Some(132)
    }
}

fn eval(text: &str) -> Result<i64, GridError> {
    text.parse::<GridExpr>().expect(text).eval(&Env)
}

#[test]
fn evaluates() {
    let cases = [
        ("1 + 2 * 3 - 4", 3),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("10 - (4 - 3)", 9),
        ("2 - -5", 7),
        ("ceildiv(dim(1, 1), 10)", 101),
        ("min(ceildiv(dim(1, 0), 1024), 2 * sm_count)", 1),
        ("max(scalar(5), 3)", 7),
        ("floordiv(-7, 2)", -4),
        ("ceildiv(-7, 2)", -3),
        ("floordiv(7, -2)", -4),
        ("ceildiv(0, 1024)", 0),
        ("-9223372036854775808", i64::MIN),
    ];
    for (text, value) in cases {
        assert_eq!(eval(text), Ok(value), "{text}");
    }
}

#[test]
fn has_no_value() {
    let cases = [
        ("floordiv(1, 0)", "division by zero in `floordiv(1, 0)`"),
        (
            "ceildiv(dim(0, 0), 1 - 1)",
            "division by zero in `ceildiv(dim(0, 0), 1 - 1)`",
        ),
        (
            "9223372036854775807 + 1",
            "`9223372036854775807 + 1` overflows 64 bits",
        ),
        (
            "floordiv(-9223372036854775808, -1)",
            "`floordiv(-9223372036854775808, -1)` overflows 64 bits",
        ),
        ("dim(9, 0)", "`dim(9, 0)` has no value here"),
        ("scalar(0)", "`scalar(0)` has no value here"),
    ];
    for (text, message) in cases {
        let error = eval(text).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn rejects_with_a_place() {
    let names = "unknown name `cdiv`; known are ceildiv, dim, floordiv, max, min, scalar and \
                 sm_count";
    let cases = [
        (
            "",
            0,
            "expected a number, a name or `(`, got end of the expression",
        ),
        (
            "1 +",
            3,
            "expected a number, a name or `(`, got end of the expression",
        ),
        ("1 2", 2, "unexpected `2`"),
        ("(1", 2, "expected `)`, got end of the expression"),
        ("  cdiv(1, 2)", 2, names),
        ("dim(0)", 5, "expected `,`, got `)`"),
        ("dim(-1, 0)", 4, "expected an index, got `-`"),
        ("dim(99999999999, 0)", 4, "expected an index, got `9`"),
        (
            "9223372036854775808",
            0,
            "the number does not fit in 64 bits",
        ),
        ("- 5", 1, "expected a digit, got ` `"),
        ("1 + é", 4, "expected a number, a name or `(`, got `é`"),
    ];
    for (text, offset, message) in cases {
        let error = text.parse::<GridExpr>().expect_err(text);
        assert_eq!((error.offset, error.message.as_str()), (offset, message));
    }
}

#[test]
fn hostile_depth_is_refused() {
    let texts = [
        "(".repeat(1_000_000),
        "min(".repeat(1_000_000),
        format!("1{}", "+1".repeat(1_000_000)),
        format!("1{}", "*1".repeat(1_000_000)),
        "-".repeat(1_000_000),
    ];
    for text in texts {
        assert!(text.parse::<GridExpr>().is_err());
    }
}

#[test]
fn json_form() {
    let expr: GridExpr = "min(ceildiv(dim(0, 1), 1024), 2 * sm_count)"
        .parse()
        .expect("parses");
    let json = r#"{"min":[{"ceildiv":[{"dim":{"argument":0,"dimension":1}},{"const":1024}]},{"mul":[{"const":2},"sm_count"]}]}"#;
    assert_eq!(serde_json::to_string(&expr).expect("prints"), json);
    let back: GridExpr = serde_json::from_str(json).expect("reads");
    assert_eq!(back, expr);
    assert!(serde_json::from_str::<GridExpr>(r#"{"dim":{"argument":0,"axis":1}}"#).is_err());
}

fn any_expr() -> impl Strategy<Value = GridExpr> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(GridExpr::Const),
        (-3i64..2000).prop_map(GridExpr::Const),
        (0u32..5, 0u32..4).prop_map(|(argument, dimension)| GridExpr::Dim {
            argument,
            dimension
        }),
        (0u32..6).prop_map(|argument| GridExpr::Scalar { argument }),
        Just(GridExpr::SmCount),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        (inner.clone(), inner, 0usize..7).prop_map(|(a, b, kind)| {
            let kinds = [
                GridExpr::Add,
                GridExpr::Sub,
                GridExpr::Mul,
                GridExpr::Floordiv,
                GridExpr::Ceildiv,
                GridExpr::Min,
                GridExpr::Max,
            ];
            kinds[kind](Box::new(a), Box::new(b))
        })
    })
}

proptest! {
    #[test]
    fn text_round_trips(expr in any_expr()) {
        let text = expr.to_string();
        prop_assert_eq!(text.parse::<GridExpr>(), Ok(expr));
    }

    #[test]
    fn json_round_trips(expr in any_expr()) {
        let json = serde_json::to_string(&expr).expect("prints");
        prop_assert_eq!(serde_json::from_str::<GridExpr>(&json).expect("reads"), expr);
    }

    #[test]
    fn never_panics(text in "[-+*(), 0-9a-z_é]{0,60}", expr in any_expr()) {
        let _ = text.parse::<GridExpr>();
        let _ = expr.eval(&Env);
    }
}
