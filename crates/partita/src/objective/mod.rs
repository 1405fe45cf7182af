//! Losses of a batch: decisiveness, fairness, the norm, and their sums, as the trainer uses them.
//!
//! A [`BatchObjective`] takes ln σ of a batch and returns the weighted mean loss and its gradient with respect to
//! the logits. Row weights w_i enter every mean as w_i/Σw.
//!
//! **Known labels.** A row whose label is known contributes the ordinary cross-entropy −ln σ_known in place of its
//! decisiveness: the reverse cross-entropy against a one-hot label would be infinite. Where there are
//! pseudo-labels, the row's is clamped to the truth and counts in ȳ as that one-hot; where there are none, its
//! prediction counts in σ̄ like any other.

pub mod decisiveness;
mod hinge;
mod information;
pub mod norm;
mod self_labelled;

pub use crate::batch::{Batch, Row};
pub use crate::entropy::Fairness;
pub use decisiveness::Decisiveness;
pub use hinge::Hinge;
pub use information::{MutualInformation, RenyiGradient};
pub use self_labelled::SelfLabelled;

use crate::{balance, pseudo};

/// Scratch space that the caller owns, so that nothing is allocated once it is warm.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Pseudo-labels of the last batch, shape `[n, k]`, if the objective has any.
    pub y: Vec<f64>,
    pub(super) mean: Vec<f64>,
    pub(super) slope: Vec<f64>,
    pub(super) pseudo: pseudo::Workspace,
    scores: Vec<f32>,
    labels: Vec<u32>,
    balance: balance::Workspace,
}

/// A loss over a batch that the trainer can descend.
pub trait BatchObjective: Send + Sync {
    /// The weighted mean loss, and its gradient d/dz into `gradient`, shape `[n, k]` (w_i/Σw included).
    ///
    /// With pseudo-labels this is the gradient with y held fixed at the solver's answer; if that answer is
    /// optimal it is also the gradient of min_y L (envelope theorem).
    fn value_and_gradient(&self, batch: Batch<'_>, gradient: &mut [f64], ws: &mut Workspace) -> f64;
}

/// −ln σ_label, and its gradient σ − one-hot into `out`.
fn known_label(log_sigma: &[f64], label: usize, out: &mut [f64]) -> f64 {
    for (o, l) in out.iter_mut().zip(log_sigma) {
        *o = l.exp();
    }
    out[label] -= 1.0;
    -log_sigma[label]
}

#[cfg(test)]
pub(crate) mod testing;
