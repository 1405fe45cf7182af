//! The integration tests in one program: a program for each file would be linked, with all that it uses, as many times.

mod hinge;
mod lbfgs;
mod linear;
mod margin;
mod margin_path;
mod metrics;
mod rivals;
mod sinkhorn;
mod training;
