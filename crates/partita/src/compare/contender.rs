//! The methods that can be compared, by name.

use crate::error::{Error, Result};
use crate::linear::{self, Dims, Input, LiftKind, Loss, Params, Prepare, Prior, Refresh, Solver};
use crate::prepare::Preparations;
use crate::pseudo::Miadm;
use crate::report::{Observer, Part};
use crate::rivals::gmm::{Covariance, GaussianMixture};
use crate::rivals::kmeans::KMeans;
use crate::rivals::soft_kmeans::SoftKMeans;
use crate::rivals::temi::Temi;
use crate::rivals::turtle::Turtle;
use crate::rivals::{self, Frame, Head, Method};
use std::fmt;
use std::str::FromStr;

/// A method in a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contender {
    /// A fit as it is by default: the loss of "ours", with a lift and estimated sizes where rows show them.
    Default,
    /// The linear softmax model, trained with some loss.
    Linear {
        /// The loss.
        loss: Loss,
        /// How often its labels are found.
        refresh: Refresh,
        /// How they are found.
        solver: Solver,
        /// Whether γ‖W‖² is part of the loss.
        norm: bool,
    },
    /// K-means, on the sphere or not.
    KMeans {
        /// Whether rows and centres are held on the unit sphere.
        spherical: bool,
    },
    /// Soft K-means.
    SoftKMeans,
    /// Gaussian mixtures.
    Gmm(Covariance),
    /// TURTLE.
    Turtle,
    /// TEMI.
    Temi,
}

const EM: Solver = Solver::Em { iterations: 5 };

const fn linear(loss: Loss, refresh: Refresh) -> Contender {
    Contender::Linear { loss, refresh, solver: EM, norm: true }
}

/// Every name, what it stands for, and what it is.
const CATALOGUE: &[(&str, Contender, &str)] = &[
    (
        "partita",
        Contender::Default,
        "a fit as by default: \"ours\" with a lift and estimated sizes where rows show them",
    ),
    ("ours", linear(Loss::Strong, Refresh::Batch), "reverse cross-entropy and strong fairness, equal sizes"),
    ("ours-epoch", linear(Loss::Strong, Refresh::Epoch), "the same, labels once an epoch"),
    (
        "ours-exact",
        Contender::Linear { loss: Loss::Strong, refresh: Refresh::Batch, solver: Solver::Exact, norm: true },
        "the same with optimal labels in every batch",
    ),
    ("weak", linear(Loss::Weak, Refresh::Batch), "reverse cross-entropy and weak fairness"),
    (
        "mi",
        Contender::Linear { loss: Loss::MutualInformation, refresh: Refresh::Batch, solver: EM, norm: false },
        "mutual information by gradient (Bridle, Heading and MacKay)",
    ),
    ("rim", linear(Loss::MutualInformation, Refresh::Batch), "mutual information and the norm of W (RIM)"),
    ("renyi:0.5", linear(Loss::Renyi(0.5), Refresh::Batch), "Rényi decisiveness of order 0.5 by gradient"),
    ("renyi:2", linear(Loss::Renyi(2.0), Refresh::Batch), "Rényi decisiveness of order 2 by gradient"),
    (
        "renyi:inf",
        linear(Loss::Renyi(f64::INFINITY), Refresh::Batch),
        "Rényi decisiveness of infinite order by gradient",
    ),
    (
        "renyi-labels:2",
        linear(Loss::RenyiLabels(2.0), Refresh::Batch),
        "Rényi decisiveness of order 2 by pseudo-labels",
    ),
    ("sela", linear(Loss::Sela, Refresh::Batch), "SeLa, labels in every batch"),
    ("sela-epoch", linear(Loss::Sela, Refresh::Epoch), "SeLa, labels once an epoch"),
    (
        "miadm-depict",
        linear(Loss::Miadm(Miadm::Depict), Refresh::Epoch),
        "MIADM: DEPICT's labels σ/√σ̄ once an epoch, as its authors have it",
    ),
    (
        "miadm-depict-star",
        linear(Loss::Miadm(Miadm::Depict), Refresh::Batch),
        "MIADM★: the same in every batch",
    ),
    ("miadm-dec", linear(Loss::Miadm(Miadm::Dec), Refresh::Epoch), "MIADM's loss with DEC's labels σ²/σ̄"),
    ("miadm-dec-star", linear(Loss::Miadm(Miadm::Dec), Refresh::Batch), "the same in every batch"),
    ("miadm-exact", linear(Loss::Miadm(Miadm::Exact), Refresh::Epoch), "MIADM's loss with optimal labels"),
    ("miadm-exact-star", linear(Loss::Miadm(Miadm::Exact), Refresh::Batch), "the same in every batch"),
    (
        "hinge",
        linear(Loss::Hinge, Refresh::Batch),
        "max-margin clustering: hinge loss of nearly fair hard labels",
    ),
    ("kmeans", Contender::KMeans { spherical: false }, "K-means"),
    ("spherical-kmeans", Contender::KMeans { spherical: true }, "K-means on the unit sphere"),
    ("soft-kmeans", Contender::SoftKMeans, "soft K-means"),
    (
        "gmm-spherical",
        Contender::Gmm(Covariance::Spherical),
        "Gaussian mixture, one variance for each cluster",
    ),
    ("gmm-diagonal", Contender::Gmm(Covariance::Diagonal), "Gaussian mixture, diagonal covariances"),
    ("gmm-tied", Contender::Gmm(Covariance::Tied), "Gaussian mixture, one covariance for all clusters"),
    ("gmm-full", Contender::Gmm(Covariance::Full), "Gaussian mixture, full covariances"),
    ("turtle", Contender::Turtle, "TURTLE: labels that a linear classifier learns fast (minutes)"),
    ("temi", Contender::Temi, "TEMI: neighbours agree, by self-distillation (minutes)"),
];

