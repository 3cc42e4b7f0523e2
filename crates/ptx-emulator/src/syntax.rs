//! PTX text to a syntax tree with every name resolved.
//!
//! Scoping is settled here: after [`parse`] registers, labels, variables and parameters are
//! numbers, and an instruction is an opcode, its modifiers and its operands, in the order of the
//! text. What an instruction means is decided by the [`crate::isa`] families.

pub mod ast;
mod lexer;
mod parser;

pub use parser::parse;

use ast::Span;

/// Text that is not PTX, or uses a name that is not declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: error: {message}", span.line, span.column)]
pub struct SyntaxError {
    /// Where it was noticed.
    pub span: Span,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
}

#[cfg(test)]
mod tests;
