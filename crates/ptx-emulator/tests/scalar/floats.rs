//! Arithmetic of `.f32`, `.f64` and `.f32x2`.

use proptest::prelude::*;

use super::harness::{expect, expect1, expect2, f, g, refused, run};

const NAN: u64 = 0x7fff_ffff;
const SMALLEST: u64 = 1;

#[test]
fn nan_results_of_f32_are_all_the_same() {
    let payload = 0xffc1_2345;
    for instruction in ["add", "sub", "mul", "div.rn", "div.full", "div.approx"] {
        let body = format!("{instruction}.f32 %r0, %a, %b;");
        expect2(
            &body,
            "%r0",
            &[(payload, f(1.0), NAN), (f(1.0), payload, NAN)],
        );
    }
    expect2(
        "sub.f32 %r0, %a, %b;",
        "%r0",
        &[(f(f32::INFINITY), f(f32::INFINITY), NAN)],
    );
    expect(
        "fma.rn.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([f(0.0), f(f32::INFINITY), 0], NAN)],
    );
    expect1(
        "neg.f32 %r0, %a;",
        "%r0",
        &[(payload, NAN), (f(0.0), f(-0.0))],
    );
    expect1(
        "abs.f32 %r0, %a;",
        "%r0",
        &[(payload, NAN), (f(-2.0), f(2.0))],
    );
    expect1(
        "sqrt.rn.f32 %r0, %a;",
        "%r0",
        &[(f(-1.0), NAN), (f(-0.0), f(-0.0))],
    );
}

/// PTX ISA: NaN payloads are supported for double precision.
#[test]
fn nan_results_of_f64_keep_their_payload() {
    let payload = 0x7ff0_0000_0000_0123;
    let quiet = payload | 1 << 51;
    expect2(
        "add.f64 %d0, %ad, %bd;",
        "%d0",
        &[(payload, g(1.0), quiet), (g(1.0), payload, quiet)],
    );
    expect2("sub.f64 %d0, %ad, %bd;", "%d0", &[(g(1.0), payload, quiet)]);
    expect2(
        "mul.f64 %d0, %ad, %bd;",
        "%d0",
        &[(g(0.0), g(f64::INFINITY), 0xfff8 << 48)],
    );
}

#[test]
fn results_round_in_the_direction_asked_for() {
    let quarter_ulp = f(2f32.powi(-26));
    for (rounding, up, down) in [
        ("rn", 0x3f80_0000, 0xbf80_0000),
        ("rz", 0x3f80_0000, 0xbf80_0000),
        ("rm", 0x3f80_0000, 0xbf80_0001),
        ("rp", 0x3f80_0001, 0xbf80_0000u64),
    ] {
        let body = format!("add.{rounding}.f32 %r0, %a, %b;");
        let minus = quarter_ulp | 1 << 31;
        expect2(
            &body,
            "%r0",
            &[(f(1.0), quarter_ulp, up), (f(-1.0), minus, down)],
        );
    }
    // 1/3 lies between 3eaaaaaa and 3eaaaaab.
    for (rounding, bits) in [
        ("rn", 0x3eaa_aaab),
        ("rz", 0x3eaa_aaaa),
        ("rp", 0x3eaa_aaab),
    ] {
        expect1(
            &format!("rcp.{rounding}.f32 %r0, %a;"),
            "%r0",
            &[(f(3.0), bits)],
        );
        expect2(
            &format!("div.{rounding}.f32 %r0, %a, %b;"),
            "%r0",
            &[(f(1.0), f(3.0), bits)],
        );
    }
    expect1("sqrt.rz.f32 %r0, %a;", "%r0", &[(f(2.0), 0x3fb5_04f3)]);
    expect1("sqrt.rp.f32 %r0, %a;", "%r0", &[(f(2.0), 0x3fb5_04f4)]);
    expect1(
        "rcp.rp.f64 %d0, %ad;",
        "%d0",
        &[(g(3.0), 0x3fd5_5555_5555_5556)],
    );
    let most = f(f32::MAX);
    expect2("mul.rz.f32 %r0, %a, %b;", "%r0", &[(most, most, most)]);
    expect2(
        "mul.rp.f32 %r0, %a, %b;",
        "%r0",
        &[(most, most, f(f32::INFINITY))],
    );
    expect2(
        "add.rm.f32 %r0, %a, %b;",
        "%r0",
        &[(f(1.0), f(-1.0), f(-0.0))],
    );
    expect2(
        "add.rz.f64 %d0, %ad, %bd;",
        "%d0",
        &[(g(1.0), g(-1e-300), g(1.0) - 1)],
    );
    expect(
        "fma.rm.f64 %d0, %ad, %bd, %cd;",
        "%d0",
        &[([g(1.0), g(1.0), g(-1e-300)], g(1.0) - 1)],
    );
}