/// Names that earlier versions had, and today's.
const EARLIER: [(&str, &str); 4] = [
    ("miadm", "miadm-dec"),
    ("miadm-star", "miadm-dec-star"),
    ("miadm-root", "miadm-depict"),
    ("miadm-root-star", "miadm-depict-star"),
];

impl Contender {
    /// Every method with its name and what it is.
    pub fn all() -> impl Iterator<Item = (&'static str, Self, &'static str)> {
        CATALOGUE.iter().copied()
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CATALOGUE.iter().find(|(_, contender, _)| contender == self) {
            Some((name, ..)) => f.write_str(name),
            // Orders α that the catalogue does not list.
            None => match self {
                Self::Linear { loss, .. } => loss.fmt(f),
                other => fmt::Debug::fmt(other, f),
            },
        }
    }
}

impl FromStr for Contender {
    type Err = Error;
    /// ```
    /// use partita::compare::Contender;
    /// assert_eq!("renyi:5".parse::<Contender>().unwrap().to_string(), "renyi:5");
    /// assert!("k-means".parse::<Contender>().is_err());
    /// ```
    fn from_str(name: &str) -> Result<Self> {
        if let Some((_, contender, _)) = CATALOGUE.iter().find(|(known, ..)| *known == name) {
            return Ok(*contender);
        }
        if let Some((_, now)) = EARLIER.iter().find(|(earlier, _)| *earlier == name) {
            return now.parse();
        }
        match name.parse() {
            Ok(loss @ (Loss::Renyi(_) | Loss::RenyiLabels(_))) => Ok(linear(loss, Refresh::Batch)),
            _ => Err(Error::Parameter {
                name: "method",
                value: name.to_owned(),
                must: "one of the names in `partita compare --help`, renyi:ALPHA or renyi-labels:ALPHA",
            }),
        }
    }
}

/// What is the same for all methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Number of clusters.
    pub k: usize,
    /// Starts of every method that can choose among several by its own loss.
    pub restarts: usize,
    /// Passes over the rows of the linear model; its own default if absent.
    pub epochs: Option<usize>,
    /// How rows are prepared.
    pub prepare: Prepare,
    /// Dimensions of a row to use. By default the linear model and mixtures take principal components and
    /// the others all features, as their authors do.
    pub dims: Option<Dims>,
}

/// What all runs share: the rows, and what was prepared of them.
pub struct Shared<'a> {
    /// The rows.
    pub input: &'a Input<'a>,
    /// Prepared once, for all methods that take them so.
    pub preparations: Preparations<'a>,
}

impl<'a> Shared<'a> {
    /// Nothing is prepared yet.
    pub fn new(input: &'a Input<'a>) -> Self {
        Self { input, preparations: Preparations::new(input.rows, &input.widths, input.memory) }
    }
}

