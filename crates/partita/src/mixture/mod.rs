//! Mixtures of Gaussians by expectation-maximisation, in double precision.

mod climb;
mod density;
mod select;

pub use climb::{Climbed, GaussianMixture, one_hot};
pub use density::{Covariance, Mixture};
pub use select::{Selected, select};
