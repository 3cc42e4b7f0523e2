//! Elementwise math as kernels: compiled for every target, run on the emulator, compared with
//! f64 and with what the tile interpreter says about values that do not fit.

#[path = "math/support.rs"]
mod support;

use async_pipeline::Target;
use support::{BLOCK, bytes, compile, kernel, run, words};

/// Every exponent and sign with many mantissas, and all special values.
fn floats() -> Vec<f32> {
    let special = [
        0.0,
        1e-45,
        f32::MIN_POSITIVE,
        0.6,
        0.93,
        1.0,
        4.0,
        88.722_84,
        103.97,
        104.0,
        128.0,
        149.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let mut values: Vec<f32> = special
        .into_iter()
        .flat_map(|value| [value, -value])
        .collect();
    // Dense where functions are neither 0 nor constant.
    values.extend((0..8192).map(|index| (index as f32 - 4096.0) / 512.0 + 1e-4));
    values.extend((0..4096).map(|index| (index as f32 - 2048.0) / 18.0));
    let step = (u32::MAX / 20_000) as usize;
    values.extend((0..=u32::MAX).step_by(step).map(f32::from_bits));
    let whole = values.len().next_multiple_of(BLOCK * 12);
    values.resize(whole, 0.5);
    values
}

type Exact = fn(f64) -> f64;

/// Functions, what they are in f64, and the bound that the reference page states.
fn functions() -> Vec<(&'static str, Exact, f64)> {
    let page = async_pipeline::passes::render_math_markdown();
    let exact: [(&str, Exact); 11] = [
        ("cos", f64::cos),
        ("exp", f64::exp),
        ("exp2", f64::exp2),
        ("expm1", f64::exp_m1),
        ("log", f64::ln),
        ("log10", f64::log10),
        ("log1p", f64::ln_1p),
        ("log2", f64::log2),
        ("rsqrt", |a| 1.0 / a.sqrt()),
        ("sin", f64::sin),
        ("tanh", f64::tanh),
    ];
    let bound = |name: &str| {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `math.{name}` |")))
            .expect("a row");
        row.split('|')
            .nth(3)
            .expect("a bound")
            .trim()
            .parse()
            .expect("a number")
    };
    exact
        .into_iter()
        .map(|(name, exact)| (name, exact, bound(name)))
        .collect()
}

/// Distance in units in the last place of f32; infinite if the kind of result is wrong.
fn distance(result: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if rounded.is_nan() || rounded.is_infinite() || result.is_nan() || result.is_infinite() {
        let same = result == rounded || result.is_nan() && rounded.is_nan();
        return if same { 0.0 } else { f64::INFINITY };
    }
    if result.is_sign_negative() != rounded.is_sign_negative() {
        return f64::INFINITY;
    }
    let size = exact.abs().max(f64::from(f32::MIN_POSITIVE));
    (f64::from(result) - exact).abs() / (size.log2().floor() - 23.0).exp2()
}

#[test]
fn functions_are_as_exact_as_the_page_says() {
    let values = floats();
    let input = bytes(values.iter().map(|value| value.to_le_bytes()));
    for (name, exact, bound) in functions() {
        for (target, lanes) in [(Target::Sm80, 1), (Target::Sm90a, 4), (Target::Sm100a, 12)] {
            let ty = match lanes {
                1 => "f32".to_owned(),
                _ => format!("vector<{lanes}xf32>"),
            };
            let ptx = compile(
                &kernel("f32", "f32", lanes, &format!("%y = math.{name} %a : {ty}")),
                target,
            );
            let output = words(&run(&ptx, &input, &input, 4, 4, lanes));
            for (value, bits) in values.iter().zip(output) {
                let result = f32::from_bits(bits);
                let distance = distance(result, exact(f64::from(*value)));
                assert!(
                    distance <= bound,
                    "{name}({value:e}) on {target} is {result:e}: {distance:.2} ulp"
                );
            }
        }
    }
}

#[test]
fn the_error_function_is_right_at_known_points() {
    // Abramowitz and Stegun, table 7.1.
    let known = [
        (0.0, 0.0),
        (0.1, 0.112_462_916),
        (0.5, 0.520_499_878),
        (1.0, 0.842_700_793),
        (2.0, 0.995_322_265),
        (3.5, 0.999_999_257),
        (7.0, 1.0),
        (f32::INFINITY, 1.0),
    ];
    let mut values: Vec<f32> = known.iter().flat_map(|(a, _)| [*a, -a]).collect();
    values.resize(BLOCK, f32::NAN);
    let input = bytes(values.iter().map(|value| value.to_le_bytes()));
    let ptx = compile(
        &kernel("f32", "f32", 1, "%y = math.erf %a : f32"),
        Target::Sm90a,
    );
    let output = words(&run(&ptx, &input, &input, 4, 4, 1));
    for (index, (a, expected)) in known.into_iter().enumerate() {
        for (bits, sign) in [(output[index * 2], 1.0), (output[index * 2 + 1], -1.0_f64)] {
            let result = f32::from_bits(bits);
            assert!(
                (f64::from(result) - sign * expected).abs() < 1.5e-7,
                "erf {a}: {result}"
            );
            assert_eq!(result.is_sign_negative(), sign < 0.0, "erf {a}");
        }
    }
    assert!(
        output[known.len() * 2..]
            .iter()
            .all(|bits| f32::from_bits(*bits).is_nan())
    );
}

/// The float of f16 or bf16 bits.
fn widened(ty: &str, bits: u16) -> f32 {
    if ty == "bf16" {
        return f32::from_bits(u32::from(bits) << 16);
    }
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    }
}

