//! Options of a fit: one serialisable struct, checked once.

use super::loss::{EM_ITERATIONS, Loss, Solver};
use crate::error::{Error, Result, require};
use crate::numeric::optimise::Optimiser;
use crate::outliers::OutlierRule;
use crate::prepare::{Dims, LiftKind, MANY_CLUSTERS as MANY, Neighbours, Prepare, Recipe};
use crate::simplex::{check_prior, uniform};
use serde::{Deserialize, Serialize};

/// How often pseudo-labels are computed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// In every batch, from its own predictions.
    #[default]
    Batch,
    /// Once an epoch, for all rows.
    Epoch,
}

/// Where training starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Init {
    /// Random weights for few clusters, mostly K-means centres for many.
    #[default]
    Auto,
    /// Random weights.
    Random,
    /// Rows spread out by k-means++.
    PlusPlus,
    /// Centres of a short K-means run.
    KMeans,
}

/// What is known about the sizes of the clusters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// All clusters have the same size.
    #[default]
    Uniform,
    /// Estimated sizes where rows show how large clusters are; equal ones where they are too few, or where known labels or a model name the clusters.
    Usual,
    /// The same without the graph of neighbours: estimated in few dimensions, otherwise equal. Fits to parts of the rows that are to be compared with each other
    /// need sizes that do not depend on which rows are in a part.
    Seen,
    /// These shares.
    Given(Vec<f64>),
    /// Nothing: they are estimated, each between these shares.
    Estimated {
        /// Smallest share of a cluster.
        least: f64,
        /// Largest share.
        most: f64,
    },
}

impl Prior {
    /// What [`Prior::Usual`] and [`Prior::Seen`] mean for `k` clusters, whose layout is seen or not, and whose sizes a graph may show or not.
    pub(super) fn resolve(&self, k: usize, seen: bool, shown: bool) -> Self {
        match self {
            Self::Usual if seen || shown => Self::unknown(k),
            Self::Seen if seen => Self::unknown(k),
            Self::Usual | Self::Seen => Self::Uniform,
            known => known.clone(),
        }
    }

    /// Nothing is known: any sizes, but no cluster below a twentieth of its equal share.
    pub fn unknown(k: usize) -> Self {
        Self::Estimated { least: 0.05 / k as f64, most: 1.0 }
    }
}

/// Options of a fit. `None` means the default for the data at hand.
///
/// ```
/// use partita::linear::Params;
/// let params = Params { restarts: 4, ..Params::new(10) };
/// assert!(params.check(1000).is_ok());
/// assert!(Params::new(1).check(1000).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of clusters K.
    pub k: usize,
    /// What is minimised.
    pub loss: Loss,
    /// Weight λ of fairness; by default 100 with pseudo-labels of the strong or weak kind, 10 with Rényi's, 1 for mutual
    /// information and MIADM. For SeLa the power of σ, by default 20.
    pub lambda: Option<f64>,
    /// Weight γ of ‖W‖² in units of E‖x‖² = 1.
    pub gamma: Option<f64>,
    /// Prior u over cluster sizes.
    pub prior: Prior,
    /// How rows are prepared.
    pub prepare: Prepare,
    /// The feature map before the softmax.
    pub lift: LiftKind,
    /// Neighbours that rows are averaged with to teach them.
    #[serde(default)]
    pub neighbours: Neighbours,
    /// Dimensions of a row to train on.
    pub dims: Dims,
    /// Where training starts.
    pub init: Init,
    /// Independent starts, trained together and chosen by loss.
    pub restarts: usize,
    /// Seed of all random choices.
    pub seed: u64,
    /// Passes over the data.
    pub epochs: Option<usize>,
    /// Rows of a batch.
    pub batch: Option<usize>,
    /// How pseudo-labels are found.
    pub solver: Solver,
    /// How often pseudo-labels are computed again.
    pub refresh: Refresh,
    /// Optimiser of the weights.
    pub optimiser: Optimiser,
    /// Learning rate in units of E‖x‖² = 1.
    pub learning_rate: Option<f64>,
    /// L-BFGS iterations on all rows after training; 0 for none.
    pub polish: usize,
    /// Weight of the mean cross-entropy of rows with known labels, added to the loss; at 0 such a row counts as much as any other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known_weight: f64,
    /// Which rows are outliers; by default every row belongs to a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outliers: Option<OutlierRule>,
}