/// What one run of a method gave.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// The cluster of each row.
    pub labels: Vec<u32>,
    /// Loss in the method's own terms.
    pub loss: f64,
    /// Seconds of the fit, without preparing the rows, which the methods share.
    pub seconds: f64,
    /// mean H(σ), for methods with probabilities.
    pub decisiveness: Option<f64>,
    /// Median lead of the winning logit over ‖W‖, for linear models.
    pub margin: Option<f64>,
}

impl Contender {
    /// Fit once.
    pub fn run(
        &self,
        shared: &Shared<'_>,
        setting: &Setting,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<RunResult> {
        let Setting { k, restarts, epochs, prepare, dims } = *setting;
        match *self {
            Self::Default => {
                let (lift, prior, dims) = (LiftKind::Auto, Prior::Usual, dims.unwrap_or_default());
                let params = Params { lift, prior, restarts, epochs, prepare, dims, seed, ..Params::new(k) };
                run_linear(shared, &params, observer)
            }
            Self::Linear { loss, refresh, solver, norm } => {
                let gamma = (!norm).then_some(0.0);
                let dims = dims.unwrap_or_default();
                let params = Params {
                    loss,
                    refresh,
                    solver,
                    gamma,
                    restarts,
                    epochs,
                    prepare,
                    dims,
                    seed,
                    ..Params::new(k)
                };
                run_linear(shared, &params, observer)
            }
            Self::KMeans { spherical } => {
                let method = KMeans { restarts, spherical, ..KMeans::new(k) };
                self.run_rival(shared, &method, setting, seed, observer)
            }
            Self::SoftKMeans => {
                let method = SoftKMeans { restarts, ..SoftKMeans::new(k) };
                self.run_rival(shared, &method, setting, seed, observer)
            }
            Self::Gmm(covariance) => {
                let method = GaussianMixture { restarts, ..GaussianMixture::new(k, covariance) };
                self.run_rival(shared, &method, setting, seed, observer)
            }
            Self::Turtle => {
                // One space is whatever a prepared row holds, also after a reduction.
                let widths =
                    if shared.input.widths.len() > 1 { shared.input.widths.clone() } else { Vec::new() };
                let method = Turtle { widths, ..Turtle::new(k) };
                self.run_rival(shared, &method, setting, seed, observer)
            }
            Self::Temi => self.run_rival(shared, &Temi::new(k), setting, seed, observer),
        }
    }

    fn default_dims(&self) -> Dims {
        match self {
            Self::Default | Self::Linear { .. } | Self::Gmm(_) => Dims::Auto,
            _ => Dims::Full,
        }
    }

    fn run_rival<M: Method>(
        &self,
        shared: &Shared<'_>,
        method: &M,
        setting: &Setting,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<RunResult>
    where
        M::Head: Head,
    {
        let frame =
            Frame { prepare: setting.prepare, dims: setting.dims.unwrap_or(self.default_dims()), seed };
        rivals::check(shared.input, method, frame)?;
        let prepared = shared.preparations.get(frame.recipe(), &Part::new(observer, 0.0, 0.0))?;
        let found = rivals::fit_prepared(shared.input, &prepared, method, frame, observer)?;
        found.stop.not_interrupted()?;
        let soft = !matches!(self, Self::KMeans { .. });
        Ok(RunResult {
            labels: found.labels,
            loss: found.loss,
            seconds: found.seconds,
            decisiveness: soft.then_some(found.decisiveness),
            margin: None,
        })
    }
}

fn run_linear(shared: &Shared<'_>, params: &Params, observer: &dyn Observer) -> Result<RunResult> {
    params.check(shared.input.rows.n())?;
    let prepared = shared.preparations.get(params.recipe(), &Part::new(observer, 0.0, 0.0))?;
    let found = linear::fit_prepared(shared.input, &prepared, params, observer)?;
    found.report.stop.not_interrupted()?;
    Ok(RunResult {
        labels: found.labels,
        loss: found.report.loss,
        seconds: found.report.seconds,
        decisiveness: Some(found.report.decisiveness),
        margin: Some(found.report.median_margin),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_differ() {
        for (i, (name, contender, _)) in Contender::all().enumerate() {
            assert_eq!(contender.to_string(), name);
            assert_eq!(name.parse::<Contender>().unwrap(), contender);
            assert!(Contender::all().take(i).all(|(other, ..)| other != name));
        }
        for (earlier, now) in EARLIER {
            assert_eq!(earlier.parse::<Contender>().unwrap().to_string(), now);
        }
    }
}
