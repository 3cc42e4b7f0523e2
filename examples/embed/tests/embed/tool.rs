//! The tool as a process.

use super::SAMPLES;
use async_pipeline::Target;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn embed(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_embed"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let mut stdin = child.stdin.take().expect("is piped");
    // A call that does not read its input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the tool ends")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A fresh folder for a test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

#[test]
fn help_and_wrong_calls() {
    let help = embed(&["--help"], "");
    assert_eq!(code(&help), 0);
    assert!(text(&help.stdout).starts_with("Usage: embed FILE"));
    for (arguments, expected) in [
        (
            &[][..],
            "embed: expected a file, or - for the standard input; see embed --help\n",
        ),
        (
            &["a", "b"],
            "embed: expected one file, got b too; see embed --help\n",
        ),
        (
            &["a", "--emit", "cubin"],
            "embed: expected --emit tile or ptx, got cubin; see embed --help\n",
        ),
        (
            &["a", "--target=sm_70"],
            "embed: expected --target sm_80, sm_90a or sm_100a, got sm_70; see embed --help\n",
        ),
        (
            &["a", "--out"],
            "embed: expected a value behind --out; see embed --help\n",
        ),
        (
            &["a", "--fast"],
            "embed: unknown option --fast; see embed --help\n",
        ),
    ] {
        let output = embed(arguments, "");
        assert_eq!(
            (code(&output), text(&output.stderr).as_str()),
            (2, expected)
        );
    }
    let missing = embed(&["not there"], "");
    assert_eq!(code(&missing), 2);
    assert!(text(&missing.stderr).starts_with("embed: cannot read not there: "));
    let out = embed(
        &[
            "samples/linear.embed",
            "--emit",
            "tile",
            "--out",
            "Cargo.toml",
        ],
        "",
    );
    assert_eq!(code(&out), 2);
}

#[test]
fn the_tile_level_is_printed_or_written() {
    let printed = embed(&["-", "--emit=tile"], &super::sample("linear").text);
    assert_eq!(code(&printed), 0);
    assert!(text(&printed.stdout).starts_with("gpu.module @kernels {\n"));
    assert!(text(&printed.stdout).contains("loc(\"<stdin>\":3:16)"));
    let out = folder("tile");
    let written = embed(
        &[
            "samples/residual.embed",
            "--emit",
            "tile",
            "--out",
            &out.to_string_lossy(),
        ],
        "",
    );
    assert_eq!(code(&written), 0);
    for name in ["up.mlir", "down.mlir"] {
        let text = fs::read_to_string(out.join(name)).expect("is written");
        assert!(text.contains("async_pipeline.work.mma"));
    }
}

#[test]
fn a_wrong_program_is_refused_at_its_place() {
    let output = embed(
        &["-"],
        "kernel k(A: f16[M, N]) -> C: f16[M, N]\n  C = relu(D)\n",
    );
    assert_eq!(code(&output), 1);
    assert_eq!(
        text(&output.stderr),
        "<stdin>:2:12: error: unknown name `D`; there are: A\n  C = relu(D)\n           ^\n"
    );
    assert!(output.stdout.is_empty());
}

/// A sample becomes PTX and a manifest for every target, or the compiler says at which place of
/// the sample it stops.
#[test]
fn samples_become_ptx_for_every_target() {
    for name in SAMPLES {
        for target in Target::ALL {
            let out = folder(&format!("{name}.{target}"));
            let file = format!("samples/{name}.embed");
            let place = out.to_string_lossy();
            let arguments = [&file, "--target", target.name(), "--out", &place];
            let output = embed(&arguments, "");
            let said = text(&output.stderr);
            assert_eq!(code(&output), 0, "{said}");
            let mut extensions: Vec<String> = fs::read_dir(&out)
                .expect("is written")
                .filter_map(|entry| Some(entry.ok()?.path().extension()?.to_str()?.to_owned()))
                .collect();
            extensions.sort();
            extensions.dedup();
            assert_eq!(extensions, ["json", "ptx"]);
        }
    }
}
