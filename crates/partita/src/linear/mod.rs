//! linear

pub mod lbfgs;
