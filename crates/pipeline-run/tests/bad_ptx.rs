//! Unusable and hostile PTX, manifests and launches on the emulator, at the command line: each
//! ends soon, in little memory, with the exit code and the sentence that say what is wrong.

mod bad_ptx {
    pub(crate) mod bodies;
    pub(crate) mod launches;
    pub(crate) mod texts;
}

use std::{
    fs,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use bad_ptx::{bodies, launches, texts};

/// One bad input.
#[derive(Debug, Clone)]
struct Case {
    /// What is bad about it.
    name: &'static str,
    /// The exit code.
    code: i32,
    /// What has to be said.
    message: &'static str,
    ptx: String,
    manifest: String,
    arguments: Vec<&'static str>,
}

const PTX: &str = "\
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 dynamic[];
.visible .entry k(.param .u64 a, .param .u32 n)
{
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<32>;
	.reg .f32 %f<16>;
	.reg .b64 %rd<16>;
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 bar;
	.local .align 8 .b8 stack[16];
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
BODY
	ret;
}
";

const MANIFEST: &str = r#"{"schema_version":1,"target":"sm_90a","ptx_version":"8.6","kernels":[
  {"name":"k","block":[64,1,1],"cluster":null,"grid":[{"const":1},{"const":1},{"const":1}],
   "dynamic_shared_bytes":1024,
   "arguments":[
     {"kind":"memref","name":"A","element_type":"f32","shape":[null],"strides":[1],"alignment":16,"aliases":false},
     {"kind":"scalar","name":"n","type":"i32"}],
   "parameters":[{"kind":"pointer","argument":0},{"kind":"scalar","argument":1,"type":"i32"}],
   "roles":[],"channels":[],"barriers":[],"registers_per_warpgroup":null,"wait_report":null}]}"#;

fn case(name: &'static str, code: i32, message: &'static str) -> Case {
    Case {
        name,
        code,
        message,
        ptx: PTX.replace("BODY", ""),
        manifest: MANIFEST.to_owned(),
        arguments: vec!["--size", "64", "--arg", "n=64"],
    }
}

/// The longest that an input may take, in a build without optimisation.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is wrong with how the program deals with a case.
fn check(case: &Case) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    put("k.ptx", &case.ptx)
        .and(put("k.json", &case.manifest))
        .map_err(|e| e.to_string())?;
    // 4 GB of addresses: what a small kernel may cost, and no more.
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 4000000; exec \"$0\" k.ptx --device emulator \"$@\"",
        ])
        .arg(env!("CARGO_BIN_EXE_pipeline-run"))
        .args(&case.arguments)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    while child
        .try_wait()
        .map_err(|error| error.to_string())?
        .is_none()
    {
        if start.elapsed() > PATIENCE {
            // It may have ended meanwhile.
            let _ = child.kill();
            return Err(format!("no end within {PATIENCE:?}"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    let said = format!("{out}{error}");
    let fail = |what: &str| Err(format!("{what}\n{said}"));
    if output.status.code() != Some(case.code) {
        return fail(&format!(
            "{}, expected exit code {}",
            output.status, case.code
        ));
    }
    if said.contains("panicked") || said.contains(".rs:") {
        return fail("internals show");
    }
    if !said.contains(case.message) {
        return fail(&format!("not said: {}", case.message));
    }
    // Unusable input is one error on standard error, a defect a report on standard output.
    let (stream, other) = if case.code == 2 {
        (&error, &out)
    } else {
        (&out, &error)
    };
    if !stream.contains("error: ") || other.contains("error: ") {
        return fail("the error is on the wrong stream");
    }
    if case.code == 2 && error.matches("error: ").count() != 1 {
        return fail("more than one error");
    }
    let located = stream.lines().any(|line| {
        let place = line.trim_start().strip_prefix("k.ptx:");
        place.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let is_about_text = case.message.starts_with("k.ptx:");
    if is_about_text && !located {
        return fail("no place is named");
    }
    Ok(())
}

/// Checks all cases, two at a time, and says which are wrong.
fn check_all(cases: &[Case]) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(what) = check(case) {
                wrong.push(format!("{}: {what}", case.name));
            }
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut wrong = work();
        wrong.extend(other.join().expect("no panic"));
        wrong
    });
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn texts_that_are_no_ptx() {
    check_all(&texts::cases());
}

#[test]
fn instructions_that_are_wrong() {
    check_all(&bodies::refused());
}

#[test]
fn instructions_that_go_wrong() {
    check_all(&bodies::failing());
}

#[test]
fn manifests_and_launches_that_do_not_fit() {
    check_all(&launches::cases());
}

#[test]
fn there_are_more_than_a_hundred() {
    let all = [
        texts::cases(),
        bodies::refused(),
        bodies::failing(),
        launches::cases(),
    ]
    .concat();
    assert!(all.len() >= 100, "{}", all.len());
    let mut names: Vec<_> = all.iter().map(|case| case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "names are unique");
}

/// The kernel that all cases are made from has nothing wrong.
#[test]
fn the_kernel_without_the_fault_is_right() {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("k.ptx"), PTX.replace("BODY", "")).expect("writes");
    fs::write(folder.path().join("k.json"), MANIFEST).expect("writes");
    let output = Command::new(env!("CARGO_BIN_EXE_pipeline-run"))
        .args([
            "k.ptx", "--device", "emulator", "--size", "64", "--arg", "n=64",
        ])
        .current_dir(folder.path())
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
