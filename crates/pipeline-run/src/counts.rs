//! Counts synchronisation instructions per iteration of each main loop, in PTX and in SASS.
//!
//! A loop is one back edge with the instructions between its ends. A *main* loop is one that
//! waits on an mbarrier, copies asynchronously or arrives. The small loop that repeats one wait
//! until it succeeds is no main loop: it counts as one wait of the loop around it, also where its
//! first try stands before it. What belongs to a main loop inside another is counted there only.

mod loops;
mod ptx;
mod sass;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use self::loops::MainLoop;

/// Why loops cannot be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountsError {
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has no code.
    #[error("`{0}` has no kernel")]
    NoCode(PathBuf),
    /// The kernel asked for is not there.
    #[error("`{path}` has no kernel `{kernel}`, it has {known}")]
    NoKernel {
        /// The file.
        path: PathBuf,
        /// The kernel.
        kernel: String,
        /// What is there.
        known: String,
    },
    /// Output cannot be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    TryWait,
    TestWait,
    Arrive,
    ExpectTx,
    Commit,
    CpAsync,
    BulkCopy,
    BarSync,
    BarWarpSync,
    Elect,
    FenceProxyAsync,
    Nanosleep,
}

impl Event {
    /// All of them with their names, in the order of output.
    const ALL: [(Self, &'static str); 12] = [
        (Self::TryWait, "try_wait"),
        (Self::TestWait, "test_wait"),
        (Self::Arrive, "arrive"),
        (Self::ExpectTx, "expect_tx"),
        (Self::Commit, "commit"),
        (Self::CpAsync, "cp.async"),
        (Self::BulkCopy, "bulk"),
        (Self::BarSync, "bar.sync"),
        (Self::BarWarpSync, "bar.warp.sync"),
        (Self::Elect, "elect.sync"),
        (Self::FenceProxyAsync, "fence.proxy.async"),
        (Self::Nanosleep, "nanosleep"),
    ];

    fn is_wait(self) -> bool {
        matches!(self, Self::TryWait | Self::TestWait)
    }

    /// Whether a loop with it is a main loop.
    fn makes_main(self) -> bool {
        use Event::{Arrive, BulkCopy, Commit, CpAsync, ExpectTx};
        self.is_wait() || matches!(self, Arrive | ExpectTx | Commit | CpAsync | BulkCopy)
    }
}

/// A kernel or function as a list of instructions.
#[derive(Debug, Default)]
struct Function {
    name: String,
    instructions: Vec<Instruction>,
}

/// What counting needs to know about one instruction.
#[derive(Debug, Default)]
struct Instruction {
    /// The label in front of it, if any.
    label: Option<String>,
    /// The line of that label, or its own.
    line: usize,
    event: Option<Event>,
    /// The address and phase of a wait, as written.
    operands: String,
    /// Whether it does the loop's work: memory or tensor cores. A loop that only repeats a wait
    /// has none.
    works: bool,
    /// Indices of the instructions that it may branch to.
    targets: Vec<usize>,
    /// Whether the next instruction may follow.
    falls_through: bool,
    /// Whether a branch back only serialises the lanes of one instruction.
    serialises: bool,
}

/// Prints the counts of a PTX file and, where given, of its SASS.
///
/// # Errors
/// Files that cannot be read or lack the kernel.
pub fn command(
    ptx: &Path,
    sass: Option<&Path>,
    kernel: Option<&str>,
    out: &mut dyn Write,
) -> Result<(), CountsError> {
    let functions = select(ptx, ptx::parse(&read(ptx)?), kernel)?;
    let mut text = report(&functions, "loop");
    if let Some(path) = sass {
        let functions = select(path, sass::parse(&read(path)?), kernel)?;
        text += &report(&functions, "sass loop");
    }
    Ok(out.write_all(text.as_bytes())?)
}

fn read(path: &Path) -> Result<String, CountsError> {
    let bytes = fs::read(path).map_err(|source| CountsError::Read {
        path: path.to_owned(),
        source,
    })?;
    // PTX is ASCII; a stray byte in a comment is no reason to refuse.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn select(
    path: &Path,
    functions: Vec<Function>,
    kernel: Option<&str>,
) -> Result<Vec<Function>, CountsError> {
    if functions.is_empty() {
        return Err(CountsError::NoCode(path.to_owned()));
    }
    let Some(kernel) = kernel else {
        return Ok(functions);
    };
    let names: Vec<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    let known = names.join(", ");
    let found: Vec<_> = functions.into_iter().filter(|f| f.name == kernel).collect();
    if found.is_empty() {
        return Err(CountsError::NoKernel {
            path: path.to_owned(),
            kernel: kernel.to_owned(),
            known,
        });
    }
    Ok(found)
}

fn report(functions: &[Function], kind: &str) -> String {
    let mut text = String::new();
    for function in functions {
        let name = &function.name;
        let loops = loops::main_loops(&function.instructions);
        if loops.is_empty() {
            text += &format!("{name}: no main {kind}\n");
        }
        for MainLoop {
            label,
            line,
            counts,
        } in loops
        {
            let counts: Vec<String> = Event::ALL
                .iter()
                .zip(counts)
                .map(|((_, event), count)| format!("{event} {count}"))
                .collect();
            text += &format!(
                "{name}: {kind} {label} line {line}: {}\n",
                counts.join(", ")
            );
        }
    }
    text
}

#[cfg(test)]
mod tests;
