//! MIADM's labels: the ordinary cross-entropy with weak fairness, min over y of mean H(y, σ) + λ KL(ȳ‖u).
//!
//! MIADM is the alternating method of Jabi, Pedersoli, Mitiche and Ben Ayed ("Deep clustering: on the link between
//! discriminative models and K-means", 2019). Labels that do not minimise this loss exactly come in two closed forms:
//!
//! - [`Miadm::Depict`], y ∝ σ √(u/σ̄), is the one of Ghasedi Dizaji et al. (DEPICT, 2017). It sets the derivative of
//!   KL(y‖σ) + KL(ȳ‖u) to zero with ȳ replaced by its value from σ. Jabi et al. build on it: their published program starts
//!   from DEPICT's, and turns labels into predictions by the bias ln √ȳ, which is this form read backwards. The same group's
//!   TIM-ADM (Boudiaf et al. 2020) has y ∝ σ^(1+a)/(Σσ^(1+a))^b, which is this form at a = 0, b = 1/2. So this is what the
//!   paper's MIADM stands for.
//! - [`Miadm::Dec`], y ∝ σ² u/σ̄, is the target of Xie, Girshick and Farhadi (DEC, 2016). It also sharpens.
//!
//! H(y, σ) is linear in y, so that the optimal labels are hard but for ties: row i goes to the largest σ_ik (u_k/ȳ_k)^λ.
//! DEPICT's form only evens out sizes: where they are even it is σ itself, and nothing pulls predictions from the middle.

use super::dual::maximise;
use super::lanes::{Packed, WIDTH};
use super::renyi::RenyiAnswer;
use super::{Coupling, Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::entropy::Fairness;
use crate::simplex::{TINY, log_sum_exp};

/// How mean H(y, σ) + λ KL(ȳ‖u) is lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miadm {
    /// DEPICT's y ∝ σ √(u/σ̄), the one that MIADM's authors use.
    Depict,
    /// DEC's y ∝ σ² u/σ̄.
    Dec,
    /// The minimum.
    Exact,
}

/// The orders α through which the minimum is approached: R_α's labels with weak fairness tend to it as α grows, and the
/// prices of one order start the next.
const ORDERS: [f64; 4] = [10.0, 100.0, 1e3, 1e4];
const LIMITS: (f64, usize) = (1e-8, 100);

impl PseudoLabels for Miadm {
    fn surrogate(&self) -> Surrogate {
        Surrogate { coupling: Coupling::Forward, fairness: Fairness::Weak }
    }

    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
        match self {
            Self::Depict => approximate(problem, (1.0, 0.5), y, ws),
            Self::Dec => approximate(problem, (2.0, 1.0), y, ws),
            Self::Exact => minimise(problem, y, ws),
        }
    }
}

fn minimise(problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
    ws.dual.price.clear();
    ws.dual.price.resize(problem.batch.k, 0.0);
    let mut all = Solved { iterations: 0, residual: 0.0, converged: false };
    for alpha in ORDERS {
        ws.packed.pack(problem.batch, alpha);
        ws.dual.start();
        ws.dual.roots.resize(ws.packed.share.len(), [0.0; WIDTH]);
        let answer = RenyiAnswer { excess: alpha - 1.0 };
        let solved = maximise(&answer, Fairness::Weak, problem, LIMITS, ws);
        all = Solved { iterations: all.iterations + solved.iterations, ..solved };
    }
    Packed::unpack(&ws.labels, problem.batch, y);
    all
}

/// y ∝ σ^sharp (u/σ̄)^fair, in logarithms: a square underflows long before σ does.
fn approximate(
    problem: &Problem<'_>,
    (sharp, fair): (f64, f64),
    y: &mut [f64],
    ws: &mut Workspace,
) -> Solved {
    let (k, tilt) = (problem.batch.k, &mut ws.dual.demand);
    problem.batch.mean_prediction(tilt);
    tilt.iter_mut().zip(problem.prior).for_each(|(m, u)| *m = fair * (u / m.max(TINY)).ln());
    for (row, y) in problem.batch.rows().zip(y.chunks_exact_mut(k)) {
        y.iter_mut().zip(row.log_sigma).zip(&*tilt).for_each(|((y, l), t)| *y = sharp * l + t);
        let norm = log_sum_exp(y);
        for (c, y) in y.iter_mut().enumerate() {
            *y = row.known.map_or_else(|| (*y - norm).exp(), |label| f64::from(label == c));
        }
    }
    Solved { iterations: 1, residual: f64::NAN, converged: true }
}

#[cfg(test)]
mod tests {
    use super::super::surrogate::mean_labels;
    use super::*;
    use crate::objective::testing::sample;
    use proptest::prelude::*;

    /// A lower bound of the loss at any prices a, for rows without known labels:
    /// mean min_k(−ln σ_ik + λ a_k) − λ ln Σ u_k e^a_k.
    fn bound(problem: &Problem<'_>, prices: &[f64]) -> f64 {
        let supply: f64 = problem.prior.iter().zip(prices).map(|(u, a)| u * a.exp()).sum();
        let best = |l: &[f64]| {
            l.iter().zip(prices).map(|(l, a)| problem.lambda * a - l).fold(f64::INFINITY, f64::min)
        };
        let rows: f64 = problem.batch.rows().map(|row| row.share * best(row.log_sigma)).sum();
        rows - problem.lambda * supply.ln()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_exact_labels_reach_a_lower_bound_and_the_approximate_ones_do_not_pass_it(
            s in sample(), lambda in 0.3..3.0
        ) {
            let l = s.log_sigma();
            let unknown = vec![-1; s.known.len()];
            let batch = crate::objective::Batch { known: Some(&unknown), ..s.batch(&l) };
            let problem = Problem { batch, prior: &s.prior, lambda };
            let (mut ws, mut mean) = (Workspace::default(), Vec::new());
            let mut y = vec![0.0; l.len()];
            Miadm::Exact.solve(&problem, &mut y, &mut ws);
            let loss = Miadm::Exact.surrogate().loss(&problem, &y);
            mean_labels(batch, &y, &mut mean);
            let prices: Vec<f64> = mean.iter().zip(&s.prior).map(|(m, u)| (m.max(TINY) / u).ln()).collect();
            let gap = loss - bound(&problem, &prices);
            prop_assert!((-1e-9..1e-2).contains(&gap), "{gap}");
            for approximate in [Miadm::Depict, Miadm::Dec] {
                approximate.solve(&problem, &mut y, &mut ws);
                prop_assert!(approximate.surrogate().loss(&problem, &y) > loss - 1e-3);
            }
        }
    }
}
