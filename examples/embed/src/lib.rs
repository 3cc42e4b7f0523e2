//! A small language for matrix kernels, compiled through the public API of async-pipeline.
//!
//! ```text
//!   text ──► lexer ──► parser ──► check ──► lower ──► builder::Kernel ──► compile ──► PTX
//!                       ast      typed        │                              │   + manifest
//!                                   async_pipeline::builder        async_pipeline::Compiler
//! ```
//!
//! Everything up to `lower` is the language's own; it knows nothing about MLIR, barriers or
//! targets.

pub mod ast;
pub mod check;
pub mod cli;
pub mod compile;
pub mod lexer;
pub mod lower;
pub mod parser;
pub mod source;
pub mod typed;

use async_pipeline::builder::Kernel;
use source::{Diagnostic, Source};

/// The tile-level kernels of a program.
///
/// # Errors
/// What is wrong with it.
pub fn kernels(source: &Source) -> Result<Vec<Kernel>, Vec<Diagnostic>> {
    let program = parser::parse(&source.text).map_err(|error| vec![error])?;
    let kernels = check::check(&program)?;
    let mut lowered = Vec::new();
    for kernel in &kernels {
        lowered.push(lower::lower(source, kernel).map_err(|error| vec![error])?);
    }
    Ok(lowered)
}
