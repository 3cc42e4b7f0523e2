//! The program from outside: exit codes and messages on machines without a GPU.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const MANIFEST: &str = r#"{"schema_version": 1, "target": "sm_80", "ptx_version": "8.0", "kernels": [
  {"name": "add", "block": [32,1,1], "cluster": null,
   "grid": [{"ceildiv": [{"dim": {"argument": 0, "dimension": 0}}, {"const": 256}]}, {"const": 1}, {"const": 1}],
   "dynamic_shared_bytes": 0,
   "arguments": [
     {"kind":"memref","name":"A","element_type":"f32","shape":[null],"strides":[1],"alignment":16,"aliases":false},
     {"kind":"memref","name":"B","element_type":"f32","shape":[null],"strides":[1],"alignment":16,"aliases":false},
     {"kind":"scalar","name":"alpha","type":"f32"}],
   "parameters": [{"kind":"pointer","argument":0},{"kind":"pointer","argument":1},
     {"kind":"size","argument":0,"dimension":0},{"kind":"scalar","argument":2,"type":"f32"}],
   "roles": [], "channels": [], "barriers": [], "registers_per_warpgroup": null, "wait_report": null}]}"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("temporary folder"));
        folder.put(
            "add.ptx",
            ".version 8.0\n.target sm_80\n.visible .entry add() { ret; }\n",
        );
        folder.put("add.json", MANIFEST);
        folder.put("add.cubin", "");
        folder
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("writes");
        path
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pipeline-run"));
        command
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .expect("starts")
    }

    /// Exit code, standard output and standard error.
    fn result(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.run(arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (
            output.status.code().expect("ends"),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

#[test]
fn help_is_no_error() {
    let folder = Folder::new();
    let (code, out, _) = folder.result(&["--help"]);
    assert_eq!(code, 0);
    for word in [
        "--expect",
        "--lengths",
        "--bench-copy",
        "counts",
        "summary",
        "Exit codes",
    ] {
        assert!(out.contains(word), "{word}");
    }
    assert_eq!(folder.result(&["counts", "--help"]).0, 0);
    assert_eq!(folder.result(&["--version"]).0, 0);
    assert_eq!(folder.result(&[]).0, 2);
}

#[test]
fn unusable_input_is_two() {
    let folder = Folder::new();
    folder.put("lone.ptx", "");
    folder.put("bad.json", "{");
    folder.put("kernel.txt", "");
    let cases: &[(&[&str], &str)] = &[
        (&["none.ptx"], "cannot read `none.json`"),
        (&["lone.ptx"], "cannot read `lone.json`"),
        (
            &["add.ptx", "--manifest", "bad.json"],
            "`bad.json` is no usable manifest: the manifest cannot be read: EOF",
        ),
        (
            &["kernel.txt"],
            "`kernel.txt` is neither .ptx nor .cubin nor .mlir",
        ),
        (&["none.mlir"], "cannot read `none.mlir`"),
        (
            &["add.ptx", "--kernel", "sub"],
            "there is no kernel `sub`; the manifest has add",
        ),
        (
            &["add.cubin", "--device", "emulator"],
            "the emulator runs PTX, not cubins",
        ),
        (
            &[
                "add.ptx", "--size", "9", "--arg", "alpha=1", "--device", "gpu", "--strict",
            ],
            "--strict needs --device emulator",
        ),
        (
            &["add.ptx", "--schedules", "0"],
            "invalid value '0' for '--schedules <N>'",
        ),
        (
            &["add.ptx", "--schedules", "3", "--schedule", "2"],
            "cannot be used with",
        ),
        (&["add.ptx"], "argument `A` has no size; give --size A=N"),
        (
            &["add.ptx", "--size", "9"],
            "argument `alpha` has no value; give --arg alpha=VALUE",
        ),
        (
            &["add.ptx", "--size", "9x9", "--arg", "alpha=1"],
            "argument `A` is declared ?, --size gives 9x9",
        ),
        (
            &[
                "add.ptx",
                "--size",
                "9",
                "--arg",
                "alpha=1",
                "--misalign",
                "A=4",
            ],
            "argument `A` must start at a multiple of 16 bytes",
        ),
        (
            &[
                "add.ptx", "--size", "9", "--arg", "alpha=1", "--pitch", "A=12",
            ],
            "the rows of argument `A` cannot be spaced",
        ),
        (
            &[
                "add.ptx", "--size", "9", "--arg", "alpha=1", "--expect", "B = A +",
            ],
            "--expect: `B = A +`: at byte 7: expected a number",
        ),
        (
            &[
                "add.ptx",
                "--size",
                "9",
                "--arg",
                "alpha=1",
                "--expect",
                "B = A + C",
            ],
            "at byte 8: `C` is no argument",
        ),
        (
            &[
                "add.ptx", "--size", "9", "--arg", "alpha=1", "--save", "X=f",
            ],
            "--save names `X`",
        ),
        (
            &["add.ptx", "--bytes", "dim(0"],
            "--bytes `dim(0`: at byte 5: expected `,`",
        ),
        (
            &["add.ptx", "--size", "x"],
            "expected sizes such as 64 or 64x32",
        ),
        (
            &["add.ptx", "--lengths", "1,,2"],
            "expected sizes such as 64 or 64x32",
        ),
        (&["add.ptx", "--nonsense"], "unexpected argument"),
        (&["counts", "none.ptx"], "cannot read `none.ptx`"),
        (&["counts", "lone.ptx"], "`lone.ptx` has no kernel"),
        (
            &["counts", "add.ptx", "--kernel", "sub"],
            "`add.ptx` has no kernel `sub`, it has add",
        ),
        (&["summary", "bad.json"], "`bad.json` is no usable manifest"),
    ];
    for (arguments, message) in cases {
        let (code, _, error) = folder.result(arguments);
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert_eq!(code, 2, "{arguments:?}");
        assert_eq!(error.matches("error:").count(), 1, "{error}");
    }
}

/// With good arguments the only thing that may be missing is the device.
#[test]
fn without_a_driver_one_sentence_says_so() {
    if Path::new("/dev/nvidiactl").exists() {
        return;
    }
    let folder = Folder::new();
    let arguments = [
        "add.ptx",
        "--device",
        "gpu",
        "--lengths",
        "0,1,997",
        "--arg",
        "alpha=2",
        "--expect",
        "B = alpha * A",
    ];
    let (code, out, error) = folder.result(&arguments);
    assert_eq!((code, out.as_str()), (2, ""));
    let sentence = "error: no CUDA driver found on this machine (libcuda.so.1)\n";
    assert_eq!(error, sentence);
    // A cubin has nowhere else to run.
    let cubin = ["add.cubin", "--size", "9", "--arg", "alpha=1"];
    let (code, _, error) = folder.result(&cubin);
    assert_eq!((code, error.as_str()), (2, sentence));
    // PTX has the emulator; this kernel has no parameters, and the manifest says four.
    let (code, out, error) = folder.result(&["add.ptx", "--size", "9", "--arg", "alpha=1"]);
    assert_eq!(
        (code, out.as_str()),
        (2, "device: emulator, sm_80, 132 SMs\n")
    );
    assert_eq!(
        error,
        "error: kernel `add` has 0 parameters in the PTX and 4 in the manifest\n"
    );
}

#[test]
fn subcommands_need_no_device() {
    let folder = Folder::new();
    let (code, out, _) = folder.result(&["summary", "add.json", "add.json"]);
    assert_eq!(
        (code, out.matches("kernel add, sm_80, PTX 8.0").count()),
        (0, 2)
    );
    let (code, out, _) = folder.result(&["counts", "add.ptx"]);
    assert_eq!((code, out.as_str()), (0, "add: no main loop\n"));
}

/// A script stands for the compiler beside the program: it gets the options, and what it writes
/// is used.
#[cfg(unix)]
#[test]
fn mlir_goes_through_the_compiler_beside_the_program() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let program = folder.0.path().join("pipeline-run");
    fs::copy(env!("CARGO_BIN_EXE_pipeline-run"), &program).expect("copies");
    let run = |arguments: &[&str]| {
        loop {
            let mut command = Command::new(&program);
            let output = command
                .current_dir(folder.0.path())
                .args(arguments)
                .output();
            // A test that starts a process at this moment holds the files that are written here
            // open for a little longer.
            let output = match output {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => continue,
                other => other.expect("starts"),
            };
            let error = String::from_utf8(output.stderr).expect("UTF-8");
            if !error.contains("Text file busy") {
                return (output.status.code().expect("ends"), error);
            }
        }
    };
    folder.put("add.mlir", "");
    let script = folder.put(
        "pipeline-opt",
        "#!/bin/sh\necho \"$@\" > options\n[ -e broken ] && exit 1\n\
         while [ \"$1\" != -o ]; do shift; done\ncp add.ptx \"$2\"; cp add.json \"${2%.ptx}.json\"\n",
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("changes");

    let (code, error) = run(&["add.mlir", "--target", "sm_90a", "--stages", "3"]);
    assert_eq!(code, 2);
    assert!(error.contains("argument `A` has no size"), "{error}");
    let options = fs::read_to_string(folder.0.path().join("options")).expect("reads");
    assert!(
        options.starts_with("add.mlir --emit=ptx --target=sm_90a --stages=3"),
        "{options}"
    );
    assert!(options.trim_end().ends_with("/add.ptx"), "{options}");

    folder.put("broken", "");
    let (code, error) = run(&["add.mlir", "--target", "sm_90a"]);
    assert_eq!(
        (code, error.as_str()),
        (2, "error: `add.mlir` does not compile\n")
    );
}
