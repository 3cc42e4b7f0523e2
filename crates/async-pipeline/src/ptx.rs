//! The PTX stage: LLVM dialect → LLVM IR → NVPTX, in this process.
//!
//! Before LLVM sees anything, legality has been decided; behind it, the text is
//! checked for what must not be there. Every inline-PTX call is marked convergent,
//! because MLIR 22 cannot say so and the optimiser would duplicate it into branches.

mod backend;
mod cubin;
mod tool;

pub(crate) use backend::ptx_timed;
pub use backend::{LowerError, Lowered, llvm_ir, ptx};
pub use cubin::{AssembleError, assemble};
pub(crate) use tool::emit_for_tool;
