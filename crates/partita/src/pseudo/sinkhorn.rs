//! SeLa's labels: fair by constraint, ȳ = u, by Sinkhorn's iterations on a power of σ.
//!
//! min H(y, σ) − H(y)/p over y with ȳ = u is an optimal transport problem, whose answer is y_ik = r_i σ_ik^p c_k: rows are
//! scaled to one and clusters to their prior in turns. Powers are taken relative to a row's largest, so that they cannot all
//! underflow.

use super::{Coupling, Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::entropy::Fairness;
use crate::simplex::{TINY, largest};

/// Minimises mean H(y, σ) over labels with ȳ = u, smoothed by a power. The constraint takes the place of a fairness term, so
/// that λ is not used; the loss of its labels should be taken with λ = 0.
///
/// ```
/// use partita::objective::Batch;
/// use partita::pseudo::{Problem, PseudoLabels, Sinkhorn, Workspace};
/// let log_sigma = [0.9f64.ln(), 0.1f64.ln(), 0.7f64.ln(), 0.3f64.ln()];
/// let batch = Batch { log_sigma: &log_sigma, k: 2, weights: None, known: None };
/// let mut y = [0.0; 4];
/// let problem = Problem { batch, prior: &[0.5, 0.5], lambda: 0.0 };
/// Sinkhorn::default().solve(&problem, &mut y, &mut Workspace::default());
/// assert_eq!(y, [1.0, 0.0, 0.0, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sinkhorn {
    /// The power of σ: the larger, the closer to hard labels, and the slower.
    pub power: f64,
    /// Whether each row's label is rounded to its largest entry, as SeLa does.
    pub hard: bool,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when every cluster's share is within this of its prior, relative to it.
    pub tolerance: f64,
}

impl Default for Sinkhorn {
    fn default() -> Self {
        Self { power: 20.0, hard: true, max_iterations: 50, tolerance: 1e-3 }
    }
}

impl PseudoLabels for Sinkhorn {
    fn surrogate(&self) -> Surrogate {
        Surrogate { coupling: Coupling::Forward, fairness: Fairness::Strong }
    }

    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
        let k = problem.batch.k;
        powers(problem, self.power, y);
        let scale = &mut ws.dual.price;
        scale.clear();
        scale.resize(k, 1.0);
        let mut solved = Solved { iterations: 0, residual: f64::INFINITY, converged: false };
        while solved.iterations < self.max_iterations && !solved.converged {
            shares(problem, y, scale, &mut ws.dual.demand);
            solved.iterations += 1;
            solved.residual = 0.0;
            for ((scale, share), u) in scale.iter_mut().zip(&ws.dual.demand).zip(problem.prior) {
                solved.residual = f64::max(solved.residual, (share / u - 1.0).abs());
                *scale *= u / share.max(TINY);
            }
            solved.converged = solved.residual <= self.tolerance;
        }
        for (row, y) in problem.batch.rows().zip(y.chunks_exact_mut(k)) {
            y.iter_mut().zip(scale.iter()).for_each(|(y, c)| *y *= c);
            let sum: f64 = y.iter().sum();
            y.iter_mut().for_each(|y| *y /= sum);
            if let Some(label) = row.known.or_else(|| self.hard.then(|| largest(y))) {
                y.fill(0.0);
                y[label] = 1.0;
            }
        }
        solved
    }
}

/// (σ_ik/max_c σ_ic)^power, floored where it underflows; one-hot for a known row.
fn powers(problem: &Problem<'_>, power: f64, y: &mut [f64]) {
    for (row, y) in problem.batch.rows().zip(y.chunks_exact_mut(problem.batch.k)) {
        let top = row.log_sigma.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (c, (y, l)) in y.iter_mut().zip(row.log_sigma).enumerate() {
            *y = match row.known {
                Some(label) => f64::from(label == c),
                None => (power * (l - top)).exp().max(TINY),
            };
        }
    }
}

/// The share of each cluster when rows are scaled to one.
fn shares(problem: &Problem<'_>, powers: &[f64], scale: &[f64], shares: &mut Vec<f64>) {
    shares.clear();
    shares.resize(scale.len(), 0.0);
    for (row, p) in problem.batch.rows().zip(powers.chunks_exact(scale.len())) {
        let sum: f64 = p.iter().zip(scale).map(|(p, c)| p * c).sum();
        let factor = row.share / sum;
        for ((share, p), c) in shares.iter_mut().zip(p).zip(scale) {
            *share += factor * p * c;
        }
    }
}
