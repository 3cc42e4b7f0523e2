//! Panics at the first kernel.
//!
//! Lets a test see that a panic in a pass becomes a located internal error instead of
//! unwinding into C++, which would abort the process.

use super::{Failed, Options, Pass};
use async_pipeline_sys::{hooks::at_work, ir::Op};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-test-panic",
    description: "Panic at the first kernel; for a test of the error that it becomes",
    options: &[],
    run,
};

fn run(module: Op, _: &Options<'_>) -> Result<(), Failed> {
    if let Some(kernel) = module.find("gpu.func").first() {
        at_work(kernel.location());
        panic!("planted by async-pipeline-test-panic");
    }
    Ok(())
}