#[test]
fn subnormals_stay_unless_flushed() {
    expect2("add.f32 %r0, %a, %b;", "%r0", &[(SMALLEST, SMALLEST, 2)]);
    expect2(
        "add.ftz.f32 %r0, %a, %b;",
        "%r0",
        &[(SMALLEST, SMALLEST, 0)],
    );
    // A normal operand with a subnormal result.
    let normal = f(f32::MIN_POSITIVE);
    expect2(
        "mul.f32 %r0, %a, %b;",
        "%r0",
        &[(normal, f(-0.5), 0x8040_0000)],
    );
    expect2(
        "mul.ftz.f32 %r0, %a, %b;",
        "%r0",
        &[(normal, f(-0.5), 0x8000_0000)],
    );
    expect(
        "fma.rn.ftz.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([f(1.0), f(1.0), SMALLEST], f(1.0))],
    );
    expect1("neg.ftz.f32 %r0, %a;", "%r0", &[(SMALLEST, 0x8000_0000)]);
    expect2("max.ftz.f32 %r0, %a, %b;", "%r0", &[(SMALLEST, 0, 0)]);
}

#[test]
fn saturation_clamps_to_one_and_drops_nan() {
    expect2(
        "add.sat.f32 %r0, %a, %b;",
        "%r0",
        &[
            (f(1.0), f(1.0), f(1.0)),
            (f(-1.0), f(0.5), 0),
            (f(0.25), f(0.25), f(0.5)),
            (NAN, 0, 0),
            (f(-0.0), f(-0.0), 0),
        ],
    );
    expect(
        "fma.rn.sat.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([f(2.0), f(3.0), 0], f(1.0))],
    );
}

#[test]
fn a_fused_product_is_not_rounded() {
    let a = f(1.0 + f32::EPSILON);
    let square = (1.0 + f32::EPSILON) * (1.0 + f32::EPSILON);
    expect(
        "fma.rn.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([a, a, f(-square)], f(2f32.powi(-46)))],
    );
    expect(
        "mad.rn.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([a, a, f(-square)], f(2f32.powi(-46)))],
    );
}

#[test]
fn minima_and_maxima() {
    let (zero, minus_zero) = (f(0.0), f(-0.0));
    expect2(
        "max.f32 %r0, %a, %b;",
        "%r0",
        &[
            (minus_zero, zero, zero),
            (zero, minus_zero, zero),
            (NAN, f(-5.0), f(-5.0)),
            (f(-5.0), 0xffc0_0001, f(-5.0)),
            (0xffc0_0001, 0x7f80_0001, NAN),
        ],
    );
    expect2(
        "min.f32 %r0, %a, %b;",
        "%r0",
        &[
            (zero, minus_zero, minus_zero),
            (minus_zero, zero, minus_zero),
            (f(3.0), f(-3.0), f(-3.0)),
        ],
    );
    expect2(
        "min.xorsign.abs.f32 %r0, %a, %b;",
        "%r0",
        &[(f(-2.0), f(3.0), f(-2.0)), (f(-2.0), f(-1.0), f(1.0))],
    );
    expect(
        "max.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([f(1.0), f(5.0), NAN], f(5.0))],
    );
    expect(
        "max.NaN.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([f(1.0), f(5.0), 0xffc0_0001], NAN)],
    );
    expect(
        "min.abs.f32 %r0, %a, %b, %c;",
        "%r0",
        &[([f(-3.0), f(5.0), f(-2.0)], f(2.0))],
    );
    expect2(
        "max.f64 %d0, %ad, %bd;",
        "%d0",
        &[(g(f64::NAN), g(1.0), g(1.0)), (g(-0.0), g(0.0), g(0.0))],
    );
}

