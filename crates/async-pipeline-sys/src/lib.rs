//! Every raw call into MLIR that async-pipeline makes.
//!
//! ```text
//! pipeline-opt, embedders
//!        │
//!  async-pipeline        passes, PTX stage, compile API (no `unsafe` but the LLVM hand-over)
//!        │
//!  async-pipeline-sys    this crate: dialect/ compiled, handles to IR, hooks back into Rust
//!        │
//!    MLIR 22
//! ```
//!
//! [`ir`] wraps IR in small `Copy` handles, [`hooks`] carries verifiers and passes
//! from C++ to Rust and catches panics on the way, [`dialect`] registers the dialect.

pub mod dialect;
mod ffi;
pub mod hooks;
pub mod ir;

pub use hooks::{Hooks, OptionSpec};
