use std::error::Error as _;

use super::*;

/// A manifest that uses every kind of field.
const EXAMPLE: &str = r#"{
  "schema_version": 1,
  "target": "sm_90a",
  "ptx_version": "8.6",
  "kernels": [{
    "name": "stream_add", "block": [288, 1, 1], "cluster": null,
    "grid": [{"min": [{"ceildiv": [{"dim": {"argument": 0, "dimension": 0}}, {"const": 1024}]},
                      {"mul": [{"const": 2}, "sm_count"]}]}, {"const": 1}, {"const": 1}],
    "dynamic_shared_bytes": 33024,
    "arguments": [
      {"name": "A", "kind": "memref", "element_type": "f32", "shape": [null], "strides": [1],
       "alignment": 16, "aliases": false},
      {"name": "n", "kind": "scalar", "type": "i32"}],
    "parameters": [
      {"kind": "tensor_map", "argument": 0, "element_type": "f32", "box": [256],
       "element_strides": [1], "swizzle": "none", "fill": "zero"},
      {"kind": "pointer", "argument": 0},
      {"kind": "size", "argument": 0, "dimension": 0},
      {"kind": "stride", "argument": 0, "dimension": 0},
      {"kind": "scalar", "argument": 1, "type": "i32"}],
    "roles": [{"name": "load", "first_warp": 0, "warps": 1, "elected": true, "registers": null}],
    "channels": [{"name": "in", "stages": 4, "slot_bytes": 8192, "completion": "tma",
      "fields": [{"shape": [1024], "element_type": "f32"}], "shared_offset": 0}],
    "barriers": [{"name": "in.full", "stages": 4, "arrival_count": 1, "tx_bytes": 8192,
      "shared_offset": 32768}],
    "registers_per_warpgroup": [40, 232],
    "wait_report": {"symbol": "async_pipeline_wait_report", "bytes": 32, "roles": ["load"]}
  }]
}"#;

#[test]
fn round_trips() {
    let manifest = Manifest::from_json(EXAMPLE).expect("valid");
    let text = manifest.to_json();
    assert!(text.ends_with("}\n"));
    assert_eq!(Manifest::from_json(&text).expect("valid"), manifest);
    let kernel = manifest.kernel(None).expect("one kernel");
    assert_eq!(kernel.memref(0).expect("memref").name, "A");
    assert_eq!(kernel.scalar(1).expect("scalar").name, "n");
    assert!(kernel.memref(1).is_none() && kernel.memref(7).is_none());
    assert!(manifest.kernel(Some("other")).is_none());
}

/// The messages of an error and its sources, joined.
fn message(text: &str) -> String {
    let error = Manifest::from_json(text).expect_err(text);
    let mut all = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        all += &format!(": {source}");
        next = source.source();
    }
    all
}

