//! From a tile-level kernel to PTX and manifest, and messages of the compiler back to the
//! source.

use crate::source::{Diagnostic, Level, Source, Span};
use async_pipeline::{
    Artifact, CompileError, CompileOptions, Compiler, Severity, Target, builder::Kernel,
    program::Place,
};

/// Compiles a kernel for a target. Beside the artifact or without it there are messages, each
/// as a user of the language reads it.
pub fn compile(source: &Source, kernel: &Kernel, target: Target) -> (Option<Artifact>, String) {
    let options = match CompileOptions::builder(target).build() {
        Ok(options) => options,
        Err(error) => return (None, format!("{}: error: {error}\n", source.name)),
    };
    match Compiler::new(options).compile(kernel.text()) {
        Ok(artifact) => {
            let messages = rendered(source, &artifact.diagnostics, target);
            (Some(artifact), messages)
        }
        Err(CompileError::Rejected(diagnostics)) => (None, rendered(source, &diagnostics, target)),
        Err(error) => (
            None,
            format!(
                "{}: error: {} for {target}: {error}\n",
                source.name,
                kernel.name()
            ),
        ),
    }
}

/// The compiler's messages at their places in the source; each says for which target.
fn rendered(source: &Source, diagnostics: &[async_pipeline::Diagnostic], target: Target) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let (level, about) = match diagnostic.severity {
            Severity::Error => (Level::Error, format!("{target}: ")),
            Severity::Warning => (Level::Warning, format!("{target}: ")),
            // What the compiler chose is of no interest to users of the language.
            Severity::Remark => continue,
            Severity::Note => (Level::Note, String::new()),
        };
        let place = Place::parse(&diagnostic.location);
        if place.is_unknown() || *place.file != *source.name {
            let (name, message) = (&source.name, &diagnostic.message);
            out += &format!("{name}: {level}: {about}{message}\n");
            continue;
        }
        let start = source.offset(place.line, place.column);
        out += &source.render(&Diagnostic {
            level,
            ..Diagnostic::error(
                Span { start, end: start },
                format!("{about}{}", diagnostic.message),
            )
        });
    }
    out
}