/// Every value of 16 bits: the result is the nearest to the exact one, but for the few whose
/// exact result lies almost halfway between two.
#[test]
fn results_of_16_bits_are_rounded_from_f32() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let input = bytes(all.iter().map(|value| value.to_le_bytes()));
    for ty in ["f16", "bf16"] {
        for (name, exact, _) in functions() {
            let ptx = compile(
                &kernel(ty, ty, 1, &format!("%y = math.{name} %a : {ty}")),
                Target::Sm80,
            );
            let output = run(&ptx, &input, &input, 2, 2, 1);
            let (mut exceptions, mut checked) = (0, 0);
            for (bits, result) in all.iter().zip(output.as_chunks::<2>().0) {
                let expected = exact(f64::from(widened(ty, *bits)));
                let result = u16::from_le_bytes(*result);
                let value = f64::from(widened(ty, result));
                if expected.is_nan() || value.is_nan() {
                    assert_eq!(
                        expected.is_nan(),
                        value.is_nan(),
                        "{ty} {name} of {bits:#x}"
                    );
                    continue;
                }
                // Half a step beyond the largest number.
                let end = if ty == "f16" {
                    65520.0
                } else {
                    f64::from(0xff8_u32) * 2_f64.powi(116)
                };
                assert_eq!(
                    value.is_infinite(),
                    expected.abs() >= end,
                    "{ty} {name} of {bits:#x}"
                );
                // The neighbours are not nearer.
                let off = (value - expected).abs();
                let nearer = [result.wrapping_add(1), result.wrapping_sub(1)]
                    .into_iter()
                    .map(|bits| f64::from(widened(ty, bits)))
                    .any(|other| {
                        other.is_finite() && value.is_finite() && (other - expected).abs() < off
                    });
                checked += 1;
                exceptions += usize::from(nearer);
            }
            assert!(
                exceptions * 1000 <= checked,
                "{ty} {name}: {exceptions} of {checked}"
            );
        }
    }
}

#[test]
fn conversions_to_integers_saturate() {
    let mut values = floats();
    values.extend([
        127.5,
        128.0,
        -128.9,
        -129.0,
        255.9,
        256.0,
        65535.5,
        65536.0,
        2_147_483_520.0,
    ]);
    values.extend([
        2_147_483_648.0,
        -2_147_483_648.0,
        4_294_967_040.0,
        9.223_371e18,
        1.8e19,
    ]);
    values.resize(values.len().next_multiple_of(BLOCK), -0.5);
    let input = bytes(values.iter().map(|value| value.to_le_bytes()));
    let check = |op: &str, bits: u32, expected: &dyn Fn(f32) -> u64| {
        let to = format!("i{bits}");
        let ptx = compile(
            &kernel("f32", &to, 1, &format!("%y = arith.{op} %a : f32 to {to}")),
            Target::Sm90a,
        );
        let width = bits as usize / 8;
        let output = run(&ptx, &input, &input, 4, width, 1);
        for (value, result) in values.iter().zip(output.chunks(width)) {
            let wanted = expected(*value).to_le_bytes();
            assert_eq!(result, &wanted[..width], "{op} {value:e} to {to}");
        }
    };
    // `as` saturates, and NaN is 0.
    check("fptosi", 8, &|value| (value as i8).cast_unsigned().into());
    check("fptosi", 16, &|value| (value as i16).cast_unsigned().into());
    check("fptosi", 32, &|value| (value as i32).cast_unsigned().into());
    check("fptosi", 64, &|value| (value as i64).cast_unsigned());
    check("fptoui", 8, &|value| (value as u8).into());
    check("fptoui", 16, &|value| (value as u16).into());
    check("fptoui", 32, &|value| (value as u32).into());
    check("fptoui", 64, &|value| value as u64);
}

/// The bf16 nearest to an integer, ties to even.
fn nearest_bf16(value: i128) -> u16 {
    let size = value.unsigned_abs();
    let sign = if value < 0 { 0x8000 } else { 0 };
    if size == 0 {
        return 0;
    }
    let mut exponent = size.ilog2();
    let drop = exponent.saturating_sub(7);
    let (mut kept, rest) = (size >> drop, size & ((1 << drop) - 1));
    let half = if drop == 0 { 1 } else { 1_u128 << (drop - 1) };
    if drop > 0 && (rest > half || rest == half && kept & 1 == 1) {
        kept += 1;
    }
    if kept == 256 {
        (kept, exponent) = (128, exponent + 1);
    }
    let fraction = if exponent < 7 {
        kept << (7 - exponent)
    } else {
        kept
    } & 127;
    sign | ((exponent + 127) as u16) << 7 | fraction as u16
}

