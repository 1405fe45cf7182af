//! Kernels that know nothing of clustering: vector functions, products, and descent.

pub mod lbfgs;
mod narrow;
pub mod optimise;
pub mod product;
pub mod vector;
