//! The launcher on a real GPU (compute capability 9.0): `cargo test -p pipeline-run -- --ignored`.

use std::process::Command;

/// Runs a kernel of `data/gpu.ptx`; exit code and standard output.
fn run(arguments: &[&str]) -> (i32, String) {
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gpu.ptx");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pipeline-run"));
    let output = command.arg(ptx).args(arguments).output().expect("starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let out = text(&output.stdout) + &text(&output.stderr);
    (output.status.code().expect("ends"), out)
}

#[test]
#[ignore = "needs a GPU"]
fn elementwise_with_pitches_and_empty_sizes() {
    let kernel = [
        "--kernel",
        "scale",
        "--arg",
        "alpha=-3",
        "--expect",
        "C = alpha * A",
    ];
    let sizes = ["--lengths", "0x0,0x5,5x0,1x1,3x5,17x997,64x4096"];
    let (code, out) = run(&[&kernel[..], &sizes[..]].concat());
    assert_eq!(code, 0, "{out}");
    assert_eq!(out.matches(": ok").count(), 7, "{out}");
    let pitched = ["--size", "33x65", "--pitch", "A=128", "--pitch", "C=72"];
    let (code, out) = run(&[&kernel[..], &pitched[..]].concat());
    assert_eq!(code, 0, "{out}");
    let (code, out) = run(&[
        "--kernel", "scale", "--arg", "alpha=2", "--size", "5x5", "--expect", "C = A",
    ]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("elements differ"), "{out}");
}

#[test]
#[ignore = "needs a GPU"]
fn tensor_maps_have_their_dimensions_in_order() {
    let kernel = ["--kernel", "tile_copy", "--expect", "C = A"];
    let sizes = ["--lengths", "1x1,8x32,7x31,9x33,100x5,5x100,128x256"];
    let (code, out) = run(&[&kernel[..], &sizes[..]].concat());
    assert_eq!(code, 0, "{out}");
    let (code, out) = run(&[&kernel[..], &["--size", "20x40", "--pitch", "A=64"]].concat());
    assert_eq!(code, 0, "{out}");
}

#[test]
#[ignore = "needs a GPU"]
fn clusters_have_the_size_of_the_manifest() {
    let (code, out) = run(&[
        "--kernel",
        "cluster_size",
        "--size",
        "1",
        "--expect",
        "C = 2",
    ]);
    assert_eq!(code, 0, "{out}");
    let grid = ["--grid", "3", "--kernel", "cluster_size", "--size", "1"];
    assert_eq!(run(&grid).0, 2);
}

#[test]
#[ignore = "needs a GPU"]
fn failures_are_told_apart() {
    let (code, out) = run(&["--kernel", "overrun", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("first after the last element at byte offset 32"),
        "{out}"
    );

    let (code, out) = run(&["--kernel", "wait_trap", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    let report =
        "wait timed out: role compute, barrier in.full[2], parity 1, block (0,0,0), thread 37";
    assert!(out.contains(report), "{out}");

    let (code, out) = run(&["--kernel", "hang", "--size", "8", "--timeout", "2"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("did not end within 2s"), "{out}");
}

#[test]
#[ignore = "needs a GPU"]
fn measuring_prints_a_ratio() {
    let kernel = [
        "--kernel",
        "scale",
        "--arg",
        "alpha=2",
        "--expect",
        "C = alpha * A",
    ];
    let bench = ["--size", "4096x4096", "--bench-copy", "--iterations", "20"];
    let (code, out) = run(&[&kernel[..], &bench[..]].concat());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("ratio kernel/copy: "), "{out}");
}
