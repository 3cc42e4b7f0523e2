//! The launcher on the emulator, and on a real GPU (compute capability 9.0):
//! `cargo test -p pipeline-run -- --ignored`.

use std::process::Command;

/// Runs a kernel of `data/gpu.ptx`; exit code and standard output.
fn run(device: &str, arguments: &[&str]) -> (i32, String) {
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gpu.ptx");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pipeline-run"));
    let output = command
        .arg(ptx)
        .args(["--device", device])
        .args(arguments)
        .output()
        .expect("starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let out = text(&output.stdout) + &text(&output.stderr);
    (output.status.code().expect("ends"), out)
}

fn elementwise_with_pitches_and_empty_sizes(device: &str) {
    let kernel = [
        "--kernel",
        "scale",
        "--arg",
        "alpha=-3",
        "--expect",
        "C = alpha * A",
    ];
    let sizes = ["--lengths", "0x0,0x5,5x0,1x1,3x5,17x997,64x4096"];
    let (code, out) = run(device, &[&kernel[..], &sizes[..]].concat());
    assert_eq!(code, 0, "{out}");
    assert_eq!(out.matches(": ok").count(), 7, "{out}");
    let pitched = ["--size", "33x65", "--pitch", "A=128", "--pitch", "C=72"];
    let (code, out) = run(device, &[&kernel[..], &pitched[..]].concat());
    assert_eq!(code, 0, "{out}");
    let (code, out) = run(
        device,
        &[
            "--kernel", "scale", "--arg", "alpha=2", "--size", "5x5", "--expect", "C = A",
        ],
    );
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("elements differ"), "{out}");
}

fn tensor_maps_have_their_dimensions_in_order(device: &str) {
    let kernel = ["--kernel", "tile_copy", "--expect", "C = A"];
    let sizes = ["--lengths", "1x1,8x32,7x31,9x33,100x5,5x100,128x256"];
    let (code, out) = run(device, &[&kernel[..], &sizes[..]].concat());
    assert_eq!(code, 0, "{out}");
    let (code, out) = run(
        device,
        &[&kernel[..], &["--size", "20x40", "--pitch", "A=64"]].concat(),
    );
    assert_eq!(code, 0, "{out}");
}

fn clusters_have_the_size_of_the_manifest(device: &str) {
    let (code, out) = run(
        device,
        &[
            "--kernel",
            "cluster_size",
            "--size",
            "1",
            "--expect",
            "C = 2",
        ],
    );
    assert_eq!(code, 0, "{out}");
    let grid = ["--grid", "3", "--kernel", "cluster_size", "--size", "1"];
    assert_eq!(run(device, &grid).0, 2);
}

#[test]
#[ignore = "needs a GPU"]
fn failures_are_told_apart() {
    let device = "gpu";
    let (code, out) = run(device, &["--kernel", "overrun", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("first after the last element at byte offset 32"),
        "{out}"
    );

    let (code, out) = run(device, &["--kernel", "wait_trap", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    let report =
        "wait timed out: role compute, barrier in.full[2], parity 1, block (0,0,0), thread 37";
    assert!(out.contains(report), "{out}");

    let (code, out) = run(
        device,
        &["--kernel", "hang", "--size", "8", "--timeout", "2"],
    );
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("did not end within 2s"), "{out}");
}

#[test]
#[ignore = "needs a GPU"]
fn measuring_prints_a_ratio() {
    let device = "gpu";
    let kernel = [
        "--kernel",
        "scale",
        "--arg",
        "alpha=2",
        "--expect",
        "C = alpha * A",
    ];
    let bench = ["--size", "4096x4096", "--bench-copy", "--iterations", "20"];
    let (code, out) = run(device, &[&kernel[..], &bench[..]].concat());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("ratio kernel/copy: "), "{out}");
}

#[test]
#[ignore = "needs a GPU"]
fn right_results_on_a_gpu() {
    right_results("gpu");
}

#[test]
fn right_results_on_the_emulator() {
    right_results("emulator");
}

fn right_results(device: &str) {
    elementwise_with_pitches_and_empty_sizes(device);
    tensor_maps_have_their_dimensions_in_order(device);
    clusters_have_the_size_of_the_manifest(device);
}

#[test]
fn failures_are_told_apart_on_the_emulator() {
    let device = "emulator";
    let (code, out) = run(device, &["--kernel", "overrun", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("gpu.ptx:130:2: error: 4 bytes of global memory") && out.contains("C ends"),
        "{out}"
    );

    let (code, out) = run(device, &["--kernel", "wait_trap", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    let report =
        "wait timed out: role compute, barrier in.full[2], parity 1, block (0,0,0), thread 37";
    assert!(out.contains(report), "{out}");
    assert!(out.contains("[trap]"), "{out}");

    let (code, out) = run(device, &["--kernel", "hang", "--size", "8"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("[livelock]"), "{out}");
    let short = ["--kernel", "hang", "--size", "8", "--max-steps", "1000"];
    let (code, out) = run(device, &short);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("stopped after 10"), "{out}");
    let (code, out) = run(
        device,
        &["--kernel", "hang", "--size", "8", "--timeout", "0"],
    );
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("its time is up [limit]"), "{out}");
}

#[test]
fn the_emulator_measures_itself() {
    let kernel = ["--kernel", "scale", "--arg", "alpha=2", "--size", "8x64"];
    let bench = ["--bench", "--iterations", "2", "--warm-up", "0"];
    let (code, out) = run("emulator", &[&kernel[..], &bench[..]].concat());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("M thread-instructions/s"), "{out}");
    let (code, out) = run("emulator", &[&kernel[..], &["--bench-copy"]].concat());
    assert_eq!(code, 2, "{out}");
    assert!(out.contains("--bench-copy needs a GPU"), "{out}");
}