#[test]
fn signs_and_classes() {
    expect2(
        "copysign.f32 %r0, %a, %b;",
        "%r0",
        &[(f(-1.0), f(5.0), f(-5.0))],
    );
    expect2(
        "copysign.f64 %d0, %ad, %bd;",
        "%d0",
        &[(g(1.0), g(-5.0), g(5.0))],
    );
    let values = [f(1.0), f(0.0), SMALLEST, f(f32::INFINITY), NAN];
    for (name, answers) in [
        ("finite", [1, 1, 1, 0, 0]),
        ("infinite", [0, 0, 0, 1, 0]),
        ("number", [1, 1, 1, 1, 0]),
        ("notanumber", [0, 0, 0, 0, 1]),
        ("normal", [1, 1, 0, 0, 0]),
        ("subnormal", [0, 0, 1, 0, 0]),
    ] {
        let cases: Vec<_> = values.into_iter().zip(answers).collect();
        expect1(&format!("testp.{name}.f32 %p0, %a;"), "%p0", &cases);
    }
}

#[test]
fn pairs_are_two_of_f32() {
    let pair = |low: f32, high: f32| f(high) << 32 | f(low);
    expect2(
        "add.f32x2 %d0, %ad, %bd;",
        "%d0",
        &[(pair(1.0, 2.0), pair(3.0, 5.0), pair(4.0, 7.0))],
    );
    expect2(
        "sub.rn.f32x2 %d0, %ad, %bd;",
        "%d0",
        &[(pair(1.0, 2.0), pair(3.0, 5.0), pair(-2.0, -3.0))],
    );
    expect2(
        "mul.f32x2 %d0, %ad, %bd;",
        "%d0",
        &[(pair(1.5, f32::NAN), pair(2.0, 1.0), NAN << 32 | f(3.0))],
    );
    let fused = [(
        [pair(2.0, 3.0), pair(4.0, 5.0), pair(1.0, -1.0)],
        pair(9.0, 14.0),
    )];
    expect("fma.rn.f32x2 %d0, %ad, %bd, %cd;", "%d0", &fused);
    expect2(
        "mul.rp.ftz.f32x2 %d0, %ad, %bd;",
        "%d0",
        &[(SMALLEST, f(3.0), 0)],
    );
}

#[test]
fn forms_that_do_not_exist_are_refused() {
    for (statement, sentence) in [
        (
            "add.sat.f64 %d0, %ad, %bd;",
            "add.sat.f64: .f64 knows neither .ftz nor .sat",
        ),
        ("rcp.f32 %r0, %a;", "rcp.f32: needs .approx or a rounding"),
        ("lg2.f32 %r0, %a;", "lg2.f32: needs .approx"),
        (
            "div.full.f64 %d0, %ad, %bd;",
            "div.full.f64: does not exist in this form",
        ),
        (
            "add.rna.f32 %r0, %a, %b;",
            "add.rna.f32: .rna is not supported here",
        ),
    ] {
        assert_eq!(refused(statement), sentence);
    }
}

