//! From `.mlir` to `.ptx` and manifest, by calling `pipeline-opt`.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// The compiler's name.
const COMPILER: &str = "pipeline-opt";

/// Why a kernel cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The compiler is nowhere to be found.
    #[error("cannot start `{program}`; it has to stand beside this program or on the PATH")]
    Start {
        /// What was tried.
        program: PathBuf,
        /// Why it does not start.
        source: io::Error,
    },
    /// No folder for its output.
    #[error("cannot make a temporary folder")]
    Folder(#[source] io::Error),
    /// The compiler refused the kernel; it has printed why.
    #[error("`{0}` does not compile")]
    Failed(PathBuf),
    /// Nothing says for which target to compile.
    #[error("the device has no known compiler target; give --target")]
    NoTarget,
}

/// A compiled kernel; the files vanish with this value.
#[derive(Debug)]
pub struct Compiled {
    /// The PTX file; the manifest stands beside it.
    pub ptx: PathBuf,
    _folder: TempDir,
}

/// Compiles `input` for `target`; with `lines` the PTX says from which lines it was made.
///
/// # Errors
/// No compiler, or a kernel that it refuses.
pub fn compile(
    input: &Path,
    target: &str,
    stages: Option<u32>,
    lines: bool,
) -> Result<Compiled, CompileError> {
    let folder = tempfile::tempdir().map_err(CompileError::Folder)?;
    let stem = input.file_stem().unwrap_or_else(|| "kernel".as_ref());
    let ptx = folder.path().join(stem).with_extension("ptx");
    let program = find_compiler();
    let mut command = Command::new(&program);
    command
        .arg(input)
        .arg("--emit=ptx")
        .arg(format!("--target={target}"));
    if let Some(stages) = stages {
        command.arg(format!("--stages={stages}"));
    }
    if lines {
        command.arg("--debug-lines");
    }
    command.arg("-o").arg(&ptx);
    let status = command.status();
    let status = status.map_err(|source| CompileError::Start { program, source })?;
    if !status.success() {
        return Err(CompileError::Failed(input.to_owned()));
    }
    Ok(Compiled {
        ptx,
        _folder: folder,
    })
}

/// The compiler beside this program, where a build puts both; else whatever the PATH has.
fn find_compiler() -> PathBuf {
    let beside = env::current_exe()
        .ok()
        .map(|own| own.with_file_name(COMPILER));
    beside
        .filter(|program| program.is_file())
        .unwrap_or_else(|| PathBuf::from(COMPILER))
}
