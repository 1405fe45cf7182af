//! The integration tests in one program: with a program per file, all dependencies would be linked once per file.

mod damaged;
mod hinge;
mod lbfgs;
mod lift;
mod linear;
mod many;
mod margin;
mod margin_path;
mod metrics;
mod plain;
mod rivals;
mod sinkhorn;
mod training;
