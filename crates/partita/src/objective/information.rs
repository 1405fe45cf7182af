//! Mutual information, RIM's form of it with any prior, and its Rényi relatives, descended by plain gradient.

use super::{Batch, BatchObjective, Decisiveness, Fairness, Workspace};
use crate::simplex::uniform;

/// mean H(σ) + λ KL(σ̄‖u). With λ = 1 and a uniform prior this is negative mutual information plus ln K.
///
/// ```
/// use partita::objective::{Batch, BatchObjective, MutualInformation, Workspace};
/// // Two decided rows in different clusters share all the information there is.
/// let batch = Batch { log_sigma: &[0.0, -40.0, -40.0, 0.0], k: 2, weights: None, known: None };
/// let mut gradient = [0.0; 4];
/// let loss = MutualInformation::new(2).value_and_gradient(batch, &mut gradient, &mut Workspace::default());
/// assert!(loss.abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MutualInformation {
    /// The prior u, shape `[k]`.
    pub prior: Vec<f64>,
    /// Weight λ of fairness.
    pub lambda: f64,
}

impl MutualInformation {
    /// λ = 1 and a uniform prior: mutual information itself.
    pub fn new(k: usize) -> Self {
        Self { prior: uniform(k), lambda: 1.0 }
    }
}

impl BatchObjective for MutualInformation {
    fn value_and_gradient(&self, batch: Batch<'_>, gradient: &mut [f64], ws: &mut Workspace) -> f64 {
        let mean = Decisiveness::Shannon.mean_and_gradient(batch, gradient);
        mean + add_fairness(batch, &self.prior, self.lambda, gradient, ws)
    }
}

/// mean R_α(σ) + λ KL(σ̄‖u).
#[derive(Debug, Clone, PartialEq)]
pub struct RenyiGradient {
    /// Order α ≥ 0.
    pub alpha: f64,
    /// The prior u, shape `[k]`.
    pub prior: Vec<f64>,
    /// Weight λ of fairness.
    pub lambda: f64,
}

impl RenyiGradient {
    /// λ = 1 and a uniform prior.
    pub fn new(alpha: f64, k: usize) -> Self {
        Self { alpha, prior: uniform(k), lambda: 1.0 }
    }
}

impl BatchObjective for RenyiGradient {
    fn value_and_gradient(&self, batch: Batch<'_>, gradient: &mut [f64], ws: &mut Workspace) -> f64 {
        let mean = Decisiveness::Renyi(self.alpha).mean_and_gradient(batch, gradient);
        mean + add_fairness(batch, &self.prior, self.lambda, gradient, ws)
    }
}

/// λ KL(σ̄‖u); adds its gradient.
fn add_fairness(
    batch: Batch<'_>,
    prior: &[f64],
    lambda: f64,
    gradient: &mut [f64],
    ws: &mut Workspace,
) -> f64 {
    batch.mean_prediction(&mut ws.mean);
    ws.slope.clear();
    ws.slope.extend(ws.mean.iter().zip(prior).map(|(m, u)| lambda * Fairness::Weak.slope(*m, *u)));
    for (row, out) in batch.rows().zip(gradient.chunks_exact_mut(batch.k)) {
        let pull: f64 = row.log_sigma.iter().zip(&ws.slope).map(|(l, c)| l.exp() * c).sum();
        for ((o, l), c) in out.iter_mut().zip(row.log_sigma).zip(&ws.slope) {
            *o += row.share * l.exp() * (c - pull);
        }
    }
    lambda * Fairness::Weak.value(&ws.mean, prior)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_gradient, sample};
    use super::*;
    use crate::entropy::shannon;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradients_are_those_of_finite_differences(s in sample(), alpha in 0.0..4.0, lambda in 0.0..5.0) {
            let prior = s.prior.clone();
            check_gradient(&MutualInformation { prior: prior.clone(), lambda }, &s, 1e-7);
            check_gradient(&RenyiGradient { alpha, prior, lambda }, &s, 1e-7);
        }

        #[test]
        fn it_is_mutual_information_up_to_a_constant(s in sample()) {
            let s = s.without_known();
            let l = s.log_sigma();
            let (mut ws, mut gradient) = (Workspace::default(), vec![0.0; l.len()]);
            let loss = MutualInformation::new(s.k).value_and_gradient(s.batch(&l), &mut gradient, &mut ws);
            let decisiveness: f64 = s.batch(&l).rows().map(|r| r.share * shannon::value(r.log_sigma)).sum();
            let mean: Vec<f64> = ws.mean.iter().map(|m| m.ln()).collect();
            let information = shannon::value(&mean) - decisiveness;
            prop_assert!((loss - ((s.k as f64).ln() - information)).abs() < 1e-10);
        }
    }

    #[test]
    fn a_cluster_nobody_predicts_gives_no_nan() {
        let batch = Batch { log_sigma: &[0.0, -1e4, 0.0, -1e4], k: 2, weights: None, known: None };
        let mut gradient = [0.0; 4];
        let loss =
            MutualInformation::new(2).value_and_gradient(batch, &mut gradient, &mut Workspace::default());
        assert!((loss - 2f64.ln()).abs() < 1e-12 && gradient.iter().all(|g| g.is_finite()));
    }
}
