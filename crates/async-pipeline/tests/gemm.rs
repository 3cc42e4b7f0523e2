//! Matrix products compiled from text, run from PTX and manifest alone on the emulator, and
//! compared with what the text means.
//!
//! ```text
//!   text ──► Compiler ──► PTX + manifest ──► bind ──► emulator, strict ──► C, guards, reports
//!     └────► tile interpreter, C in f32 ─────────────────────────────────► reference
//! ```
//!
//! [`harness`] runs, [`reference`] says what is right, [`handwritten`] shows on a kernel of the
//! barrier level that right ones are accepted and wrong ones found, [`tiles`] has the tests of the
//! tile level's examples, which do nothing where an example is not there.

#[path = "gemm/handwritten.rs"]
mod handwritten;
#[path = "gemm/harness.rs"]
mod harness;
#[path = "gemm/reference.rs"]
mod reference;
#[path = "gemm/tiles.rs"]
mod tiles;

use std::{fs, path::Path};

/// A file of the repository, if it is there.
fn text(path: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).ok()
}
