use ptx_model::manifest::{Kernel, Manifest};

use super::*;
use crate::bind::BindOptions;

fn kernel() -> Kernel {
    let text = r#"{"schema_version": 1, "target": "sm_80", "ptx_version": "8.0", "kernels": [{
      "name": "k", "block": [32,1,1], "cluster": null, "grid": null, "dynamic_shared_bytes": 0,
      "arguments": [
        {"kind":"memref","name":"A","element_type":"f32","shape":[null,null],"strides":[null,1],"alignment":16,"aliases":false},
        {"kind":"memref","name":"B","element_type":"f16","shape":[null,null],"strides":[null,1],"alignment":16,"aliases":false},
        {"kind":"memref","name":"C","element_type":"f32","shape":[null,null],"strides":[null,1],"alignment":16,"aliases":false},
        {"kind":"scalar","name":"alpha","type":"f32"}],
      "parameters": [{"kind":"stride","argument":0,"dimension":0},{"kind":"stride","argument":1,"dimension":0},
        {"kind":"stride","argument":2,"dimension":0}],
      "roles": [], "channels": [], "barriers": [], "registers_per_warpgroup": null, "wait_report": null}]}"#;
    Manifest::from_json(text).expect("valid").kernels.remove(0)
}

fn binding(sizes: &[&str]) -> Binding {
    let options = BindOptions {
        sizes: sizes.iter().map(|s| s.parse().expect("size")).collect(),
        scalars: vec!["alpha=2".parse().expect("scalar")],
        ..BindOptions::default()
    };
    Binding::new(&kernel(), &options).expect("binds")
}

fn options(expect: &[&str]) -> ValueOptions {
    ValueOptions {
        expect: expect
            .iter()
            .map(|e| Expectation::parse(e).expect("parses"))
            .collect(),
        expect_file: Vec::new(),
        input: Vec::new(),
        fill: Fill::Integer,
        seed: 7,
        tolerance: None,
    }
}

/// What a right kernel for `C = A + alpha * B` leaves behind.
fn run(binding: &Binding, before: &[Image]) -> Vec<Image> {
    let tensors: Vec<_> = binding.tensors().collect();
    let a = before[0].packed(&tensors[0].layout);
    let b = before[1].packed(&tensors[1].layout);
    let mut after = before.to_vec();
    after[2].for_each_element(&tensors[2].layout, |linear, bytes| {
        let i = usize::try_from(linear).expect("small");
        let a = numeric::decode(ElementType::F32, &a[4 * i..]);
        let b = numeric::decode(ElementType::F16, &b[2 * i..]);
        bytes.copy_from_slice(&numeric::encode(ElementType::F32, a + 2.0 * b)[..4]);
    });
    after
}

#[test]
fn right_results_have_no_findings() {
    for sizes in ["3x5", "0x5", "5x0", "1x1", "4x8"] {
        let binding = binding(&[sizes]);
        let prepared = Prepared::new(&binding, &options(&["C = A + alpha * B"])).expect("prepares");
        assert_eq!(prepared.expectations(), 1);
        let after = run(&binding, &prepared.images);
        assert_eq!(prepared.check(&binding, &after), [], "{sizes}");
    }
}

#[test]
fn a_kernel_that_does_nothing_fails_everywhere() {
    let binding = binding(&["3x5"]);
    let prepared = Prepared::new(&binding, &options(&["C = A + B"])).expect("prepares");
    let findings = prepared.check(&binding, &prepared.images);
    let [
        Finding::Mismatch {
            count,
            elements,
            first,
            ..
        },
    ] = findings.as_slice()
    else {
        panic!("{findings:?}");
    };
    assert_eq!((*count, *elements, first.len()), (15, 15, SHOWN));
}

