//! async-pipeline compiles a GPU kernel written as if everything ran in order into
//! one whose copies, compute and stores overlap: it inserts the mbarriers, byte
//! counts, waits and fences, and ends in PTX for sm_80, sm_90a and sm_100a.
//!
//! ```text
//!   kernel text ──► channel level ──► barrier level ──► nvvm/llvm ──► PTX + manifest
//!                        │                 │                │             │
//!                     passes        program,         passes         ptx
//!                 insert-barriers  interpreter    lower-to-nvvm
//! ```
//!
//! [`passes`] has the one list of passes, [`program`] the form that analyses work on,
//! [`interpreter`] runs it, [`ptx`] is the back end. Above the channel level stands the tile
//! level, whose meaning [`tile_interpreter`] defines.
//!
//! Embedders need [`Compiler`], [`CompileOptions`] and [`Target`] only, and [`builder`] where
//! they would rather not print MLIR. No melior lifetime is in that API, a compile reads no environment and has a context of its
//! own, and the same input gives the same bytes.

mod build;
pub mod builder;
mod compile;
mod diagnostics;
mod forms;
mod hooks;
pub mod interpreter;
/// Where each element of a tile is: bit-linear maps, their instances and conversions.
pub mod layout;
pub mod passes;
pub mod program;
pub mod ptx;
mod text;
pub mod tile_interpreter;
mod verify;

pub use compile::{
    Artifact, CompileError, CompileOptions, CompileOptionsBuilder, Compiler, Diagnostic,
    OptionsError, Severity, Timings,
};
pub use hooks::{DRIVER_OPTIONS, initialize};
pub use passes::{CpAsyncArrive, Sync};
pub use ptx_model::{
    manifest::Manifest,
    target::{PtxVersion, Target},
};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
