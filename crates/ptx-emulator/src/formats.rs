//! Number formats, operand layouts and the arithmetic of the tensor cores.
//!
//! Everything here is a pure function of its arguments: no machine, no memory. The instruction families of
//! [`crate::isa`] read bytes and registers, and ask these modules what they mean.

pub mod dot;
pub mod fragment;
pub mod narrow;
pub mod operand;
pub mod swizzle;
pub mod tile;
pub mod warp_tile;
pub mod wgmma_descriptor;
