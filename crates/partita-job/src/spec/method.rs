//! Options of the method, for either engine.

use partita::linear::{
    Dims, EM_ITERATIONS, Init, LiftKind, Loss, Neighbours, Optimiser, Prepare, Refresh, Solver,
};
use serde::{Deserialize, Serialize};

/// Options of the method. `None` means the default for the data at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MethodSpec {
    /// What is minimised.
    pub loss: Loss,
    /// Weight λ of fairness; for SeLa the power of the predictions.
    pub lambda: Option<f64>,
    /// Weight γ of the squared norm, in units of mean squared row norm 1.
    pub gamma: Option<f64>,
    /// How rows are prepared.
    pub prepare: Prepare,
    /// The feature map before the softmax.
    pub lift: LiftKind,
    /// Neighbours that rows are averaged with to teach them.
    pub neighbours: Neighbours,
    /// Dimensions to train on.
    pub dims: Dims,
    /// Where training starts.
    pub init: Init,
    /// Passes over the data.
    pub epochs: Option<usize>,
    /// Rows of a batch.
    pub batch: Option<usize>,
    /// EM iterations for the pseudo-labels of a batch.
    pub em_iterations: usize,
    /// Solve for optimal pseudo-labels instead of a few EM iterations.
    pub exact_labels: bool,
    /// How often pseudo-labels are computed again.
    pub refresh: Refresh,
    /// Optimiser of the weights.
    pub optimiser: OptimiserKind,
    /// Momentum of gradient descent.
    pub momentum: f64,
    /// Learning rate, in units of mean squared row norm 1; that of Adam for a network.
    pub learning_rate: Option<f64>,
    /// L-BFGS iterations on all rows after training.
    pub polish: usize,
    /// Weight of the mean cross-entropy of rows with known labels, added to the loss of all rows.
    pub known_weight: f64,
}

impl Default for MethodSpec {
    fn default() -> Self {
        Self {
            loss: Loss::default(),
            lambda: None,
            gamma: None,
            prepare: Prepare::default(),
            lift: LiftKind::Auto,
            neighbours: Neighbours::default(),
            dims: Dims::default(),
            init: Init::default(),
            epochs: None,
            batch: None,
            em_iterations: EM_ITERATIONS,
            exact_labels: false,
            refresh: Refresh::default(),
            optimiser: OptimiserKind::default(),
            momentum: 0.0,
            learning_rate: None,
            polish: 0,
            known_weight: 0.0,
        }
    }
}

impl MethodSpec {
    /// How pseudo-labels are found.
    pub(crate) fn solver(&self) -> Solver {
        if self.exact_labels { Solver::Exact } else { Solver::Em { iterations: self.em_iterations } }
    }

    /// Optimiser of the weights, with the momentum.
    pub(crate) fn optimiser(&self) -> Optimiser {
        match self.optimiser {
            OptimiserKind::Sgd => Optimiser::Sgd { momentum: self.momentum },
            OptimiserKind::Adam => Optimiser::Adam,
            OptimiserKind::Lbfgs => Optimiser::Lbfgs,
        }
    }
}

/// Optimiser of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserKind {
    /// Stochastic gradient descent.
    #[default]
    Sgd,
    /// Adam.
    Adam,
    /// Full-batch L-BFGS, for small data.
    Lbfgs,
}
