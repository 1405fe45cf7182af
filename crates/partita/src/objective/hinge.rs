//! Max-margin clustering: the hinge loss of the best fair labels.
//!
//! mean max(0, 1 + max_{c≠y} z_c − z_y), the multi-class hinge of Crammer and Singer, minimised over hard labels y whose sizes are
//! near the prior's. For K = 2 it is max(0, 1 − t wᵀx) with t = ±1 and w the difference of the two rows of W.
//! Differences of logits are those of ln σ, so that no logits are needed.

use super::{Batch, BatchObjective, Workspace, known_label};
use crate::balance::{self, Bounds};
use crate::simplex::largest;

/// What it costs to give a known row another label: more than any fair labels of the others could save.
const FORBIDDEN: f32 = 1e6;

/// The hinge loss with labels within `slack` of fair sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Hinge {
    /// The prior u, shape `[k]`.
    pub prior: Vec<f64>,
    /// A cluster of n u rows may have up to this share of them more or less, and at least one row either way.
    pub slack: f64,
}

impl Hinge {
    /// Sizes that n rows may have.
    fn bounds(&self, n: usize) -> Bounds {
        let expected = |u: &f64| u * n as f64;
        let room = |u: &f64| (self.slack * expected(u)).max(1.0);
        let lower = self.prior.iter().map(|u| (expected(u) - room(u)).ceil().max(0.0) as usize).collect();
        let upper = self.prior.iter().map(|u| (expected(u) + room(u)).floor().max(1.0) as usize).collect();
        Bounds { lower, upper }
    }

    /// Fair labels with the smallest hinge loss.
    fn label(&self, batch: Batch<'_>, ws: &mut Workspace) {
        let (n, k) = (batch.n(), batch.k);
        ws.scores.clear();
        for row in batch.rows() {
            let (best, second) = top_two(row.log_sigma);
            let share = row.share * n as f64;
            let value = |c: usize| match row.known {
                Some(known) if known == c => 0.0,
                Some(_) => -FORBIDDEN,
                None => -(share * loss(row.log_sigma, c, best, second)) as f32,
            };
            ws.scores.extend((0..k).map(value));
        }
        ws.labels.resize(n, 0);
        let bounds = self.bounds(n);
        balance::assign_into(&ws.scores, k, &bounds, &mut ws.labels, &mut ws.balance)
            .expect("the bounds hold n rows and hinge losses are finite");
    }
}

/// The two largest entries, as (index, index).
fn top_two(z: &[f64]) -> (usize, usize) {
    let best = largest(z);
    let first = usize::from(best == 0);
    let second = (first..z.len()).filter(|&c| c != best).fold(first, |s, c| if z[c] > z[s] { c } else { s });
    (best, second)
}

/// The hinge loss of label `c`.
fn loss(z: &[f64], c: usize, best: usize, second: usize) -> f64 {
    let rival = if c == best { second } else { best };
    (1.0 + z[rival] - z[c]).max(0.0)
}

impl BatchObjective for Hinge {
    fn value_and_gradient(&self, batch: Batch<'_>, gradient: &mut [f64], ws: &mut Workspace) -> f64 {
        self.label(batch, ws);
        let mut total = 0.0;
        for ((row, &label), out) in batch.rows().zip(&ws.labels).zip(gradient.chunks_exact_mut(batch.k)) {
            if let Some(known) = row.known {
                total += row.share * known_label(row.log_sigma, known, out);
                out.iter_mut().for_each(|o| *o *= row.share);
                continue;
            }
            let (best, second) = top_two(row.log_sigma);
            let label = label as usize;
            let value = loss(row.log_sigma, label, best, second);
            out.fill(0.0);
            if value > 0.0 {
                out[label] = -row.share;
                out[if label == best { second } else { best }] = row.share;
            }
            total += row.share * value;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::{assert_close, differences};
    use crate::objective::Row;
    use crate::objective::testing::sample;
    use crate::simplex::uniform;
    use proptest::prelude::*;

    #[test]
    fn labels_are_the_best_fair_ones() {
        // Three of four rows lean to the first cluster; the one that leans least goes to the second.
        let z = [2.0, 0.0, 1.5, 0.0, 0.2, 0.0, 0.0, 3.0f64];
        let mut log_sigma = vec![0.0; 8];
        z.chunks(2).zip(log_sigma.chunks_mut(2)).for_each(|(z, l)| crate::simplex::log_softmax(z, l));
        let batch = Batch { log_sigma: &log_sigma, k: 2, weights: None, known: None };
        let mut ws = Workspace::default();
        let mut gradient = vec![0.0; 8];
        let even = Hinge { prior: uniform(2), slack: 0.0 };
        // One row of slack allows three and one.
        even.value_and_gradient(batch, &mut gradient, &mut ws);
        assert_eq!(ws.labels, [0, 0, 0, 1]);
        let bounds = Bounds { lower: vec![2, 2], upper: vec![2, 2] };
        balance::assign_into(&ws.scores, 2, &bounds, &mut ws.labels, &mut ws.balance).unwrap();
        assert_eq!(ws.labels, [0, 0, 1, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_gradient_is_that_of_the_loss_with_labels_held_fixed(s in sample()) {
            let hinge = Hinge { prior: s.prior.clone(), slack: 0.3 };
            let l = s.log_sigma();
            let mut ws = Workspace::default();
            let mut gradient = vec![0.0; l.len()];
            hinge.value_and_gradient(s.batch(&l), &mut gradient, &mut ws);
            let labels = ws.labels.clone();
            let fixed = |l: &[f64]| -> f64 {
                let value = |(row, label): (Row<'_>, &u32)| {
                    let (best, second) = top_two(row.log_sigma);
                    row.share * match row.known {
                        Some(known) => -row.log_sigma[known],
                        None => loss(row.log_sigma, *label as usize, best, second),
                    }
                };
                s.batch(l).rows().zip(&labels).map(value).sum()
            };
            // Random logits are never at a kink to within the step of the differences.
            assert_close(&gradient, &differences(&s.z, s.k, fixed), 1e-5);
        }
    }
}
