//! Options of a deep fit, checked once.

use crate::augment::Augment;
use crate::error::{DeepError, Result};
use crate::losses::Vat;
use crate::nets::{ImageShape, Net};
use crate::optimise::{Pace, Rule};
use partita::linear::{EM_ITERATIONS, Loss, Refresh, Solver};
use partita::simplex::{check_prior, uniform};
use partita_embed::photos::Normalise;
use serde::{Deserialize, Serialize};

/// What is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// A loss of the core.
    Core {
        /// The loss.
        loss: Loss,
        /// Weight of fairness; for SeLa, the power of the predictions.
        lambda: f64,
        /// How pseudo-labels are found.
        solver: Solver,
        /// How often they are found.
        refresh: Refresh,
    },
    /// Mutual information of two views (IIC), summed over heads of K clusters and over-clustering heads.
    Iic {
        /// Heads of each kind; the one with the lowest loss is kept.
        heads: usize,
        /// Clusters of the over-clustering heads.
        over: usize,
    },
    /// SCAN's first stage: two views of an image against all others (SimCLR).
    Contrast {
        /// Dimensions in which views are compared.
        width: usize,
        /// Divisor of the similarities.
        temperature: f64,
    },
    /// SCAN's second stage: images and their neighbours should share a cluster.
    Neighbours {
        /// Weight of the entropy of the mean prediction.
        entropy: f64,
    },
    /// SCAN's third stage: the network learns from the labels it is sure of.
    Confident {
        /// Probability from which the network counts as sure.
        threshold: f64,
    },
}

impl Aim {
    /// Its name in a progress bar.
    pub(super) fn stage(&self) -> &'static str {
        match self {
            Self::Core { .. } | Self::Iic { .. } => "training",
            Self::Contrast { .. } => "contrast",
            Self::Neighbours { .. } => "neighbours",
            Self::Confident { .. } => "self-labels",
        }
    }
}

/// Views of an image in runs that were kept before their number could be chosen.
fn one_view() -> usize {
    1
}

/// More views than this of an image in every step would be a mistake.
const MOST_VIEWS: usize = 64;

/// Whether predictions are tied to labels by the reverse cross-entropy.
fn is_reverse(loss: Loss) -> bool {
    matches!(loss, Loss::Strong | Loss::Weak)
}

