//! Pseudo-labels: given the predictions σ of a batch, the soft labels y that minimise the self-labelling loss.
//!
//! | solver | loss it minimises over y | how |
//! |---|---|---|
//! | [`Em`] | mean H(σ, y) + λ KL(u‖ȳ) | the paper's E and M steps |
//! | [`Exact`] | the same, or with weak fairness KL(ȳ‖u) | Newton on the K prices of the dual, after an interior-point method where that is hard |
//! | [`Renyi`] | mean [α H(y, σ) − H(y)]/(α − 1) + λ KL(u‖ȳ), α > 1 | the same dual |
//! | [`Sinkhorn`] | mean H(y, σ) with ȳ = u (SeLa) | scaling rows and clusters in turns |
//! | [`Miadm`] | mean H(y, σ) + λ KL(ȳ‖u) (MIADM) | the same dual, or one approximate step |
//! | [`Newton`] | as [`Exact`] | Newton on y itself: the slow oracle |
//!
//! Rows with a known label keep it as a one-hot y and count in ȳ. With row weights all means are weighted means.

mod central;
mod cholesky;
mod dual;
mod em;
mod exact;
mod lanes;
mod miadm;
mod newton;
mod renyi;
mod sinkhorn;
mod surrogate;

pub use em::Em;
pub use exact::Exact;
pub use miadm::Miadm;
pub use newton::Newton;
pub use renyi::Renyi;
pub use sinkhorn::Sinkhorn;
pub use surrogate::{Coupling, Surrogate};

use crate::batch::Batch;

/// What to find labels for.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// Predictions, weights and known labels.
    pub batch: Batch<'a>,
    /// The prior u, shape `[k]`, positive.
    pub prior: &'a [f64],
    /// Weight λ > 0 of fairness.
    pub lambda: f64,
}

/// How a solver ended. Not converging is a result: the labels are valid all the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// Iterations made.
    pub iterations: usize,
    /// How far from optimal: for [`Em`] the largest change of a label in the last iteration (the error is about λ times
    /// that), for [`Newton`] [`Surrogate::optimality`], for the dual solvers the largest mismatch of a cluster's share
    /// relative to its prior.
    pub residual: f64,
    /// Whether the tolerance was reached. The dual solvers also count as converged when the loss is within tolerance² of
    /// its minimum and further steps no longer help, although a share still misses by more: two empty clusters that are
    /// alike cannot be told apart by price.
    pub converged: bool,
}

/// Scratch space that the caller owns; nothing is allocated once it is warm.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    packed: lanes::Packed,
    labels: Vec<lanes::Lane>,
    total: Vec<lanes::Lane>,
    dual: dual::DualBuffers,
    central: central::CentralBuffers,
    primal: newton::NewtonBuffers,
}

/// Finds pseudo-labels.
pub trait PseudoLabels: Send + Sync {
    /// The loss that the labels minimise.
    fn surrogate(&self) -> Surrogate;

    /// Labels into `y`, shape `[n, k]`; what `y` held before is ignored.
    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved;
}

#[cfg(test)]
mod tests;