#[test]
fn integers_become_the_nearest_bf16() {
    // Next to ties of bf16, where rounding to f32 first would make a tie.
    let mut values: Vec<u64> = (0..64)
        .flat_map(|shift| [0x101_u64, 0x103, 0x1ff, 0x81].map(|top| top.rotate_left(shift)))
        .flat_map(|value| {
            [
                value,
                value.wrapping_add(1),
                value.wrapping_sub(1),
                value.wrapping_neg(),
            ]
        })
        .collect();
    values.resize(values.len().next_multiple_of(BLOCK), 5);
    for target in Target::ALL {
        for (op, bits) in [
            ("sitofp", 32),
            ("sitofp", 64),
            ("uitofp", 32),
            ("uitofp", 64),
        ] {
            let from = format!("i{bits}");
            let width = bits / 8;
            let input: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes()[..width].to_vec())
                .collect();
            let ptx = compile(
                &kernel(
                    &from,
                    "bf16",
                    1,
                    &format!("%y = arith.{op} %a : {from} to bf16"),
                ),
                target,
            );
            let output = run(&ptx, &input, &input, width, 2, 1);
            for (value, result) in values.iter().zip(output.as_chunks::<2>().0) {
                let number = match (op, bits) {
                    ("sitofp", 32) => i128::from(*value as i32),
                    ("sitofp", _) => i128::from(value.cast_signed()),
                    (_, 32) => i128::from(*value as u32),
                    _ => i128::from(*value),
                };
                let result = u16::from_le_bytes(*result);
                assert_eq!(
                    result,
                    nearest_bf16(number),
                    "{op} {number} of {from} on {target}"
                );
            }
        }
    }
}

#[test]
fn shifts_by_the_width_or_more_leave_the_sign() {
    let values: Vec<u32> = (0..BLOCK as u32)
        .map(|index| 0xdead_beef_u32.rotate_left(index))
        .collect();
    let counts: Vec<u32> = (0..BLOCK as u32)
        .map(|index| if index < 100 { index } else { index << 24 })
        .collect();
    let (a, b) = (
        bytes(values.iter().map(|v| v.to_le_bytes())),
        bytes(counts.iter().map(|v| v.to_le_bytes())),
    );
    for (op, expected) in [
        (
            "shli",
            (|v, n| v.checked_shl(n).unwrap_or(0)) as fn(u32, u32) -> u32,
        ),
        ("shrui", |v, n| v.checked_shr(n).unwrap_or(0)),
        ("shrsi", |v, n| {
            (v.cast_signed() >> n.min(31)).cast_unsigned()
        }),
    ] {
        let ptx = compile(
            &kernel("i32", "i32", 1, &format!("%y = arith.{op} %a, %b : i32")),
            Target::Sm80,
        );
        let output = words(&run(&ptx, &a, &b, 4, 4, 1));
        for ((value, count), result) in values.iter().zip(&counts).zip(output) {
            assert_eq!(
                result,
                expected(*value, *count),
                "{op} {value:#x} by {count}"
            );
        }
    }
}

#[test]
fn eight_bit_floats_saturate_and_come_back() {
    let known = [
        ("f8E4M3FN", 1.0, 1.0),
        ("f8E4M3FN", 1e9, 448.0),
        ("f8E4M3FN", f32::INFINITY, 448.0),
        ("f8E4M3FN", -460.0, -448.0),
        ("f8E4M3FN", 1.0625, 1.0),
        ("f8E4M3FN", 0.001, 0.001_953_125),
        ("f8E5M2", 1e9, 57344.0),
        ("f8E5M2", f32::NEG_INFINITY, -57344.0),
        ("f8E5M2", 1.125, 1.0),
        ("f8E5M2", 1.375, 1.5),
    ];
    for (target, lanes) in [(Target::Sm90a, 1), (Target::Sm100a, 4)] {
        for (ty, value, expected) in known {
            let input = bytes(vec![f32::to_le_bytes(value); BLOCK * lanes]);
            let vector = |element: &str| match lanes {
                1 => element.to_owned(),
                _ => format!("vector<{lanes}x{element}>"),
            };
            let (wide, narrow) = (vector("f32"), vector(ty));
            let body = format!(
                "%n = arith.truncf %a : {wide} to {narrow}\n    %y = arith.extf %n : {narrow} to {wide}"
            );
            let ptx = compile(&kernel("f32", "f32", lanes, &body), target);
            let output = words(&run(&ptx, &input, &input, 4, 4, lanes));
            assert!(
                output.iter().all(|bits| f32::from_bits(*bits) == expected),
                "{value} as {ty} is {}",
                f32::from_bits(output[0])
            );
        }
    }
}