/// Options of a deep fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Number of clusters K.
    pub k: usize,
    /// The network.
    pub net: Net,
    /// What is minimised.
    pub aim: Aim,
    /// Prior over cluster sizes; uniform if absent.
    pub prior: Option<Vec<f64>>,
    /// How views of an image differ from it.
    pub augment: Augment,
    /// Weight of self-augmentation: KL both ways between an image and a view of it, summed over its views.
    pub pairs: f64,
    /// Views of an image that are compared with it.
    #[serde(default = "one_view")]
    pub views: usize,
    /// Weight of virtual adversarial training.
    pub disturb: f64,
    /// The lengths in virtual adversarial training.
    pub vat: Vat,
    /// Epochs over which the weights `pairs` and `disturb` rise from 0.
    pub warm_up: usize,
    /// Epochs over which KL(y‖σ) fades out of a loss with reverse cross-entropy, from a weight of 1; if absent, the first
    /// half of the epochs with the loss `strong` and without known labels, otherwise none.
    #[serde(default)]
    pub forward: Option<usize>,
    /// Passes over the images.
    pub epochs: usize,
    /// Images per batch.
    pub batch: usize,
    /// Pace of the backbone.
    pub backbone: Pace,
    /// Pace of the heads.
    pub heads: Pace,
    /// How a gradient becomes a step.
    #[serde(default)]
    pub rule: Rule,
    /// Lower the rates from epoch to epoch along half a cosine, to a thousandth in the end.
    #[serde(default)]
    pub cosine: bool,
    /// Whether clusters without images start again; if absent, they do with our loss alone.
    #[serde(default)]
    pub revive: Option<bool>,
    /// How pixels become the network's input; if absent, as the weights that it starts from expect.
    #[serde(default)]
    pub normalise: Option<Normalise>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Params {
    /// Ours with virtual adversarial training, on the given network.
    pub fn new(k: usize, net: Net) -> Self {
        let pace = Pace { rate: 1e-3, decay: 0.0 };
        Self {
            k,
            net,
            aim: Aim::Core {
                loss: Loss::Strong,
                lambda: 100.0,
                solver: Solver::Em { iterations: EM_ITERATIONS },
                refresh: Refresh::Batch,
            },
            prior: None,
            augment: Augment::default(),
            pairs: 0.0,
            views: 1,
            disturb: 10.0,
            vat: Vat::default(),
            warm_up: 0,
            forward: None,
            epochs: 30,
            batch: 250.max(k.saturating_mul(10)),
            backbone: pace,
            heads: pace,
            rule: Rule::Adam,
            cosine: false,
            revive: None,
            normalise: None,
            seed: 0,
        }
    }

    /// Refuse options that cannot work for `n` images.
    pub fn check(&self, n: usize) -> Result<()> {
        let refuse = |problem: String| Err(DeepError::Option(problem));
        if self.k < 2 {
            return refuse(format!("{} clusters make no sense; give at least 2", self.k));
        }
        if n < self.k {
            return refuse(format!("{n} images cannot make {} clusters", self.k));
        }
        if self.batch < 2 || self.epochs == 0 {
            return refuse("at least one epoch and two images in a batch are needed".into());
        }
        if self.k > self.batch.min(n) {
            return refuse(format!(
                "with {} clusters a batch of {} images cannot be fair; give --batch {} or more",
                self.k,
                self.batch.min(n),
                10 * self.k
            ));
        }
        let numbers = [
            self.pairs,
            self.disturb,
            self.vat.epsilon,
            self.vat.xi,
            self.backbone.rate,
            self.backbone.decay,
            self.heads.rate,
            self.heads.decay,
        ];
        if numbers.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return refuse("weights, rates and decays must be finite and not negative".into());
        }
        if let Some(prior) = &self.prior {
            check_prior(prior, self.k)?;
        }
        if self.heads.rate == 0.0 {
            return refuse("the heads must learn: give a learning rate above 0".into());
        }
        let views = self.pairs > 0.0 || !matches!(self.aim, Aim::Core { .. });
        if views && self.augment == Augment::default() {
            return refuse("two equal views teach nothing; say with --augment how they differ".into());
        }
        if !(1..=MOST_VIEWS).contains(&self.views) {
            return refuse(format!("{} views of an image; give a number from 1 to {MOST_VIEWS}", self.views));
        }
        if let Rule::Sgd { momentum } = self.rule
            && !(0.0..1.0).contains(&momentum)
        {
            return refuse(format!("a momentum of {momentum} does not settle; give one from 0 to below 1"));
        }
        if let Some(normalise) = self.normalise {
            normalise.check()?;
        }
        match self.aim {
            Aim::Iic { heads, over } if heads == 0 || over < self.k => refuse(format!(
                "IIC needs at least one head, and over-clustering heads of {} clusters or more",
                self.k
            )),
            Aim::Contrast { width, temperature }
                if width == 0 || !(0.001..=1000.0).contains(&temperature) =>
            {
                refuse(format!(
                    "views cannot be compared by {width} numbers at a temperature of {temperature}"
                ))
            }
            Aim::Core { lambda, .. } if !lambda.is_finite() || lambda < 0.0 => {
                refuse(format!("lambda is {lambda}; it must be a finite number, 0 or more"))
            }
            Aim::Core { solver: Solver::Em { iterations: 0 }, .. } => {
                refuse("labels need at least one EM iteration".into())
            }
            Aim::Core { loss, .. } if self.forward.is_some() && !is_reverse(loss) => refuse(format!(
                "the loss {loss} has no reverse cross-entropy that a forward term could help; leave it out"
            )),
            Aim::Core { loss, refresh: Refresh::Epoch, .. } if !loss.has_labels() => {
                refuse(format!("the loss {loss} has no labels to keep for an epoch"))
            }
            _ => Ok(()),
        }
    }

    /// The prior u.
    pub fn prior(&self) -> Vec<f64> {
        let given = self.prior.as_ref().and_then(|prior| check_prior(prior, self.k).ok());
        given.unwrap_or_else(|| uniform(self.k))
    }

    /// Whether clusters without images start again.
    pub(super) fn revives(&self) -> bool {
        match self.aim {
            Aim::Core { loss, .. } => self.revive.unwrap_or(loss == Loss::Strong),
            _ => false,
        }
    }

    /// Epochs over which the forward half of the tie fades out. Known labels hold their clusters in place without it.
    pub(super) fn forward_epochs(&self, known: bool) -> f64 {
        let half = match self.aim {
            Aim::Core { loss: Loss::Strong, .. } if !known => self.epochs as f64 / 2.0,
            _ => 0.0,
        };
        self.forward.map_or(half, |epochs| epochs as f64)
    }

    /// Number of outputs of every head; a projection is two layers, one after the other.
    pub fn head_sizes(&self, shape: ImageShape) -> Vec<usize> {
        match self.aim {
            Aim::Core { .. } | Aim::Neighbours { .. } | Aim::Confident { .. } => vec![self.k],
            Aim::Contrast { width, .. } => vec![self.net.features(shape), width],
            Aim::Iic { heads, over } => [vec![self.k; heads], vec![over; heads]].concat(),
        }
    }
}