impl Params {
    /// Defaults for `k` clusters.
    pub fn new(k: usize) -> Self {
        Self {
            k,
            loss: Loss::default(),
            lambda: None,
            gamma: None,
            prior: Prior::default(),
            prepare: Prepare::default(),
            lift: LiftKind::default(),
            neighbours: Neighbours::default(),
            dims: Dims::default(),
            init: Init::default(),
            restarts: 8,
            seed: 0,
            epochs: None,
            batch: None,
            solver: Solver::Em { iterations: EM_ITERATIONS },
            refresh: Refresh::default(),
            optimiser: Optimiser::default(),
            learning_rate: None,
            polish: 0,
            known_weight: 0.0,
            outliers: None,
        }
    }

    /// How the rows of a fit are prepared.
    pub fn recipe(&self) -> Recipe {
        let neighbours = if self.may_teach() { self.neighbours } else { Neighbours::Exactly(0) };
        // Rows that are neither lifted nor averaged are the same for any number of clusters.
        let alone = self.lift == LiftKind::None && (self.k <= MANY || neighbours != Neighbours::Auto);
        let k = if alone { 0 } else { self.k };
        Recipe { prepare: self.prepare, dims: self.dims, seed: self.seed, lift: self.lift, k, neighbours }
    }

    /// Whether pseudo-labels can be found from other rows than those that learn them: by the kernel of the default loss.
    pub fn may_teach(&self) -> bool {
        self.loss == Loss::Strong
            && matches!(self.solver, Solver::Em { .. })
            && self.refresh == Refresh::Batch
            && self.optimiser != Optimiser::Lbfgs
    }

    /// Check every option against the number of rows, once.
    ///
    /// # Errors
    /// Names the first option that cannot be used, with its value and what would be accepted.
    pub fn check(&self, n: usize) -> Result<Checked> {
        at_least("the number of clusters", self.k, 2, "at least 2")?;
        if self.k > n {
            return Err(Error::TooFewRows { rows: n, k: self.k });
        }
        at_least("restarts", self.restarts, 1, "at least 1")?;
        at_least("epochs", self.epochs.unwrap_or(1), 1, "at least 1")?;
        at_least("batch", self.batch.unwrap_or(2), 2, "at least 2 rows")?;
        if let Dims::Exactly(d) = self.dims {
            at_least("dims", d, 1, "at least 1")?;
        }
        if let Solver::Em { iterations } = self.solver {
            at_least("EM iterations", iterations, 1, "at least 1")?;
        }
        if let Optimiser::Sgd { momentum } = self.optimiser {
            require("momentum", momentum, (0.0..1.0).contains(&momentum), "from 0 to below 1")?;
        }
        if self.refresh == Refresh::Epoch && !self.loss.has_labels() {
            return Err(Error::Parameter {
                name: "refresh",
                value: format!("epoch with the loss {}", self.loss),
                must: "batch for a loss without pseudo-labels",
            });
        }
        self.outliers.map_or(Ok(()), OutlierRule::check)?;
        let lambda = self.lambda.unwrap_or(self.loss.default_lambda());
        require("lambda", lambda, lambda.is_finite() && lambda >= 0.0, "a finite number, 0 or more")?;
        let weak = self.loss == Loss::Weak;
        require(
            "lambda",
            lambda,
            lambda > 0.0 || !weak,
            "above 0 for weak fairness, whose labels depend on it",
        )?;
        let gamma = self.gamma.unwrap_or(match self.loss {
            Loss::Hinge => HINGE_GAMMA_TIMES_K / self.k as f64,
            _ => GAMMA_TIMES_K / self.k as f64,
        });
        require("gamma", gamma, gamma.is_finite() && gamma >= 0.0, "a finite number, 0 or more")?;
        let rate = self.learning_rate.unwrap_or(self.default_rate());
        require("the learning rate", rate, rate.is_finite() && rate > 0.0, "a finite number above 0")?;
        let known = self.known_weight;
        require("known_weight", known, known.is_finite() && known >= 0.0, "a finite number, 0 or more")?;
        let prior = match &self.prior {
            Prior::Given(prior) => check_prior(prior, self.k)?,
            Prior::Uniform | Prior::Usual | Prior::Seen => uniform(self.k),
            Prior::Estimated { least, most } => {
                self.check_range(*least, *most)?;
                uniform(self.k)
            }
        };
        let many = self.k > MANY;
        let rows = if many { ROWS_PER_CLUSTER * self.k } else { 0 };
        let batch = self.batch.unwrap_or(SMALLEST_BATCH.max(rows)).min(n);
        let batches = n.div_ceil(batch);
        let steps = match self.epochs {
            Some(epochs) => epochs * batches,
            None => batches.max(if many { STEPS_MANY } else { STEPS }),
        };
        let single = many || self.init == Init::KMeans || self.optimiser == Optimiser::Lbfgs;
        Ok(Checked {
            lambda,
            gamma,
            rate,
            prior,
            batch,
            steps,
            anneal: if many { 1.0 } else { ANNEAL },
            starts_per_restart: if single { 1 } else { STARTS },
        })
    }

