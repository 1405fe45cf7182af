//! Exact pseudo-labels for reverse cross-entropy, by duality.
//!
//! Stationarity gives y_ik = σ_ik/(μ_i − δ_k) with the prices δ of [`super::dual`] and μ_i the root of Σ_k y_ik = 1.
//! With q_ik = y_ik²/σ_ik a row's part of the negative Hessian is diag(q_i) − q_i q_iᵀ/Σq_i.

use super::dual::{Answer, maximise};
use super::lanes::{Lane, Packed, WIDTH};
use super::{Coupling, Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::objective::Fairness;
use crate::simplex::SIGMA_FLOOR;

/// A root is good enough for one last Newton step, which squares the error, when Σ y errs by less than this.
const NEARLY_ONE: f64 = 1e-8;
/// Newton steps for a root; a few suffice, extreme predictions need some tens.
const ROOT_STEPS: usize = 100;
/// Newton steps for the scalar equation that gives the first price under weak fairness.
const PRICE_STEPS: usize = 20;

/// Minimises mean H(σ, y) + λ fairness to a given tolerance, in some five to ten Newton steps.
///
/// ```
/// use partita::objective::Batch;
/// use partita::pseudo::{Exact, Problem, PseudoLabels, Workspace};
/// // Both rows prefer cluster 0; strong fairness gives cluster 1 the row that minds least.
/// let log_sigma = [0.9f64.ln(), 0.1f64.ln(), 0.7f64.ln(), 0.3f64.ln()];
/// let batch = Batch { log_sigma: &log_sigma, k: 2, weights: None, known: None };
/// let mut y = [0.0; 4];
/// let problem = Problem { batch, prior: &[0.5, 0.5], lambda: 100.0 };
/// let solved = Exact::default().solve(&problem, &mut y, &mut Workspace::default());
/// assert!(solved.converged && y[0] > 0.5 && y[3] > 0.5 && (y[0] + y[2] - 1.0).abs() < 0.01);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// Strong for the paper's loss.
    pub fairness: Fairness,
    /// Largest mismatch of a cluster's share relative to its prior.
    pub tolerance: f64,
    /// Newton steps at most.
    pub max_iterations: usize,
}

impl Default for Exact {
    fn default() -> Self {
        Self { fairness: Fairness::Strong, tolerance: 1e-10, max_iterations: 100 }
    }
}

impl PseudoLabels for Exact {
    fn surrogate(&self) -> Surrogate {
        Surrogate { coupling: Coupling::Reverse, fairness: self.fairness }
    }

    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
        ws.packed.pack(problem.batch, |l| l.exp().max(SIGMA_FLOOR));
        ws.packed.mean(&ws.packed.cells, &mut ws.dual.demand);
        ws.dual.price.clear();
        for (mean, prior) in ws.dual.demand.iter().zip(problem.prior) {
            ws.dual.price.push(first_price(self.fairness, mean / prior, problem.lambda));
        }
        ws.dual.memory.clear();
        ws.dual.memory.resize(ws.packed.share.len(), [1.0; WIDTH]);
        let limits = (self.tolerance, self.max_iterations);
        let solved = maximise(&ReverseAnswer, self.fairness, problem, limits, ws);
        Packed::unpack(&ws.labels, problem.batch, y);
        solved
    }
}

/// The price that would make σ̄ fair if every row had μ = 1, from the ratio σ̄/u: exact as λ → 0, and as λ → ∞ the
/// first EM step y ∝ σ u/σ̄ to first order.
fn first_price(fairness: Fairness, ratio: f64, lambda: f64) -> f64 {
    match fairness {
        // ratio/(1 − δ) = 1/(1 + δ/λ).
        Fairness::Strong => lambda * (1.0 - ratio) / (lambda + ratio),
        // ratio e^{δ/λ} = 1 − δ, convex: Newton from the right of the root descends to it.
        Fairness::Weak => {
            let mut price = if ratio < 1.0 { (-lambda * ratio.ln()).min(1.0) } else { 0.0 };
            for _ in 0..PRICE_STEPS {
                let grown = ratio * (price / lambda).exp();
                price -= (grown + price - 1.0) / (grown / lambda + 1.0);
            }
            price
        }
    }
}

/// y = σ/(ν + gap) with ν = μ − max δ; `memory` keeps μ.
struct ReverseAnswer;

impl Answer for ReverseAnswer {
    #[inline(always)]
    fn answer(
        &self,
        cells: &[Lane],
        gap: &[f64],
        top: f64,
        memory: &mut Lane,
        labels: &mut [Lane],
        link: &mut [Lane],
    ) -> Lane {
        let nu = root(cells, gap, std::array::from_fn(|r| memory[r] - top));
        *memory = std::array::from_fn(|r| nu[r] + top);
        let (mut sum, mut links) = ([0.0; WIDTH], [0.0; WIDTH]);
        for k in 0..gap.len() {
            for r in 0..WIDTH {
                let inverse = 1.0 / (nu[r] + gap[k]);
                let y = cells[k][r] * inverse;
                labels[k][r] = y;
                link[k][r] = y * inverse;
                sum[r] += y;
                links[r] += y * inverse;
            }
        }
        let inverse: Lane = std::array::from_fn(|r| 1.0 / sum[r]);
        for label in labels.iter_mut() {
            for r in 0..WIDTH {
                label[r] *= inverse[r];
            }
        }
        std::array::from_fn(|r| 1.0 / links[r])
    }
}

/// The roots ν of s(ν) = Σ σ/(ν + gap) = 1 of eight rows.
///
/// 1/s is concave and rising, so Newton's steps on 1/s − 1 come from the left for good after at most one step; they
/// stay between max(σ − gap) > 0, where one term alone is 1, and 1, where s can no longer reach it.
#[inline(always)]
fn root(cells: &[Lane], gap: &[f64], guess: Lane) -> Lane {
    let mut low = [0.0f64; WIDTH];
    for k in 0..gap.len() {
        for r in 0..WIDTH {
            let alone = cells[k][r] - gap[k];
            low[r] = if alone > low[r] { alone } else { low[r] };
        }
    }
    let high: Lane = std::array::from_fn(|r| if low[r] > 1.0 { low[r] } else { 1.0 });
    let mut nu: Lane = std::array::from_fn(|r| guess[r].clamp(low[r], high[r]));
    for _ in 0..ROOT_STEPS {
        let (mut s, mut q) = ([0.0; WIDTH], [0.0; WIDTH]);
        for k in 0..gap.len() {
            for r in 0..WIDTH {
                let inverse = 1.0 / (nu[r] + gap[k]);
                let y = cells[k][r] * inverse;
                s[r] += y;
                q[r] += y * inverse;
            }
        }
        let mut worst = 0.0f64;
        for r in 0..WIDTH {
            nu[r] = (nu[r] + s[r] * (s[r] - 1.0) / q[r]).clamp(low[r], high[r]);
            worst = worst.max((s[r] - 1.0).abs());
        }
        if worst < NEARLY_ONE {
            break;
        }
    }
    nu
}
