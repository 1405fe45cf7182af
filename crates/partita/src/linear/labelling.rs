//! Which loss a fit descends, and which one compares its restarts.

use super::kernel::EmStep;
use super::params::{Loss, Refresh, Solver};
use super::run::Run;
use super::score::Judge;
use super::train::{Labelling, Stack};
use crate::error::Result;
use crate::objective::{
    self, BatchObjective, Fairness, Hinge, MutualInformation, RenyiGradient, SelfLabelled,
};
use crate::pseudo::{Em, Exact, PseudoLabels, Renyi, Sinkhorn};
use crate::simplex;

/// By how much the sizes of max-margin clusters may differ from the prior's, as a share of them.
const HINGE_SLACK: f64 = 0.1;

impl Loss {
    /// What finds the pseudo-labels of this loss; of use if it [has labels](Self::has_labels).
    pub fn solver(self, solver: Solver, lambda: f64) -> Box<dyn PseudoLabels> {
        match (self, solver) {
            (Self::Weak, _) => Box::new(Exact { fairness: Fairness::Weak, ..Exact::default() }),
            (Self::RenyiLabels(alpha), _) => Box::new(Renyi::new(alpha)),
            (Self::Sela, _) => Box::new(Sinkhorn { power: lambda, ..Sinkhorn::default() }),
            (Self::Miadm(labels), _) => Box::new(labels),
            (_, Solver::Em { iterations }) => Box::new(Em { max_iterations: iterations, tolerance: 0.0 }),
            (_, Solver::Exact) => Box::new(Exact::default()),
        }
    }

    /// The loss with labels from `solver`; of use if it [has labels](Self::has_labels).
    pub fn self_labelled(self, solver: Box<dyn PseudoLabels>, prior: Vec<f64>, lambda: f64) -> SelfLabelled {
        SelfLabelled { solver, prior, lambda: if self == Self::Sela { 0.0 } else { lambda } }
    }

    /// The loss of a batch; `solver` finds its labels if it has any.
    pub fn objective(
        self,
        solver: Box<dyn PseudoLabels>,
        prior: Vec<f64>,
        lambda: f64,
    ) -> Box<dyn BatchObjective> {
        match self {
            Self::MutualInformation => Box::new(MutualInformation { prior, lambda }),
            Self::Renyi(alpha) => Box::new(RenyiGradient { alpha, prior, lambda }),
            Self::Hinge => Box::new(Hinge { prior, slack: HINGE_SLACK }),
            _ => Box::new(self.self_labelled(solver, prior, lambda)),
        }
    }
}

impl Run<'_> {
    /// Pseudo-labels of all rows for each restart.
    pub fn label_all(
        &self,
        stack: &Stack,
        objective: &SelfLabelled,
        labels: &mut Vec<Vec<f32>>,
    ) -> Result<()> {
        let (n, k) = (self.source.n(), stack.k);
        let starts = stack.restarts.iter().max().map_or(0, |last| last + 1);
        labels.resize(starts.max(labels.len()), Vec::new());
        for at in 0..stack.restarts.len() {
            let head = stack.head(at);
            let mut z = Vec::with_capacity(n * k);
            let mut log_sigma = Vec::new();
            for start in (0..n).step_by(4096) {
                let batch = self.source.batch((start..n.min(start + 4096)).collect())?;
                z.extend(head.logits(&batch));
            }
            simplex::log_softmax_rows(z.into_iter(), k, &mut log_sigma);
            let weights: Option<Vec<f64>> =
                self.source.weights().map(|w| w.iter().map(|&w| f64::from(w)).collect());
            let all = objective::Batch {
                log_sigma: &log_sigma,
                k,
                weights: weights.as_deref(),
                // A start that does not see them yet would meet labels it cannot follow.
                known: self.source.known().filter(|_| stack.sees_known[at]),
            };
            let mut ws = objective::Workspace::default();
            objective.label(all, &mut ws);
            labels[stack.restarts[at]] = ws.y.iter().map(|&y| y as f32).collect();
        }
        Ok(())
    }

    /// How logit gradients are found, with so many EM iterations.
    pub fn labelling(&self, em_iterations: usize) -> Labelling {
        match (self.params.loss, self.params.solver, self.params.refresh) {
            (loss, _, Refresh::Epoch) if loss.has_labels() => {
                Labelling::Fixed(self.self_labelled(self.solver()), Vec::new())
            }
            (Loss::Strong, Solver::Em { .. }, Refresh::Batch) => Labelling::Em(self.em_step(em_iterations)),
            _ => Labelling::Objective(self.objective(self.solver())),
        }
    }

    fn self_labelled(&self, solver: Box<dyn PseudoLabels>) -> SelfLabelled {
        self.params.loss.self_labelled(solver, self.checked.prior.clone(), self.checked.lambda)
    }

    /// The pseudo-label solver of the loss.
    pub fn solver(&self) -> Box<dyn PseudoLabels> {
        self.params.loss.solver(self.params.solver, self.checked.lambda)
    }

    /// The loss in double precision.
    pub fn objective(&self, solver: Box<dyn PseudoLabels>) -> Box<dyn BatchObjective> {
        self.params.loss.objective(solver, self.checked.prior.clone(), self.checked.lambda)
    }

    /// What restarts are compared by: the same loss, with pseudo-labels close to their optimum.
    pub fn judge(&self, iterations: usize) -> Judge {
        match self.params.loss {
            Loss::Strong => Judge::Em(self.em_step(iterations)),
            _ => Judge::Objective(self.objective(self.solver())),
        }
    }

    fn em_step(&self, iterations: usize) -> EmStep {
        EmStep {
            prior: self.checked.prior.iter().map(|&u| u as f32).collect(),
            lambda: self.checked.lambda as f32,
            iterations,
        }
    }
}
