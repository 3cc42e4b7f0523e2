//! Assembling PTX with NVIDIA's ptxas.

use crate::Target;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};
use thiserror::Error;

/// Why PTX could not be assembled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// ptxas could not be started.
    #[error("cannot run {}: {source}; name it with --ptxas", path.display())]
    Start {
        /// What was tried.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// ptxas refuses the text.
    #[error("internal error: ptxas refuses the PTX: {0}")]
    Refused(String),
    /// A temporary file could not be written or read.
    #[error("temporary file: {0}")]
    Io(#[from] io::Error),
}

/// Assembles PTX text; returns the cubin.
///
/// # Errors
/// See [`AssembleError`].
pub fn assemble(ptx: &str, target: Target, ptxas: &Path) -> Result<Vec<u8>, AssembleError> {
    let folder = tempfile::tempdir()?;
    let (input, output) = (
        folder.path().join("kernel.ptx"),
        folder.path().join("kernel.cubin"),
    );
    fs::write(&input, ptx)?;
    let result = Command::new(ptxas)
        .arg(format!("-arch={target}"))
        .arg("-lineinfo")
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .map_err(|source| AssembleError::Start {
            path: ptxas.to_owned(),
            source,
        })?;
    if !result.status.success() {
        return Err(AssembleError::Refused(
            String::from_utf8_lossy(&result.stderr).trim().to_owned(),
        ));
    }
    Ok(fs::read(&output)?)
}