/// What the ISA promises, against f64 (absolute errors where the ISA states those).
#[test]
fn approximations_keep_their_promise() {
    let inputs: Vec<f32> = (-64..64).map(|i| i as f32 * 0.37 + 0.013).collect();
    let rows: Vec<_> = inputs.iter().map(|x| [f(*x), 0, 0]).collect();
    let check = |instruction: &str, bound: f64, absolute: bool, exact: &dyn Fn(f64) -> f64| {
        let got = run(&format!("{instruction}.f32 %r0, %a;"), "%r0", &rows);
        for (x, got) in inputs.iter().zip(got) {
            let wanted = exact(f64::from(*x));
            if wanted.is_nan() {
                assert_eq!(got, NAN, "{instruction} of {x}");
                continue;
            }
            let error = (f64::from(f32::from_bits(got as u32)) - wanted).abs();
            let scale = if absolute { 1.0 } else { wanted.abs() };
            assert!(
                error <= bound * scale,
                "{instruction} of {x}: off by {error}"
            );
        }
    };
    check("sin.approx", 2f64.powf(-20.5), true, &f64::sin);
    check("cos.approx", 2f64.powf(-20.5), true, &f64::cos);
    check("ex2.approx", 2f64.powi(-22), false, &f64::exp2);
    check("lg2.approx", 2f64.powi(-22), false, &f64::log2);
    check("rcp.approx", 2f64.powi(-23), false, &|x| 1.0 / x);
    check("rsqrt.approx", 2f64.powf(-22.9), false, &|x| 1.0 / x.sqrt());
    check("sqrt.approx", 2f64.powi(-23), false, &f64::sqrt);
    check("tanh.approx", 2f64.powi(-11), false, &f64::tanh);
    // The f64 forms fill the upper word only.
    let third = run("rcp.approx.ftz.f64 %d0, %ad;", "%d0", &[[g(3.0), 0, 0]])[0];
    assert_eq!(third & 0xffff_ffff, 0);
    assert!((f64::from_bits(third) - 1.0 / 3.0).abs() < 1e-6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn rounding_to_nearest_is_the_host_s(
        rows in proptest::collection::vec(any::<[u32; 3]>(), 32),
    ) {
        let rows: Vec<[u64; 3]> = rows.into_iter().map(|row| row.map(u64::from)).collect();
        let check = |body: &str, host: &dyn Fn([f32; 3]) -> f32| {
            for (row, got) in rows.iter().zip(run(body, "%r0", &rows)) {
                let wanted = host(row.map(|x| f32::from_bits(x as u32)));
                let wanted = if wanted.is_nan() { NAN } else { f(wanted) };
                assert_eq!(got, wanted, "{body} of {row:x?}");
            }
        };
        check("add.f32 %r0, %a, %b;", &|[a, b, _]| a + b);
        check("mul.rn.f32 %r0, %a, %b;", &|[a, b, _]| a * b);
        check("fma.rn.f32 %r0, %a, %b, %c;", &|[a, b, c]| a.mul_add(b, c));
        check("div.rn.f32 %r0, %a, %b;", &|[a, b, _]| a / b);
    }

    /// A product of two f32 is exact in f64, which makes a second way to round it.
    #[test]
    fn directed_products_enclose_the_exact_one(
        rows in proptest::collection::vec(any::<[u32; 2]>(), 32),
    ) {
        let rows: Vec<[u64; 3]> =
            rows.into_iter().map(|[a, b]| [a.into(), b.into(), 0]).collect();
        let down = run("mul.rm.f32 %r0, %a, %b;", "%r0", &rows);
        let up = run("mul.rp.f32 %r0, %a, %b;", "%r0", &rows);
        let zero = run("mul.rz.f32 %r0, %a, %b;", "%r0", &rows);
        for (i, [a, b, _]) in rows.iter().enumerate() {
            let wide = |x: u64| f64::from(f32::from_bits(x as u32));
            let exact = wide(*a) * wide(*b);
            if exact.is_nan() {
                assert_eq!([down[i], up[i], zero[i]], [NAN; 3]);
                continue;
            }
            let nearest = exact as f32;
            let below = if f64::from(nearest) > exact { nearest.next_down() } else { nearest };
            let above = if f64::from(nearest) < exact { nearest.next_up() } else { nearest };
            assert_eq!(down[i], f(below), "{a:x} * {b:x}");
            assert_eq!(up[i], f(above), "{a:x} * {b:x}");
            let toward_zero = if exact.is_sign_negative() { above } else { below };
            assert_eq!(zero[i], f(toward_zero), "{a:x} * {b:x}");
        }
    }
}