#[test]
fn finds_what_is_wrong() {
    let binding = binding(&["3x5"]);
    let prepared = Prepared::new(&binding, &options(&["C = A + alpha * B"])).expect("prepares");
    let mut after = run(&binding, &prepared.images);
    let start = after[2].start();
    // C[1, 2] off by its sign, an input overwritten, a byte of C's padding.
    after[2].bytes_mut()[start + 32 + 8 + 3] ^= 0x80;
    after[0].bytes_mut()[start + 3] ^= 0x80;
    after[2].bytes_mut()[start + 20] = 0;
    let text: Vec<String> = prepared
        .check(&binding, &after)
        .iter()
        .map(Finding::to_string)
        .collect();
    assert_eq!(text.len(), 3, "{text:?}");
    assert_eq!(
        text[0],
        "A: 1 elements changed that nothing should write, first A[0, 0]"
    );
    assert!(
        text[1].starts_with("C: 1 of 15 elements differ\n  C[1, 2]: got "),
        "{text:?}"
    );
    assert_eq!(
        text[2],
        "C: 1 bytes changed outside its elements, first in the padding between rows at byte offset 20"
    );
}

#[test]
fn in_place_expectations_read_the_values_before() {
    let binding = binding(&["2x2"]);
    let prepared = Prepared::new(&binding, &options(&["A = A * 2"])).expect("prepares");
    let mut after = prepared.images.clone();
    let layout = binding.tensor(0).expect("A").layout.clone();
    after[0].for_each_element(&layout, |_, bytes| {
        let doubled = 2.0 * numeric::decode(ElementType::F32, bytes);
        bytes.copy_from_slice(&numeric::encode(ElementType::F32, doubled)[..4]);
    });
    assert_eq!(prepared.check(&binding, &after), []);
}

#[test]
fn without_expectations_only_guards_count() {
    let binding = binding(&["3x5"]);
    let prepared = Prepared::new(&binding, &options(&[])).expect("prepares");
    let mut after = run(&binding, &prepared.images);
    assert_eq!(prepared.check(&binding, &after), []);
    after[1].bytes_mut()[0] = 0;
    assert_eq!(prepared.check(&binding, &after).len(), 1);
}

#[test]
fn files_of_elements() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (input, wanted) = (folder.path().join("a"), folder.path().join("c"));
    let numbers: Vec<u8> = (0..15u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    std::fs::write(&input, &numbers).expect("writes");
    std::fs::write(&wanted, &numbers).expect("writes");
    let binding = binding(&["3x5"]);
    let mut options = options(&[]);
    options.input = vec![Named {
        argument: "A".into(),
        value: input,
    }];
    options.expect_file = vec![Named {
        argument: "C".into(),
        value: wanted.clone(),
    }];
    let prepared = Prepared::new(&binding, &options).expect("prepares");
    assert_eq!(
        prepared.images[0].packed(&binding.tensor(0).expect("A").layout),
        numbers
    );
    let mut after = prepared.images.clone();
    after[2] = after[0].clone();
    assert_eq!(prepared.check(&binding, &after), []);
    std::fs::write(&wanted, &numbers[1..]).expect("writes");
    let error = Prepared::new(&binding, &options).expect_err("wrong size");
    assert!(
        error
            .to_string()
            .ends_with("has 59 bytes, argument `C` has 60")
    );
}

#[test]
fn refuses() {
    let cases: &[(&[&str], &[&str], &str)] = &[
        (
            &["2x2"],
            &["D = A"],
            "--expect names `D`, which is no memref argument of the kernel",
        ),
        (&["2x2"], &["alpha = A"], "--expect names `alpha`"),
        (
            &["2x2"],
            &["C = A + X"],
            "--expect: at byte 8: `X` is no argument of the kernel",
        ),
        (
            &["2x2", "B=2x3"],
            &["C = A + B"],
            "--expect: at byte 8: `B` has sizes 2x3, `C` has 2x2",
        ),
        (
            &["2x2"],
            &["C = A", "C = B"],
            "argument `C` has more than one expectation",
        ),
    ];
    for (sizes, expect, message) in cases {
        let error = Prepared::new(&binding(sizes), &options(expect)).expect_err(message);
        assert!(error.to_string().contains(message), "{error}");
    }
}
