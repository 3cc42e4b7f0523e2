//! Everything that can go wrong in a run, and the exit code it means.

use std::{error::Error, path::PathBuf};

use ptx_model::{
    grid::{GridError, ParseError},
    manifest::ManifestError,
};

use crate::{
    bind::BindError, compile::CompileError, counts::CountsError, device::DeviceError,
    expect::ExpectError, plan::PlanError, verify::ValueError,
};

/// The exit code of a run whose results are right.
pub const EXIT_RIGHT: u8 = 0;
/// The exit code of a wrong result, a failed kernel or a failed check.
pub const EXIT_WRONG: u8 = 1;
/// The exit code of unusable input.
pub const EXIT_UNUSABLE: u8 = 2;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Output cannot be written.
    #[error("cannot write the output")]
    Output(#[source] std::io::Error),
    /// The input file is of no known kind.
    #[error("`{0}` is neither .ptx nor .cubin nor .mlir")]
    UnknownInput(PathBuf),
    /// A manifest is unusable.
    #[error("`{path}` is no usable manifest")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ManifestError,
    },
    /// The kernel asked for does not exist, or none was asked for and there are several.
    #[error("{problem}; the manifest has {known}")]
    NoKernel {
        /// What is wrong.
        problem: String,
        /// The kernels that exist.
        known: String,
    },
    /// A binary where only text runs.
    #[error("the emulator runs PTX, not cubins")]
    CubinOnEmulator,
    /// An option of the emulator for a GPU.
    #[error("--{0} needs --device emulator")]
    EmulatorOption(&'static str),
    /// The kernel's text is wrong.
    #[error("{}:{line}:{column}: error: {message}", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u32,
        /// Column, counted from 1.
        column: u32,
        /// One sentence.
        message: String,
    },
    /// More memory than a device allows itself.
    #[error(
        "the arguments take {bytes} bytes, the emulator's memory is limited to {limit}; give --device-memory MIB"
    )]
    TooLarge {
        /// What they take.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
    /// Compiling failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Arguments do not fit the kernel.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Values cannot be prepared.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// There is no launch.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An expectation cannot be parsed.
    #[error("--expect")]
    Expect(#[from] ExpectError),
    /// A size expression cannot be parsed.
    #[error("--{option} `{text}`")]
    Expression {
        /// The option without its dashes.
        option: &'static str,
        /// Its text.
        text: String,
        /// Why.
        source: ParseError,
    },
    /// A size expression has no value.
    #[error("--{option}")]
    Evaluate {
        /// The option without its dashes.
        option: &'static str,
        /// Why.
        source: GridError,
    },
    /// The device failed or refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Loops cannot be counted.
    #[error(transparent)]
    Counts(#[from] CountsError),
}

impl RunError {
    /// The exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Device(DeviceError::Kernel(_) | DeviceError::Timeout(_)) => EXIT_WRONG,
            _ => EXIT_UNUSABLE,
        }
    }

    /// The line for standard error, a located one as compilers write it.
    pub fn line(&self) -> String {
        match self {
            Self::Source { .. } => self.report(),
            _ => format!("error: {}", self.report()),
        }
    }

    /// The message and its causes on one line.
    pub fn report(&self) -> String {
        let mut text = self.to_string();
        let mut next = self.source();
        while let Some(source) = next {
            let cause = source.to_string();
            // Some errors already say what their cause says.
            if !text.ends_with(&cause) {
                text = format!("{text}: {cause}");
            }
            next = source.source();
        }
        text
    }
}
