//! Self-labelling for Rényi decisiveness of order α > 1.
//!
//! R_α(σ) = min_y [α H(y, σ) − H(y)]/(α − 1), reached at y ∝ σ^α. With fairness the rows are
//! y_i = softmax(α ln σ_i + (α − 1) δ) for the prices δ of [`super::dual`], and a row's part of the negative Hessian is
//! (α − 1)[diag(y_i) − y_i y_iᵀ].

use super::dual::{Answer, maximise};
use super::lanes::{Lane, Packed, WIDTH, exp, lane, larger};
use super::{Coupling, Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::entropy::Fairness;

/// Minimises mean [α H(y, σ) − H(y)]/(α − 1) + λ KL(u‖ȳ). As α → ∞ the labels become hard and fair.
///
/// ```
/// use partita::objective::Batch;
/// use partita::pseudo::{Problem, PseudoLabels, Renyi, Workspace};
/// let log_sigma = [0.9f64.ln(), 0.1f64.ln(), 0.7f64.ln(), 0.3f64.ln()];
/// let batch = Batch { log_sigma: &log_sigma, k: 2, weights: None, known: None };
/// let mut y = [0.0; 4];
/// let problem = Problem { batch, prior: &[0.5, 0.5], lambda: 10.0 };
/// Renyi::new(50.0).solve(&problem, &mut y, &mut Workspace::default());
/// assert!(y[0] > 0.9 && y[3] > 0.9);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Renyi {
    /// Order α > 1.
    pub alpha: f64,
    /// Largest mismatch of a cluster's share relative to its prior.
    pub tolerance: f64,
    /// Newton steps at most.
    pub max_iterations: usize,
}

impl Renyi {
    /// The solver of this order with default limits.
    pub fn new(alpha: f64) -> Self {
        Self { alpha, tolerance: 1e-10, max_iterations: 200 }
    }
}

impl PseudoLabels for Renyi {
    fn surrogate(&self) -> Surrogate {
        Surrogate { coupling: Coupling::Renyi { alpha: self.alpha }, fairness: Fairness::Strong }
    }

    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
        assert!(
            self.alpha > 1.0 && self.alpha.is_finite(),
            "the order α must be above 1, not {}",
            self.alpha
        );
        ws.packed.pack(problem.batch, self.alpha);
        ws.dual.price.clear();
        ws.dual.price.resize(ws.packed.k, 0.0);
        ws.dual.start();
        ws.dual.roots.resize(ws.packed.share.len(), [0.0; WIDTH]);
        let answer = RenyiAnswer { excess: self.alpha - 1.0 };
        let limits = (self.tolerance, self.max_iterations);
        let solved = maximise(&answer, Fairness::Strong, problem, limits, ws);
        Packed::unpack(&ws.labels, problem.batch, y);
        solved
    }
}

/// y = softmax(cells − (α − 1) gap); there is no root.
pub(super) struct RenyiAnswer {
    /// α − 1.
    pub excess: f64,
}

impl Answer for RenyiAnswer {
    const ROOT: bool = false;

    #[inline(always)]
    fn answer(
        &self,
        cells: &[Lane],
        gap: &[f64],
        _root: &mut Lane,
        labels: &mut [Lane],
        link: &mut [Lane],
    ) -> Lane {
        let mut max = [f64::NEG_INFINITY; WIDTH];
        for ((label, cell), gap) in labels.iter_mut().zip(cells).zip(gap) {
            let tilted = lane(|r| cell[r] - self.excess * gap);
            max = lane(|r| larger(max[r], tilted[r]));
            *label = tilted;
        }
        let mut sum = [0.0; WIDTH];
        for label in labels.iter_mut() {
            let tilted = *label;
            let y = exp(&lane(|r| tilted[r] - max[r]));
            sum = lane(|r| sum[r] + y[r]);
            *label = y;
        }
        let inverse = lane(|r| 1.0 / sum[r]);
        for (label, link) in labels.iter_mut().zip(link) {
            let y = *label;
            *label = lane(|r| y[r] * inverse[r]);
            *link = *label;
        }
        [self.excess; WIDTH]
    }
}
