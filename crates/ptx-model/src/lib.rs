//! Facts about PTX that the rest of async-pipeline is built on.
//!
//! ```text
//! ptx-model  ──►  the dialect's verifiers and the protocol checker   (crate async-pipeline)
//!  you are   ──►  the PTX emulator                                   (crate ptx-emulator)
//!   here     ──►  the launcher                                       (crate pipeline-run)
//! ```
//!
//! A leaf crate: it knows nothing of MLIR, LLVM or a GPU driver.
//!
//! * [`mbarrier`]: what an mbarrier does, as code that checker and emulator run.
//! * [`target`]: targets, PTX versions, limits and features.
//! * [`legality`]: which instruction form exists where.
//! * [`access`]: what must stand between two accesses to one place in shared memory.
//! * [`grid`] and [`manifest`]: what a launcher must know about a compiled kernel.

pub mod access;
pub mod grid;
pub mod legality;
pub mod manifest;
pub mod mbarrier;
pub mod target;
