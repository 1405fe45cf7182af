//! What never changes while a fit trains: its options with every default filled in, and what follows from them.

use super::em::EmStep;
use super::labelling::Labelling;
use super::layout::Layout;
use super::loss::{Loss, Solver};
use super::params::{Checked, Params, Refresh};
use super::score::Judge;
use super::source::Source;
use super::state::Stage;
use crate::numeric::optimise::Schedule;
use crate::objective::{BatchObjective, SelfLabelled};
use crate::pseudo::{Exact, PseudoLabels};

/// Iterations of L-BFGS where it is the whole optimiser.
const LBFGS_ITERATIONS: usize = 200;

/// Steps of the refinement, ...
const REFINE_STEPS: usize = 40;
/// ... rows of its batches, at least twice those of the search, ...
const REFINE_BATCH: usize = 2048;
/// ... and its learning rate at the start.
const REFINE_RATE: f64 = 0.625;

/// The options of a fit, as given and with every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// As given, ...
    pub params: Params,
    /// ... and with every default filled in.
    pub checked: Checked,
    /// Where the clusters lie, if there are few enough dimensions to see it.
    pub layout: Option<Layout>,
}

/// A stretch of training: a number of steps on batches of one size.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// Steps in all.
    pub steps: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// EM iterations for the labels of a batch.
    pub em_iterations: usize,
    /// Learning rate and weight of the norm on the way.
    pub schedule: Schedule,
}

impl Plan {
    /// Where the clusters lie, unless their numbers are given by a model or by known labels: those of a layout are its own.
    pub fn free_layout(&self, source: &Source<'_>) -> Option<&Layout> {
        self.layout.as_ref().filter(|_| !source.is_warm() && source.known().is_none())
    }

    /// Annealed training from the starts; without annealing from a model that is there already.
    pub fn search(&self, warm: bool) -> Stretch {
        Stretch {
            steps: self.checked.steps,
            batch: self.checked.batch,
            em_iterations: self.em_iterations(),
            schedule: Schedule {
                rate: self.checked.rate,
                hold: 0.6,
                last_rate: 0.05,
                gamma: self.checked.gamma,
                anneal: if warm { 1.0 } else { self.checked.anneal },
                anneal_until: 0.8,
            },
        }
    }

    /// Larger batches bring out which of the remaining restarts has the lowest loss.
    pub fn refinement(&self, source: &Source<'_>) -> Stretch {
        Stretch {
            steps: REFINE_STEPS,
            batch: REFINE_BATCH.max(2 * self.checked.batch).min(source.n()),
            em_iterations: 2 * self.em_iterations(),
            schedule: Schedule {
                rate: self.checked.rate * REFINE_RATE,
                hold: 0.0,
                last_rate: 0.0,
                gamma: self.checked.gamma,
                anneal: 1.0,
                anneal_until: 1.0,
            },
        }
    }

    /// Iterations of L-BFGS in a stage that uses it.
    pub fn iterations(&self, stage: Stage) -> usize {
        if stage == Stage::Polish { self.params.polish } else { LBFGS_ITERATIONS }
    }

    fn em_iterations(&self) -> usize {
        match self.params.solver {
            Solver::Em { iterations } => iterations,
            Solver::Exact => 0,
        }
    }

    /// How logit gradients are found, with a number of EM iterations.
    pub fn labelling(&self, em_iterations: usize) -> Labelling {
        match (self.params.loss, self.params.solver, self.params.refresh) {
            (loss, _, Refresh::Epoch) if loss.has_labels() => Labelling::Fixed(self.self_labelled()),
            (Loss::Strong, Solver::Em { .. }, Refresh::Batch) => Labelling::Em(self.em_step(em_iterations)),
            _ => Labelling::Objective(self.objective(self.solver())),
        }
    }

    fn self_labelled(&self) -> SelfLabelled {
        self.params.loss.self_labelled(self.solver(), self.checked.prior.clone(), self.checked.lambda)
    }

    fn solver(&self) -> Box<dyn PseudoLabels> {
        self.params.loss.solver(self.params.solver, self.checked.lambda)
    }

    fn objective(&self, solver: Box<dyn PseudoLabels>) -> Box<dyn BatchObjective> {
        self.params.loss.objective(solver, self.checked.prior.clone(), self.checked.lambda)
    }

    /// The loss that L-BFGS descends, at optimal pseudo-labels.
    pub fn smooth_objective(&self) -> Box<dyn BatchObjective> {
        self.objective(match self.params.loss {
            Loss::Strong if self.checked.lambda > 0.0 => Box::new(Exact::default()),
            _ => self.solver(),
        })
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
