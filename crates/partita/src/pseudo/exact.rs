//! Exact pseudo-labels for reverse cross-entropy, by duality.
//!
//! Stationarity gives y_ik = σ_ik/(μ_i − δ_k) with the prices δ of [`super::dual`] and μ_i the root of Σ_k y_ik = 1.
//! With q_ik = y_ik²/σ_ik a row's part of the negative Hessian is diag(q_i) − q_i q_iᵀ/Σq_i.

use super::central;
use super::dual::{Answer, maximise};
use super::lanes::{Lane, Packed, WIDTH, lane, larger, smaller};
use super::{Coupling, Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::entropy::Fairness;
use crate::simplex::SIGMA_FLOOR;

/// A relative step of a root that leaves only its cube as an error.
const SHORT_STEP: f64 = 1e-4;
/// Relative steps shorter than this are Halley's, which cubes the error; longer ones are Newton's, which cannot miss.
const HALLEY: f64 = 0.1;
/// Newton steps for a root; a few suffice, extreme predictions need some tens.
const ROOT_STEPS: usize = 100;
/// Newton steps for the scalar equation that gives the first price under weak fairness.
const PRICE_STEPS: usize = 20;

/// Minimises mean H(σ, y) + λ fairness to a given tolerance: a few Newton steps, or ten to twenty where predictions
/// are nearly one-hot and far from fair.
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
///
/// Tested for λ from 0.001 to 10,000.
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
        ws.packed.pack_sigma(problem.batch, SIGMA_FLOOR);
        ws.packed.mean(&ws.packed.cells, &mut ws.dual.demand);
        ws.dual.price.clear();
        for (mean, prior) in ws.dual.demand.iter().zip(problem.prior) {
            ws.dual.price.push(first_price(self.fairness, mean / prior, problem.lambda));
        }
        ws.dual.start();
        first_roots(&ws.packed, &ws.dual.gap, &mut ws.dual.roots);
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

/// ν to first order around equal prices, where it is 1: 1 − Σ σ gap.
fn first_roots(packed: &Packed, gap: &[f64], roots: &mut Vec<Lane>) {
    roots.clear();
    for cells in packed.cells.chunks_exact(packed.k) {
        let mut root = [1.0; WIDTH];
        for (sigma, gap) in cells.iter().zip(gap) {
            root = lane(|r| root[r] - sigma[r] * gap);
        }
        roots.push(root);
    }
}

/// y = σ/(ν + gap) with ν = μ − max δ the root of s(ν) = Σ y = 1.
///
/// 1/s is concave and rising, so Newton's steps on 1/s − 1 come from the left for good after at most one step. They
/// stay between max(σ − gap) > 0, where one term alone is 1, and 1, beyond which s is too small.
struct ReverseAnswer;

impl Answer for ReverseAnswer {
    const ROOT: bool = true;

    fn approach(&self, fairness: Fairness, problem: &Problem<'_>, ws: &mut Workspace) -> usize {
        central::approach(fairness, problem, ws)
    }

    #[inline(always)]
    fn answer(
        &self,
        cells: &[Lane],
        gap: &[f64],
        root: &mut Lane,
        labels: &mut [Lane],
        link: &mut [Lane],
    ) -> Lane {
        let low = lower_bound(cells, gap);
        let inside = |nu: f64, low: f64| larger(smaller(nu, larger(low, 1.0)), low);
        let mut nu = lane(|r| inside(root[r], low[r]));
        let mut step = [0.0; WIDTH];
        for _ in 0..ROOT_STEPS {
            let [sum, slope, bend] = weigh(cells, gap, nu, labels, link);
            let newton = lane(|r| sum[r] * (sum[r] - 1.0) / slope[r]);
            let turn = lane(|r| newton[r] * (bend[r] / slope[r] - slope[r] / sum[r]));
            let near = lane(|r| HALLEY * nu[r] - newton[r].abs());
            let moved = lane(|r| newton[r] / (1.0 - if near[r] > 0.0 { turn[r] } else { 0.0 }));
            let next = lane(|r| inside(nu[r] + moved[r], low[r]));
            step = lane(|r| next[r] - nu[r]);
            let length = lane(|r| step[r].abs() / nu[r]);
            nu = next;
            if length.into_iter().fold(0.0, larger) < SHORT_STEP {
                break;
            }
        }
        *root = nu;
        finish(step, labels, link)
    }
}

/// max(σ − gap) of eight rows.
#[inline(always)]
fn lower_bound(cells: &[Lane], gap: &[f64]) -> Lane {
    let mut low = [0.0; WIDTH];
    for (cell, gap) in cells.iter().zip(gap) {
        low = lane(|r| larger(low[r], cell[r] - gap));
    }
    low
}

/// y into `labels` and 1/(ν + gap) into `inverses`; returns s = Σ y, −s′ = Σ y/(ν + gap) and s″/2 = Σ y/(ν + gap)².
#[inline(always)]
fn weigh(cells: &[Lane], gap: &[f64], nu: Lane, labels: &mut [Lane], inverses: &mut [Lane]) -> [Lane; 3] {
    let [mut sum, mut slope, mut bend] = [[0.0; WIDTH]; 3];
    for (((cell, gap), label), inverse) in cells.iter().zip(gap).zip(labels).zip(inverses) {
        let (sigma, inv) = (*cell, lane(|r| 1.0 / (nu[r] + gap)));
        let y = lane(|r| sigma[r] * inv[r]);
        let q = lane(|r| y[r] * inv[r]);
        sum = lane(|r| sum[r] + y[r]);
        slope = lane(|r| slope[r] + q[r]);
        bend = lane(|r| bend[r] + q[r] * inv[r]);
        (*label, *inverse) = (y, inv);
    }
    [sum, slope, bend]
}

/// Carry labels and inverses along the last, short step of ν without dividing again, turn the inverses into the links
/// q = y/(ν + gap), and normalise the labels. Returns 1/Σq.
#[inline(always)]
fn finish(step: Lane, labels: &mut [Lane], links: &mut [Lane]) -> Lane {
    let (mut sum, mut total) = ([0.0; WIDTH], [0.0; WIDTH]);
    for (label, link) in labels.iter_mut().zip(links) {
        let (y, inverse) = (*label, *link);
        let x = lane(|r| step[r] * inverse[r]);
        let shrink = lane(|r| 1.0 - x[r] + x[r] * x[r]);
        let y = lane(|r| y[r] * shrink[r]);
        let q = lane(|r| y[r] * inverse[r] * shrink[r]);
        sum = lane(|r| sum[r] + y[r]);
        total = lane(|r| total[r] + q[r]);
        (*label, *link) = (y, q);
    }
    let inverse = lane(|r| 1.0 / sum[r]);
    for label in labels {
        let y = *label;
        *label = lane(|r| y[r] * inverse[r]);
    }
    lane(|r| 1.0 / total[r])
}
