//! The self-labelling loss as a function of predictions and pseudo-labels.

use super::Problem;
use crate::batch::Batch;
use crate::entropy::Fairness;
use crate::entropy::cross;
use crate::simplex::{ln_floor, xlnx};

/// The term that ties a row's pseudo-label y to its prediction σ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coupling {
    /// H(σ, y), the reverse cross-entropy: uncertain labels are ignored.
    Reverse,
    /// H(y, σ), the ordinary cross-entropy: uncertain labels are imitated.
    Forward,
    /// \[α H(y, σ) − H(y)\]/(α − 1), whose minimum over y is R_α(σ); α > 1.
    Renyi {
        /// The order α.
        alpha: f64,
    },
}

impl Coupling {
    /// Its value for one row.
    pub fn value(self, log_sigma: &[f64], y: &[f64]) -> f64 {
        match self {
            Self::Reverse => log_sigma.iter().zip(y).map(|(l, y)| -l.exp() * ln_floor(*y)).sum(),
            Self::Forward => cross::forward(y, log_sigma),
            Self::Renyi { alpha } => {
                let negative_entropy: f64 = y.iter().map(|y| xlnx(*y)).sum();
                (alpha * cross::forward(y, log_sigma) + negative_entropy) / (alpha - 1.0)
            }
        }
    }

    /// Its value for one row, and d/dz for the logits of σ with y held fixed into `out`.
    pub fn value_and_gradient(self, log_sigma: &[f64], y: &[f64], out: &mut [f64]) -> f64 {
        match self {
            Self::Reverse => reverse_gradient(log_sigma, y, out),
            Self::Forward => cross::forward_and_gradient(y, log_sigma, out),
            Self::Renyi { alpha } => {
                cross::forward_and_gradient(y, log_sigma, out);
                out.iter_mut().for_each(|o| *o *= alpha / (alpha - 1.0));
                self.value(log_sigma, y)
            }
        }
    }

    /// y · d/dy of its value in one cluster; finite where d/dy is not.
    fn weighted_slope(self, log_sigma: f64, y: f64) -> f64 {
        match self {
            Self::Reverse => -log_sigma.exp(),
            Self::Forward => -y * log_sigma,
            Self::Renyi { alpha } => (xlnx(y) + y - alpha * y * log_sigma) / (alpha - 1.0),
        }
    }
}

/// H(σ, y) and σ (g − Σ σ g), g = −ln y, without a buffer for ln y.
fn reverse_gradient(log_sigma: &[f64], y: &[f64], out: &mut [f64]) -> f64 {
    let mut value = 0.0;
    for ((o, l), y) in out.iter_mut().zip(log_sigma).zip(y) {
        *o = -l.exp() * ln_floor(*y);
        value += *o;
    }
    for (o, l) in out.iter_mut().zip(log_sigma) {
        *o -= l.exp() * value;
    }
    value
}

/// A self-labelling loss: mean coupling + λ fairness of ȳ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surrogate {
    /// What ties y to σ.
    pub coupling: Coupling,
    /// What holds ȳ near the prior.
    pub fairness: Fairness,
}

impl Surrogate {
    /// The paper's loss: reverse cross-entropy and strong fairness.
    pub const OURS: Self = Self { coupling: Coupling::Reverse, fairness: Fairness::Strong };

    /// The loss of labels `y`, shape `[n, k]`. Rows with a known label contribute −ln σ_known.
    pub fn loss(&self, problem: &Problem<'_>, y: &[f64]) -> f64 {
        self.loss_in(problem, y, &mut Vec::new())
    }

    /// [`Self::loss`] with scratch space.
    pub(super) fn loss_in(&self, problem: &Problem<'_>, y: &[f64], mean: &mut Vec<f64>) -> f64 {
        mean_labels(problem.batch, y, mean);
        let mut loss = problem.lambda * self.fairness.value(mean, problem.prior);
        for (row, y) in problem.batch.rows().zip(y.chunks_exact(problem.batch.k)) {
            loss += row.share
                * match row.known {
                    Some(label) => -row.log_sigma[label],
                    None => self.coupling.value(row.log_sigma, y),
                };
        }
        loss
    }

    /// How far `y` is from satisfying the optimality conditions: the largest y_ik |G_ik − Σ_c y_ic G_ic|/(1 + λ)
    /// over the rows without a known label, with G_i the gradient of the loss in row i. For the paper's loss it is
    /// very nearly the change one more EM step would make.
    pub fn optimality(&self, problem: &Problem<'_>, y: &[f64]) -> f64 {
        self.optimality_in(problem, y, &mut Vec::new(), &mut Vec::new())
    }

    /// [`Self::optimality`] with scratch space.
    pub(super) fn optimality_in(
        &self,
        problem: &Problem<'_>,
        y: &[f64],
        mean: &mut Vec<f64>,
        pull: &mut Vec<f64>,
    ) -> f64 {
        mean_labels(problem.batch, y, mean);
        pull.clear();
        pull.extend(
            mean.iter().zip(problem.prior).map(|(m, u)| problem.lambda * self.fairness.slope(*m, *u)),
        );
        let mut worst: f64 = 0.0;
        for (row, y) in problem.batch.rows().zip(y.chunks_exact(problem.batch.k)) {
            if row.known.is_none() {
                let weighted =
                    |k: usize| self.coupling.weighted_slope(row.log_sigma[k], y[k]) + y[k] * pull[k];
                let mean: f64 = (0..y.len()).map(weighted).sum();
                worst = (0..y.len()).map(|k| (weighted(k) - y[k] * mean).abs()).fold(worst, f64::max);
            }
        }
        worst / (1.0 + problem.lambda)
    }
}

/// The weighted mean label ȳ into `mean`, shape `[k]`.
pub(crate) fn mean_labels(batch: Batch<'_>, y: &[f64], mean: &mut Vec<f64>) {
    mean.clear();
    mean.resize(batch.k, 0.0);
    for (row, y) in batch.rows().zip(y.chunks_exact(batch.k)) {
        for (m, y) in mean.iter_mut().zip(y) {
            *m += row.share * y;
        }
    }
}
