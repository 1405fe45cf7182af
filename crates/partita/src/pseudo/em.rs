//! The paper's expectation-maximisation for pseudo-labels.
//!
//! E-step: S_ik = y_ik/Σ_j y_jk. M-step: y_ik = (σ_ik + λN u_k S_ik)/(1 + λN Σ_c u_c S_ic). With N S_ik = y_ik/ȳ_k
//! both are one pass: y ← (σ + r y)/Σ(σ + r y), r_k = λ u_k/ȳ_k. Only ratios y/ȳ within a cluster enter, so a cluster
//! whose σ underflowed in every row is started from σ scaled by its largest entry.

use super::lanes::{Kernel, Lane, Packed, WIDTH, accumulate, lane, larger, vectorised};
use super::{Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::batch::Batch;
use crate::simplex::TINY;

/// The paper's solver, started at y = σ. The number of iterations is a hyper-parameter rather than a tolerance: a
/// few cluster best, one at λ → ∞ is mutual-information descent, and full convergence takes thousands at λ = 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Em {
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when no label changed by more than this; 0 makes all iterations.
    pub tolerance: f64,
}

impl Default for Em {
    fn default() -> Self {
        Self { max_iterations: 10, tolerance: 0.0 }
    }
}

impl PseudoLabels for Em {
    fn surrogate(&self) -> Surrogate {
        Surrogate::OURS
    }

    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
        ws.packed.pack_sigma(problem.batch, 0.0);
        ws.labels.clone_from(&ws.packed.cells);
        ws.packed.mean(&ws.labels, &mut ws.dual.demand);
        for k in 0..ws.packed.k {
            if ws.dual.demand[k] < TINY {
                revive(problem.batch, k, &mut ws.labels);
            }
        }
        ws.packed.mean(&ws.labels, &mut ws.dual.demand);
        let mut solved = Solved { iterations: 0, residual: f64::INFINITY, converged: false };
        while solved.iterations < self.max_iterations && !solved.converged {
            solved.residual = iterate(problem, ws);
            solved.iterations += 1;
            // The change of a revived cluster's first step is not in the unit of labels; σ itself is below TINY.
            solved.converged = solved.residual <= self.tolerance && solved.iterations > 1;
        }
        Packed::unpack(&ws.labels, problem.batch, y);
        solved
    }
}

/// Start cluster `k`, whose σ all underflowed, from σ over its largest entry.
fn revive(batch: Batch<'_>, k: usize, labels: &mut [Lane]) {
    let unknown = || batch.rows().filter(|row| row.known.is_none()).map(|row| row.log_sigma[k]);
    let max = unknown().fold(f64::NEG_INFINITY, f64::max);
    for (i, l) in unknown().enumerate() {
        labels[i / WIDTH * batch.k + k][i % WIDTH] = (l - max).exp();
    }
}

/// One E-step and M-step; returns the largest change of a label.
fn iterate(problem: &Problem<'_>, ws: &mut Workspace) -> f64 {
    let (packed, rate) = (&ws.packed, &mut ws.dual.price);
    rate.clear();
    rate.extend(problem.prior.iter().zip(&ws.dual.demand).map(|(u, m)| problem.lambda * u / m.max(TINY)));
    ws.total.clear();
    ws.total.resize(packed.k, [0.0; WIDTH]);
    let change = vectorised(Step { packed, rate, labels: &mut ws.labels, total: &mut ws.total });
    ws.dual.demand.clear();
    ws.dual.demand.extend(ws.total.iter().zip(&packed.fixed).map(|(t, f)| f + t.iter().sum::<f64>()));
    change.into_iter().fold(0.0, f64::max)
}

/// All rows' new labels and their weighted sum.
struct Step<'a> {
    packed: &'a Packed,
    rate: &'a [f64],
    labels: &'a mut [Lane],
    total: &'a mut [Lane],
}

impl Kernel for Step<'_> {
    type Output = Lane;
    #[inline(always)]
    fn run(self) -> Lane {
        let mut change = [0.0; WIDTH];
        let k = self.packed.k;
        let blocks = self.packed.cells.chunks_exact(k).zip(self.labels.chunks_exact_mut(k));
        for ((sigma, labels), share) in blocks.zip(&self.packed.share) {
            update(sigma, self.rate, labels, &mut change);
            accumulate(self.total, labels, share);
        }
        change
    }
}

/// y ← (σ + r y)/Σ(σ + r y) for eight rows.
#[inline(always)]
fn update(sigma: &[Lane], rate: &[f64], labels: &mut [Lane], change: &mut Lane) {
    let mut sum = [0.0; WIDTH];
    for ((sigma, rate), label) in sigma.iter().zip(rate).zip(labels.iter()) {
        sum = lane(|r| sum[r] + (sigma[r] + rate * label[r]));
    }
    let inverse = lane(|r| 1.0 / sum[r]);
    let mut most = *change;
    for ((sigma, rate), label) in sigma.iter().zip(rate).zip(labels) {
        let (sigma, old) = (*sigma, *label);
        let new = lane(|r| (sigma[r] + rate * old[r]) * inverse[r]);
        most = lane(|r| larger(most[r], (new[r] - old[r]).abs()));
        *label = new;
    }
    *change = most;
}
