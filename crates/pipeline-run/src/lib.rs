//! Launches compiled kernels from their manifest, checks the results, and measures.
//!
//! ```text
//! K.mlir ──pipeline-opt──▶ K.ptx + K.json ──▶ bind ──▶ verify ──▶ plan ──▶ device ──▶ verify
//!                                             sizes    values     numbers   launch    compare
//! ```
//!
//! The manifest says what the kernel's parameters are, the command line gives sizes and values,
//! and nothing here knows a kernel by name. Two subcommands need no device: [`counts`] counts
//! synchronisation in loops of PTX and SASS, [`summary`] prints a manifest.

pub mod bench;
pub mod bind;
pub mod cli;
pub mod compile;
pub mod counts;
pub mod device;
pub mod error;
pub mod expect;
pub mod fill;
pub mod image;
pub mod layout;
pub mod numeric;
pub mod options;
pub mod plan;
pub mod progress;
pub mod run;
pub mod summary;
pub mod verify;
pub mod wait_report;
