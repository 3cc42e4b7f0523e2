//! What the command line asks for.

use async_pipeline::Target;
use std::path::PathBuf;

/// How to call the tool.
pub const HELP: &str = "\
Usage: embed FILE [--emit tile|ptx] [--target TARGET]... [--out DIR]

Compiles matrix kernels such as

    kernel linear(A: f16[M, K], B: f16[N, K], bias: f16[N]) -> C: f16[M, N]
        C = relu(A @ B.T + bias)

to PTX with a launch manifest, for every target. FILE may be -, the standard input.

  --emit tile|ptx   what to make: the tile-level kernel, or PTX and manifest (default)
  --target TARGET   sm_80, sm_90a or sm_100a; may stand several times (default: all)
  --out DIR         write NAME.mlir, or NAME.TARGET.ptx and .json, there; without it they go
                    to the standard output, several each behind a line with its name
  --help            print this

Exit code: 0, or 1 if a program is refused, or 2 if the command line is wrong or a file cannot
be read or written.
";

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The tile-level kernel.
    Tile,
    /// PTX and manifest.
    Ptx,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `--help`
    Help,
    /// A compile.
    Compile {
        /// The source; `-` is the standard input.
        file: String,
        /// What to make.
        emit: Emit,
        /// For what.
        targets: Vec<Target>,
        /// Where to write.
        out: Option<PathBuf>,
    },
}

/// Reads the arguments behind the name of the tool.
///
/// # Errors
/// A sentence about what is wrong.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let (mut file, mut emit, mut targets, mut out) = (None, Emit::Ptx, Vec::new(), None);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (option, attached) = match argument.split_once('=') {
            Some((option, value)) if option.starts_with("--") => {
                (option.to_owned(), Some(value.to_owned()))
            }
            _ => (argument.clone(), None),
        };
        let mut value = || {
            attached
                .clone()
                .or_else(|| arguments.next())
                .ok_or_else(|| format!("expected a value behind {option}"))
        };
        match option.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--emit" => {
                emit = match value()?.as_str() {
                    "tile" => Emit::Tile,
                    "ptx" => Emit::Ptx,
                    other => return Err(format!("expected --emit tile or ptx, got {other}")),
                }
            }
            "--target" => {
                let name = value()?;
                let target = Target::ALL.into_iter().find(|one| one.name() == name);
                let target = target.ok_or_else(|| {
                    format!("expected --target sm_80, sm_90a or sm_100a, got {name}")
                })?;
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
            "--out" => out = Some(PathBuf::from(value()?)),
            other if other.starts_with('-') && other != "-" => {
                return Err(format!("unknown option {other}"));
            }
            _ if file.is_some() => return Err(format!("expected one file, got {argument} too")),
            _ => file = Some(argument),
        }
    }
    if targets.is_empty() {
        targets.extend(Target::ALL);
    }
    match file {
        Some(file) => Ok(Command::Compile {
            file,
            emit,
            targets,
            out,
        }),
        None => Err("expected a file, or - for the standard input".to_owned()),
    }
}
