//! Expectation-maximisation: the way up to a likely mixture.

use super::density::{Covariance, Mixture, PIECE};
use crate::centres::{KeepGoing, NEVER_STOP};
use crate::error::Result;
use crate::report::StopReason;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Options of a Gaussian mixture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianMixture {
    /// Number of Gaussians.
    pub k: usize,
    /// Their shape.
    pub covariance: Covariance,
    /// Independent starts, each from a K-means run; the likeliest is kept.
    pub restarts: usize,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when the mean log-likelihood of a row rose by less than this.
    pub tolerance: f64,
    /// Added to every variance.
    pub floor: f64,
}

impl GaussianMixture {
    /// Defaults for `k` Gaussians of a shape.
    pub fn new(k: usize, covariance: Covariance) -> Self {
        Self { k, covariance, restarts: 1, max_iterations: 100, tolerance: 1e-3, floor: 1e-6 }
    }
}

/// Where the iterations ended.
#[derive(Debug, Clone)]
pub struct Climbed {
    /// The mixture there.
    pub mixture: Mixture,
    /// Minus its mean log-likelihood of a row.
    pub loss: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Why they stopped.
    pub stop: StopReason,
    /// Mean log-likelihood of a row before each iteration.
    pub bounds: Vec<f64>,
}

impl GaussianMixture {
    /// Expectation-maximisation from a mixture, on rows `x`.
    pub fn climb(&self, x: &[f64], mixture: Mixture) -> Result<Climbed> {
        self.climb_while(x, mixture, NEVER_STOP)
    }

    /// The same, as long as `keep_going` says so.
    pub fn climb_while(&self, x: &[f64], mixture: Mixture, keep_going: KeepGoing<'_>) -> Result<Climbed> {
        self.climb_on(x, mixture, f64::NEG_INFINITY, keep_going)
    }

    /// The same from a mixture that was found before, at this mean log-likelihood of a row: if it hardly rises, that is the end.
    pub fn climb_on(
        &self,
        x: &[f64],
        mut mixture: Mixture,
        mut likelihood: f64,
        keep_going: KeepGoing<'_>,
    ) -> Result<Climbed> {
        let m = mixture.m();
        let mut responsibilities = vec![0.0; x.len() / m * self.k];
        let mut stop = StopReason::Finished;
        let mut iterations = 0;
        let mut bounds = Vec::new();
        while iterations < self.max_iterations && stop == StopReason::Finished {
            if !keep_going(iterations as f64 / self.max_iterations as f64) {
                stop = StopReason::Interrupted;
                break;
            }
            iterations += 1;
            let next = expect(&mixture, x, &mut responsibilities);
            mixture = self.maximise(x, m, &responsibilities)?;
            if (next - likelihood).abs() < self.tolerance {
                stop = StopReason::Converged;
            }
            likelihood = next;
            bounds.push(next);
        }
        let loss = -expect(&mixture, x, &mut responsibilities);
        Ok(Climbed { mixture, loss, iterations, stop, bounds })
    }

    /// The likeliest mixture for given responsibilities `[n, k]`.
    pub fn maximise(&self, x: &[f64], m: usize, responsibilities: &[f64]) -> Result<Mixture> {
        let n = x.len() / m;
        let parts: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..self.k)
            .into_par_iter()
            .map(|c| {
                let share: Vec<f64> = responsibilities.iter().skip(c).step_by(self.k).copied().collect();
                // As a share it can be nothing at all; the mean must still be a number.
                let mass = share.iter().sum::<f64>() + 10.0 * f64::EPSILON;
                let mut mean = vec![0.0; m];
                for (x, share) in x.chunks_exact(m).zip(&share) {
                    mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += share * x);
                }
                mean.iter_mut().for_each(|v| *v /= mass);
                let covariance = self.covariance_of(x, &mean, &share, mass);
                (mass, mean, covariance)
            })
            .collect();
        let weights = parts.iter().map(|p| p.0 / n as f64).collect();
        let means = parts.iter().flat_map(|p| p.1.iter().copied()).collect();
        let mut covariances: Vec<Vec<f64>> = parts.iter().map(|p| p.2.clone()).collect();
        if self.covariance == Covariance::Tied {
            let total: f64 = parts.iter().map(|p| p.0).sum();
            let mut shared = vec![0.0; m * m];
            for (mass, _, covariance) in &parts {
                shared.iter_mut().zip(covariance).for_each(|(s, c)| *s += mass / total * c);
            }
            covariances = vec![shared; self.k];
        }
        Mixture::new(self.covariance, weights, means, covariances)
    }

    fn covariance_of(&self, x: &[f64], mean: &[f64], share: &[f64], mass: f64) -> Vec<f64> {
        let m = mean.len();
        if matches!(self.covariance, Covariance::Full | Covariance::Tied) {
            return self.full_covariance(x, mean, share, mass);
        }
        let mut variance = vec![0.0; m];
        for (x, share) in x.chunks_exact(m).zip(share) {
            for ((v, x), mean) in variance.iter_mut().zip(x).zip(mean) {
                *v += share * (x - mean) * (x - mean);
            }
        }
        variance.iter_mut().for_each(|v| *v = *v / mass + self.floor);
        match self.covariance {
            Covariance::Spherical => vec![variance.iter().sum::<f64>() / m as f64],
            _ => variance,
        }
    }

    fn full_covariance(&self, x: &[f64], mean: &[f64], share: &[f64], mass: f64) -> Vec<f64> {
        let m = mean.len();
        let mut out = vec![0.0; m * m];
        let mut rows = Vec::with_capacity(PIECE * m);
        for (x, share) in x.chunks(PIECE * m).zip(share.chunks(PIECE)) {
            rows.clear();
            for (x, share) in x.chunks_exact(m).zip(share) {
                let root = share.sqrt();
                rows.extend(x.iter().zip(mean).map(|(x, mean)| root * (x - mean)));
            }
            let rows = MatRef::from_row_major_slice(&rows, share.len(), m);
            let out = MatMut::from_row_major_slice_mut(&mut out, m, m);
            matmul(out, Accum::Add, rows.transpose(), rows, 1.0, Par::Seq);
        }
        out.iter_mut().for_each(|v| *v /= mass);
        (0..m).for_each(|j| out[j * m + j] += self.floor);
        out
    }
}

/// Responsibilities of all rows; returns the mean log-likelihood.
fn expect(mixture: &Mixture, x: &[f64], responsibilities: &mut [f64]) -> f64 {
    let (k, m) = (mixture.weights.len(), mixture.m());
    let sums: Vec<f64> = responsibilities
        .par_chunks_mut(PIECE * k)
        .zip(x.par_chunks(PIECE * m))
        .map(|(out, x)| mixture.responsibilities(x, out))
        .collect();
    sums.iter().sum::<f64>() / (x.len() / m) as f64
}

/// Hard labels as responsibilities `[n, k]`.
pub fn one_hot(labels: &[u32], k: usize) -> Vec<f64> {
    let mut hard = vec![0.0; labels.len() * k];
    labels.iter().enumerate().for_each(|(i, label)| hard[i * k + *label as usize] = 1.0);
    hard
}
