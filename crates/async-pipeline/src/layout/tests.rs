//! Layouts against formulas written out a second time, and plans carried out on data.

mod algebra;
mod conversions;
mod instances;
mod memory;
mod support;
