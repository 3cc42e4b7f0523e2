//! The `pipeline-run` program; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    pipeline_run::cli::main()
}
