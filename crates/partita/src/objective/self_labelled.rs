//! Self-labelling losses: pseudo-labels from a solver, then the gradient with them held fixed.

use super::{Batch, BatchObjective, Workspace, known_label};
use crate::pseudo::{Problem, PseudoLabels, Solved};
use std::fmt;

/// min over y of mean coupling(σ, y) + λ fairness(ȳ), the coupling and the fairness being those of the solver:
///
/// | solver | loss |
/// |---|---|
/// | [`crate::pseudo::Em`], [`crate::pseudo::Exact`] | the paper's: mean H(σ, y) + λ KL(u‖ȳ) |
/// | [`crate::pseudo::Exact`] with weak fairness | mean H(σ, y) + λ KL(ȳ‖u) |
/// | [`crate::pseudo::Renyi`] | mean \[α H(y, σ) − H(y)\]/(α − 1) + λ KL(u‖ȳ) |
///
/// The solver's labels stay in [`Workspace::y`].
pub struct SelfLabelled {
    /// Finds the pseudo-labels of each batch.
    pub solver: Box<dyn PseudoLabels>,
    /// The prior u, shape `[k]`.
    pub prior: Vec<f64>,
    /// Weight λ of fairness.
    pub lambda: f64,
}

impl fmt::Debug for SelfLabelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("SelfLabelled");
        out.field("surrogate", &self.solver.surrogate()).field("prior", &self.prior);
        out.field("lambda", &self.lambda).finish_non_exhaustive()
    }
}

impl SelfLabelled {
    /// Solve for the pseudo-labels of a batch, into `ws.y`.
    pub fn label(&self, batch: Batch<'_>, ws: &mut Workspace) -> Solved {
        ws.y.resize(batch.log_sigma.len(), 0.0);
        let problem = Problem { batch, prior: &self.prior, lambda: self.lambda };
        self.solver.solve(&problem, &mut ws.y, &mut ws.pseudo)
    }

    /// The loss and d/dz into `gradient` with the labels in `ws.y` held fixed.
    pub fn with_labels(&self, batch: Batch<'_>, gradient: &mut [f64], ws: &mut Workspace) -> f64 {
        let surrogate = self.solver.surrogate();
        ws.mean.clear();
        ws.mean.resize(batch.k, 0.0);
        let mut loss = 0.0;
        let rows = batch.rows().zip(ws.y.chunks_exact(batch.k));
        for ((row, y), out) in rows.zip(gradient.chunks_exact_mut(batch.k)) {
            let value = match row.known {
                Some(label) => known_label(row.log_sigma, label, out),
                None => surrogate.coupling.value_and_gradient(row.log_sigma, y, out),
            };
            loss += row.share * value;
            out.iter_mut().for_each(|o| *o *= row.share);
            ws.mean.iter_mut().zip(y).for_each(|(m, y)| *m += row.share * y);
        }
        loss + self.lambda * surrogate.fairness.value(&ws.mean, &self.prior)
    }
}

impl BatchObjective for SelfLabelled {
    fn value_and_gradient(&self, batch: Batch<'_>, gradient: &mut [f64], ws: &mut Workspace) -> f64 {
        self.label(batch, ws);
        self.with_labels(batch, gradient, ws)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_gradient, sample};
    use super::super::{Fairness, MutualInformation};
    use super::*;
    use crate::entropy::testing::{assert_close, differences};
    use crate::pseudo::{Em, Exact, Renyi};
    use crate::simplex::uniform;
    use proptest::prelude::*;

    fn solvers(alpha: f64) -> Vec<Box<dyn PseudoLabels>> {
        let weak = Exact { fairness: Fairness::Weak, ..Exact::default() };
        vec![Box::new(Exact::default()), Box::new(weak), Box::new(Renyi::new(alpha))]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn with_optimal_labels_it_is_the_gradient_of_the_minimum(
            s in sample(), alpha in 1.2..5.0, lambda in 0.1..20.0
        ) {
            for solver in solvers(alpha) {
                check_gradient(&SelfLabelled { solver, prior: s.prior.clone(), lambda }, &s, 1e-6);
            }
        }

        #[test]
        fn with_any_labels_it_is_the_gradient_at_fixed_labels(s in sample(), lambda in 0.1..200.0) {
            let solver = Box::new(Em { max_iterations: 3, tolerance: 0.0 });
            let objective = SelfLabelled { solver, prior: s.prior.clone(), lambda };
            let (mut ws, mut gradient) = (Workspace::default(), vec![0.0; s.z.len()]);
            let loss = objective.value_and_gradient(s.batch(&s.log_sigma()), &mut gradient, &mut ws);
            let at = |l: &[f64]| objective.with_labels(s.batch(l), &mut vec![0.0; l.len()], &mut ws.clone());
            // Where every row is known a cluster may stay empty, and the rounding of its huge penalty shows.
            assert_close(&gradient, &differences(&s.z, s.k, at), 1e-7 + 1e-10 * loss.abs());
            let l = s.log_sigma();
            let problem = Problem { batch: s.batch(&l), prior: &s.prior, lambda };
            prop_assert!((loss - objective.solver.surrogate().loss(&problem, &ws.y)).abs() < 1e-10);
        }

        #[test]
        fn one_em_iteration_at_infinite_lambda_is_mutual_information_descent(s in sample()) {
            let s = s.without_known();
            let (l, prior) = (s.log_sigma(), uniform(s.k));
            let solver = Box::new(Em { max_iterations: 1, tolerance: 0.0 });
            let (mut ws, mut ours, mut mi) = (Workspace::default(), vec![0.0; l.len()], vec![0.0; l.len()]);
            SelfLabelled { solver, prior, lambda: 1e13 }.value_and_gradient(s.batch(&l), &mut ours, &mut ws);
            MutualInformation::new(s.k).value_and_gradient(s.batch(&l), &mut mi, &mut ws);
            assert_close(&ours, &mi, 1e-9);
        }
    }

    #[test]
    fn a_known_row_pulls_towards_its_label() {
        let batch = Batch { log_sigma: &[0.5f64.ln(); 4], k: 2, weights: None, known: Some(&[1, -1]) };
        let objective = SelfLabelled { solver: Box::new(Exact::default()), prior: uniform(2), lambda: 10.0 };
        let (mut ws, mut gradient) = (Workspace::default(), [0.0; 4]);
        objective.value_and_gradient(batch, &mut gradient, &mut ws);
        assert_close(&gradient[..2], &[0.25, -0.25], 1e-12);
        assert!(
            ws.y[..2] == [0.0, 1.0] && ws.y[2] > 0.8,
            "fairness gives the other row to cluster 0: {:?}",
            ws.y
        );
    }
}