#[test]
fn rejects_contradictions() {
    let cases = [
        (
            r#""schema_version": 1"#,
            r#""schema_version": 2, "new": 0"#,
            "the manifest has schema_version 2, expected 1",
        ),
        (r#""target""#, r#""goal""#, "unknown field `goal`"),
        (
            r#""swizzle": "none""#,
            r#""swizzle": "16b""#,
            "unknown variant `16b`",
        ),
        (
            r#""block": [288, 1, 1]"#,
            r#""block": [288, 4, 1]"#,
            "block: expected 1 to 1024 threads, got 1152",
        ),
        (
            r#""block": [288, 1, 1]"#,
            r#""block": [288, 1]"#,
            "invalid length 2",
        ),
        (
            r#""block": [288, 1, 1]"#,
            r#""block": [4294967295, 4294967295, 4294967295]"#,
            "block: expected 1 to 1024 threads",
        ),
        (
            r#""aliases": false"#,
            r#""aliases": false, "x": 1"#,
            "unknown field `x`",
        ),
        (
            r#""cluster": null"#,
            r#""cluster": [2, 0, 1]"#,
            "cluster: expected 1 to 16 blocks, got 0",
        ),
        (
            r#"{"dim": {"argument": 0, "dimension": 0}}"#,
            r#"{"dim": {"argument": 0, "dimension": 1}}"#,
            "dimension 1 of argument `A`, which has 1",
        ),
        (
            r#""sm_count""#,
            r#"{"scalar": {"argument": 0}}"#,
            "argument 0 is not one of the scalars among 2 arguments",
        ),
        (
            r#""strides": [1]"#,
            r#""strides": [1, 1]"#,
            "argument `A`: 1 sizes but 2 strides",
        ),
        (
            r#""strides": [1]"#,
            r#""strides": [2]"#,
            "parameter 0: argument `A` is not contiguous",
        ),
        (
            r#""alignment": 16"#,
            r#""alignment": 24"#,
            "alignment 24 is no power of two",
        ),
        (
            r#""name": "n""#,
            r#""name": "A""#,
            "another argument has the same name",
        ),
        (
            r#""box": [256]"#,
            r#""box": [16, 16]"#,
            "parameter 0: the box has rank 2, argument `A` has 1",
        ),
        (
            r#""box": [256]"#,
            r#""box": [512]"#,
            "box size 512 is not within 1 to 256",
        ),
        (
            r#""box": [256]"#,
            r#""box": [3]"#,
            "rows of the box have 12 bytes, expected a multiple of 16",
        ),
        (
            r#""swizzle": "none""#,
            r#""swizzle": "128b""#,
            "rows of the box have 1024 bytes, the swizzle allows 128",
        ),
        (
            r#"[1], "swizzle""#,
            r#"[9], "swizzle""#,
            "element stride 9 is not within 1 to 8",
        ),
        (
            r#""kind": "pointer", "argument": 0"#,
            r#""kind": "pointer", "argument": 5"#,
            "parameter 1: argument 5 is not one of the memrefs",
        ),
        (
            r#""kind": "pointer", "argument": 0"#,
            r#""kind": "pointer", "argument": 0, "x": 1"#,
            "unknown field",
        ),
        (
            r#""argument": 1, "type": "i32""#,
            r#""argument": 1, "type": "f32""#,
            "type f32, but argument `n` has i32",
        ),
        (
            r#""shared_offset": 32768"#,
            r#""shared_offset": 32769"#,
            "barrier `in.full`: offset 32769 is no multiple of 8",
        ),
        (
            r#""shared_offset": 32768"#,
            r#""shared_offset": 33000"#,
            "it ends at byte 33032 of 33024 bytes",
        ),
        (
            r#""arrival_count": 1"#,
            r#""arrival_count": 0"#,
            "the arrival count is 0",
        ),
        (
            r#""bytes": 32"#,
            r#""bytes": 16"#,
            "wait_report: expected at least 32 bytes",
        ),
    ];
    for (old, new, expected) in cases {
        assert!(EXAMPLE.contains(old), "{old}");
        let got = message(&EXAMPLE.replacen(old, new, 1));
        assert!(got.contains(expected), "expected {expected:?}, got {got:?}");
    }
    assert!(message("{").contains("EOF"));
    assert!(message("[]").contains("the manifest cannot be read"));
}

#[test]
fn element_types_have_one_name() {
    for element in ElementType::ALL {
        let json = serde_json::to_string(&element).expect("prints");
        assert_eq!(json, format!("\"{element}\""));
        assert_eq!(ElementType::from_name(element.name()), Some(element));
    }
    assert_eq!(ElementType::from_name("f128"), None);
}

/// Numbers of `CUtensorMapDataType` in the CUDA driver API.
#[test]
fn driver_codes() {
    let codes = ElementType::ALL.map(ElementType::driver_code);
    assert_eq!(codes, [6, 9, 7, 11, 8, 0, 1, 3, 5, 0, 0]);
    assert_eq!(Swizzle::B128.driver_code(), 3);
    assert_eq!(Fill::Nan.driver_code(), 1);
}
