//! Tensor maps against what an H200 did, and against a slow model that goes element by element.

mod maps;
mod measured;
mod model;
mod reductions;
