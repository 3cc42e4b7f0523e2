use ptx_model::manifest::Manifest;

use super::*;

/// `A` has a stride parameter, `B` none, `C` is static.
fn kernel() -> Kernel {
    let text = r#"{"schema_version": 1, "target": "sm_80", "ptx_version": "8.0", "kernels": [{
      "name": "k", "block": [32,1,1], "cluster": null, "grid": null, "dynamic_shared_bytes": 0,
      "arguments": [
        {"kind":"memref","name":"A","element_type":"f32","shape":[null,null],"strides":[null,1],"alignment":16,"aliases":false},
        {"kind":"memref","name":"B","element_type":"f32","shape":[null,null],"strides":[null,1],"alignment":16,"aliases":false},
        {"kind":"memref","name":"C","element_type":"f16","shape":[4,8],"strides":[16,1],"alignment":16,"aliases":false},
        {"kind":"scalar","name":"alpha","type":"f32"},
        {"kind":"scalar","name":"n","type":"i8"}],
      "parameters": [{"kind":"pointer","argument":0},{"kind":"stride","argument":0,"dimension":0}],
      "roles": [], "channels": [], "barriers": [], "registers_per_warpgroup": null, "wait_report": null}]}"#;
    Manifest::from_json(text).expect("valid").kernels.remove(0)
}

fn options(sizes: &[&str], pitches: &[&str], misalign: &[&str], scalars: &[&str]) -> BindOptions {
    BindOptions {
        sizes: sizes.iter().map(|s| s.parse().expect("size")).collect(),
        pitches: pitches.iter().map(|s| s.parse().expect("pitch")).collect(),
        misalign: misalign
            .iter()
            .map(|s| s.parse().expect("misalign"))
            .collect(),
        scalars: scalars.iter().map(|s| s.parse().expect("scalar")).collect(),
    }
}

const SCALARS: &[&str] = &["alpha=2.5", "n=-3"];

#[test]
fn binds_sizes_strides_and_values() {
    let binding = Binding::new(&kernel(), &options(&["8x8", "A=3x5"], &[], &[], SCALARS));
    let binding = binding.expect("binds");
    assert_eq!(binding.describe(), "A 3x5, B 8x8, C 4x8");
    let strides: Vec<_> = binding
        .tensors()
        .map(|t| t.layout.strides().to_vec())
        .collect();
    // Rows of A are spaced to the next 16 bytes, those of B need it not, C is declared so.
    assert_eq!(strides, [vec![8, 1], vec![8, 1], vec![16, 1]]);
    assert_eq!(binding.data_bytes(), 15 * 4 + 64 * 4 + 32 * 2);
    let alpha = binding.scalar(3).expect("scalar");
    assert_eq!(
        (alpha.value, &alpha.bytes[..4]),
        (2.5, &2.5f32.to_le_bytes()[..])
    );
    let env = binding.env(132);
    assert_eq!(
        (env.dim(0, 1), env.dim(3, 0), env.scalar(4)),
        (Some(5), None, Some(-3))
    );
    assert_eq!((env.scalar(3), env.sm_count()), (None, Some(132)));
}

#[test]
fn pitch_and_zero_sizes() {
    let binding = Binding::new(
        &kernel(),
        &options(&["4x4", "A=3x0"], &["A=20"], &[], SCALARS),
    );
    let binding = binding.expect("binds");
    let a = binding.tensor(0).expect("A");
    assert_eq!((a.layout.strides(), a.layout.elements()), (&[20, 1][..], 0));
}

#[test]
fn refuses() {
    let good = &["8x8"][..];
    let cases: &[(BindOptions, &str)] = &[
        (
            options(&[], &[], &[], SCALARS),
            "argument `A` has no size; give --size A=NxN",
        ),
        (
            options(&["8"], &[], &[], SCALARS),
            "argument `A` is declared ?x?, --size gives 8",
        ),
        (
            options(&["8x8", "C=4x9"], &[], &[], SCALARS),
            "argument `C` is declared 4x8, --size gives 4x9",
        ),
        (
            options(&["8x8", "D=4"], &[], &[], SCALARS),
            "--size names `D`, which is no memref argument of the kernel; there are A, B, C",
        ),
        (
            options(good, &["B=16"], &[], SCALARS),
            "the kernel takes no stride for it",
        ),
        (
            options(good, &["A=9"], &[], SCALARS),
            "argument `A` needs strides of a multiple of 16 bytes, dimension 0 has 36",
        ),
        (
            options(good, &["A=4"], &[], SCALARS),
            "argument `A` has an unusable layout",
        ),
        (
            options(&["8x8", "B=8x9"], &[], &[], SCALARS),
            "argument `B` needs strides of a multiple of 16 bytes, dimension 0 has 36",
        ),
        (
            options(good, &[], &["A=4"], SCALARS),
            "argument `A` must start at a multiple of 16 bytes, --misalign moves it by 4",
        ),
        (
            options(good, &[], &["A=99999999999"], SCALARS),
            "at most 65536 bytes",
        ),
        (
            options(good, &[], &[], &["n=1"]),
            "argument `alpha` has no value; give --arg alpha=VALUE",
        ),
        (
            options(good, &[], &[], &["alpha=1", "n=200"]),
            "`200` is no value of type i8 for argument `n`",
        ),
        (
            options(good, &[], &[], &["alpha=x", "n=2"]),
            "`x` is no value of type f32 for argument `alpha`",
        ),
        (
            options(good, &[], &[], &["A=1"]),
            "--arg names `A`, which is no scalar argument",
        ),
    ];
    for (options, expected) in cases {
        let error = Binding::new(&kernel(), options)
            .expect_err(expected)
            .to_string();
        assert!(
            error.contains(expected),
            "expected {expected:?}, got {error:?}"
        );
    }
    assert!(Binding::new(&kernel(), &options(good, &[], &["A=16"], SCALARS)).is_ok());
}
