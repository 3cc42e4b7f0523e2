//! How passes report.

use crate::passes::Failed;
use async_pipeline_sys::ir::{Op, emit_error};

/// Emits a located error.
pub(crate) fn error(op: Op, message: impl AsRef<str>) -> Failed {
    emit_error(op.location(), message.as_ref(), None);
    Failed
}

/// Emits a located error with a note at another op.
pub(crate) fn error_with_note(
    op: Op,
    message: impl AsRef<str>,
    at: Op,
    note: impl Into<String>,
) -> Failed {
    emit_error(
        op.location(),
        message.as_ref(),
        Some((at.location(), note.into())),
    );
    Failed
}

/// Turns a bad option into an error at the module.
pub(crate) fn option<T>(module: Op, value: Result<T, String>) -> Result<T, Failed> {
    value.map_err(|message| error(module, message))
}

/// Runs `check` on every item and fails if any failed, so that all errors are shown.
pub(crate) fn all<T>(
    items: impl IntoIterator<Item = T>,
    mut check: impl FnMut(T) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut result = Ok(());
    for item in items {
        result = check(item).and(result);
    }
    result
}
