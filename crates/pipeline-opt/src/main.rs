//! `pipeline-opt`: mlir-opt with the async_pipeline dialect and passes, and `--emit`
//! for what MLIR cannot print: LLVM IR, PTX with its launch manifest, cubin.

use async_pipeline::{DRIVER_OPTIONS, initialize, passes::PIPELINE};
use async_pipeline_sys::dialect::driver_main;
use std::{os::unix::ffi::OsStringExt, process::ExitCode};

/// Parser, verifier and passes recurse over nested regions and types, whose depth the
/// input decides.
const STACK: usize = 1 << 30;

fn main() -> ExitCode {
    match std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(tool)
        .map(|tool| tool.join())
    {
        Ok(Ok(code)) => code,
        _ => {
            eprintln!("error: internal error: the tool could not be run");
            ExitCode::FAILURE
        }
    }
}

fn tool() -> ExitCode {
    initialize();
    let arguments = std::env::args_os().map(OsStringExt::into_vec).collect();
    match driver_main(arguments, PIPELINE, DRIVER_OPTIONS) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
