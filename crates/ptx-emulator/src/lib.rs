//! Runs PTX for `sm_80`, `sm_90a` and `sm_100a` on the CPU.
//!
//! ```text
//! text ──► syntax ──► program ──► machine ──► reports, results, timeline
//!          names      decoded     warps and asynchronous units under a schedule,
//!          resolved   (isa)       watched by the detector (detect)
//! ```
//!
//! [`Emulator`] is the way in.

pub mod detect;
pub mod formats;
pub mod isa;
pub mod launch;
pub mod machine;
pub mod memory;
pub mod program;
pub mod report;
pub mod syntax;
pub mod tensor_map;
pub mod tensor_memory;

pub use launch::{Emulator, Launch, Monitor, Options, Outcome, Schedule};
pub use program::Program;
pub use report::{Fault, Kind, Report, Severity};