    fn check_range(&self, least: f64, most: f64) -> Result<()> {
        let equal = 1.0 / self.k as f64;
        let small = "above 0 and at most that of equal clusters";
        require("the smallest share of a cluster", least, least > 0.0 && least <= equal, small)?;
        let large = "at most 1 and at least that of equal clusters";
        require("the largest share of a cluster", most, (equal..=1.0).contains(&most), large)
    }

    fn default_rate(&self) -> f64 {
        match self.optimiser {
            Optimiser::Sgd { momentum } => {
                let base = match self.loss {
                    Loss::Sela | Loss::RenyiLabels(_) => SGD_RATE_HARD,
                    Loss::Hinge => return SGD_RATE_HINGE * (1.0 - momentum),
                    _ => SGD_RATE,
                };
                base.max(SGD_RATE_PER_CLUSTER * self.k as f64) * (1.0 - momentum)
            }
            Optimiser::Adam => ADAM_RATE,
            Optimiser::Lbfgs => 1.0,
        }
    }
}

/// γ·K by default.
const GAMMA_TIMES_K: f64 = 2e-4;
/// The same for the hinge loss, which asks for a lead of one where the others ask for several.
const HINGE_GAMMA_TIMES_K: f64 = 1e-2;
/// γ starts larger by this factor.
const ANNEAL: f64 = 8.0;
const SGD_RATE: f64 = 800.0;
/// Losses whose labels are nearly hard reach a lower value of themselves with smaller steps.
const SGD_RATE_HARD: f64 = 300.0;
/// The hinge loss has gradients of size one until its margin of one is reached.
const SGD_RATE_HINGE: f64 = 30.0;
const SGD_RATE_PER_CLUSTER: f64 = 20.0;
const ADAM_RATE: f64 = 0.3;
const SMALLEST_BATCH: usize = 256;
/// Fairness is meaningful only with enough rows per cluster in a batch.
const ROWS_PER_CLUSTER: usize = 10;
/// Steps, whatever the number of rows, but at least one pass over them.
const STEPS: usize = 312;
const STEPS_MANY: usize = 120;
/// Random starts searched for each restart that is refined.
const STARTS: usize = 3;

/// Options with every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Weight of fairness.
    pub lambda: f64,
    /// Final weight of the norm.
    pub gamma: f64,
    /// The norm's weight starts larger by this factor.
    pub anneal: f64,
    /// Learning rate.
    pub rate: f64,
    /// Prior over clusters.
    pub prior: Vec<f64>,
    /// Rows of a batch.
    pub batch: usize,
    /// Steps of the search.
    pub steps: usize,
    /// Starts searched for each restart that is refined.
    pub starts_per_restart: usize,
}

/// Files of fits without it stay as they were.
#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_zero(weight: &f64) -> bool {
    *weight == 0.0
}

fn at_least(name: &'static str, value: usize, least: usize, must: &'static str) -> Result<()> {
    require(name, value, value >= least, must)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_out_of_range_is_named_with_its_value() {
        let base = || Params::new(3);
        for (params, word) in [
            (Params::new(1), "clusters = 1"),
            (Params { restarts: 0, ..base() }, "restarts = 0"),
            (Params { lambda: Some(-1.0), ..base() }, "lambda = -1"),
            (Params { gamma: Some(f64::NAN), ..base() }, "gamma = NaN"),
            (Params { learning_rate: Some(0.0), ..base() }, "rate = 0"),
            (Params { optimiser: Optimiser::Sgd { momentum: 1.0 }, ..base() }, "momentum = 1"),
            (Params { solver: Solver::Em { iterations: 0 }, ..base() }, "iterations = 0"),
            (Params { prior: Prior::Given(vec![0.5, 0.5]), ..base() }, "prior"),
            (
                Params { prior: Prior::Estimated { least: 0.4, most: 1.0 }, ..base() },
                "smallest share of a cluster = 0.4",
            ),
            (
                Params { prior: Prior::Estimated { least: 0.1, most: 0.2 }, ..base() },
                "largest share of a cluster = 0.2",
            ),
            (Params { refresh: Refresh::Epoch, loss: Loss::MutualInformation, ..base() }, "refresh = epoch"),
            (Params { outliers: Some(OutlierRule::Share(0.6)), ..base() }, "outliers = 0.6"),
            (Params::new(200), "200 clusters"),
        ] {
            let message = params.check(100).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
