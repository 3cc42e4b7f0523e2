//! The instructions of single lanes and of the lanes of a warp, run as small kernels: one lane per
//! row of operands.

mod bits;
mod comparisons;
mod conversions;
mod floats;
mod halves;
mod harness;
mod integers;
mod measured;
mod moves;
mod warps;
