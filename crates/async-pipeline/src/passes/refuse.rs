//! Fails at once.
//!
//! A pipeline builder in MLIR cannot fail. When the options of a named pipeline are
//! wrong, it has said so and puts this pass into the pipeline instead.

use super::{Failed, Pass};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-refuse",
    description: "Fail; stands in for a pipeline whose options are wrong",
    options: &[],
    run: |_, _| Err(Failed),
};
