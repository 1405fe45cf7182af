//! Mixtures of Gaussians of rows as they are: where they start, and the likeliest of several starts.

use super::kmeans::{KMeans, Seeds};
use super::rows::Plain;
use super::seeds::{plus_plus, random_rows};
use crate::error::{Error, Result};
use crate::mixture::{Climbed, Covariance, GaussianMixture, Mixture, one_hot};
use crate::report::{Flow, Observer, Progress, Silent, StopReason};
use crate::rng::{Stream, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// What the first Gaussians are estimated from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// The clusters of a K-means run.
    KMeans,
    /// k-means++ seeds, one row each.
    PlusPlus,
    /// Responsibilities at random.
    Random,
    /// Rows drawn at random, one each.
    RandomRows,
}

/// Options of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gaussians {
    /// Number of Gaussians.
    pub k: usize,
    /// Their shape.
    pub covariance: Covariance,
    /// Where they start.
    pub start: Start,
    /// Independent starts; the likeliest is kept.
    pub starts: usize,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when the mean log-likelihood of a row rose by less than this.
    pub tolerance: f64,
    /// Added to every variance.
    pub floor: f64,
    /// Seed of all random choices.
    pub seed: u64,
    /// Shares to start from, `[k]`.
    pub weights: Option<Vec<f64>>,
    /// Means to start from, row-major `[k, m]`.
    pub means: Option<Vec<f64>>,
    /// Covariances to start from, as [`Mixture::covariances`].
    pub covariances: Option<Vec<Vec<f64>>>,
    /// Mean log-likelihood of a row that was reached before, if the start is where another fit ended.
    pub bound: Option<f64>,
}

/// What was found, in the space of the rows.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The likeliest mixture.
    pub mixture: Mixture,
    /// Mean log-likelihood of a row before each of its iterations.
    pub bounds: Vec<f64>,
    /// Minus the mean log-likelihood of a row in the end, of every start.
    pub losses: Vec<f64>,
    /// The same of the best start.
    pub loss: f64,
    /// Iterations of the best start.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: StopReason,
}

impl Gaussians {
    /// Find the likeliest mixture. Dense rows only.
    ///
    /// # Errors
    /// If the rows cannot be used, a covariance is not positive definite, or the observer stops it.
    pub fn fit(&self, plain: Plain<'_>, observer: &dyn Observer) -> Result<Fitted> {
        if plain.n() < self.k {
            return Err(Error::TooFewRows { rows: plain.n(), k: self.k });
        }
        let (mean, _) = plain.moments()?;
        let plain = plain.shifted(&mean);
        let mut x = vec![0.0; plain.n() * plain.m()];
        for (i, row) in x.chunks_exact_mut(plain.m()).enumerate() {
            row.copy_from_slice(&plain.row(i)?);
        }
        let mut best: Option<Climbed> = None;
        let mut losses = Vec::with_capacity(self.starts);
        for start in 0..self.starts {
            let keep_going = |share: f64| {
                let done = (start as f64 + share) / self.starts as f64;
                let loss = losses.last().copied();
                observer.progress(Progress { stage: "Gaussian mixture", done, loss }) == Flow::Continue
            };
            let from = self.first(&plain, &x, &mean, start as u64)?;
            let reached = self.bound.unwrap_or(f64::NEG_INFINITY);
            let found = self.method().climb_on(&x, from, reached, &keep_going)?;
            found.stop.not_interrupted()?;
            losses.push(found.loss);
            if best.as_ref().is_none_or(|best| height(&found) > height(best)) {
                best = Some(found);
            }
        }
        let Climbed { mixture, loss, iterations, stop, bounds } = best.ok_or(Error::Interrupted)?;
        Ok(Fitted { mixture: moved(&mixture, &mean, 1.0)?, bounds, losses, loss, iterations, stop })
    }

    fn method(&self) -> GaussianMixture {
        let Self { k, covariance, max_iterations, tolerance, floor, .. } = *self;
        GaussianMixture { k, covariance, restarts: 1, max_iterations, tolerance, floor }
    }

    /// The mixture to start from: what is given, and the rest from rows.
    fn first(&self, plain: &Plain<'_>, x: &[f64], shift: &[f64], start: u64) -> Result<Mixture> {
        let centred =
            |means: &Vec<f64>| means.iter().zip(shift.iter().cycle()).map(|(v, s)| v - s).collect::<Vec<_>>();
        let (weights, means) = (self.weights.clone(), self.means.as_ref().map(centred));
        if let (Some(weights), Some(means), Some(covariances)) = (&weights, &means, &self.covariances) {
            return Mixture::new(self.covariance, weights.clone(), means.clone(), covariances.clone());
        }
        let found = self.method().maximise(x, plain.m(), &self.responsibilities(plain, start)?)?;
        Mixture::new(
            self.covariance,
            weights.unwrap_or(found.weights),
            means.unwrap_or(found.means),
            self.covariances.clone().unwrap_or(found.covariances),
        )
    }

    /// Responsibilities that the first Gaussians are estimated from, `[n, k]`.
    fn responsibilities(&self, plain: &Plain<'_>, start: u64) -> Result<Vec<f64>> {
        let (n, k) = (plain.n(), self.k);
        let mut rng = stream(self.seed, Stream::Seeds, start);
        let of_rows = |rows: Vec<usize>| {
            let mut out = vec![0.0; n * k];
            rows.into_iter().enumerate().for_each(|(c, row)| out[row * k + c] = 1.0);
            out
        };
        Ok(match self.start {
            Start::KMeans => {
                let (seeds, tolerance) = (Seeds::PlusPlus, 1e-4);
                let seed = rng.random();
                let options = KMeans {
                    k,
                    seeds,
                    starts: 1,
                    max_iterations: 300,
                    tolerance,
                    spherical: false,
                    single: false,
                    seed,
                };
                one_hot(&options.fit(plain.clone(), None, None, &Silent)?.labels, k)
            }
            Start::PlusPlus => of_rows(plus_plus(plain, None, k, &mut rng)?),
            Start::RandomRows => of_rows(random_rows(n, None, k, &mut rng)),
            Start::Random => {
                let mut out: Vec<f64> = (0..n * k).map(|_| rng.random()).collect();
                for row in out.chunks_exact_mut(k) {
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|v| *v /= sum.max(f64::MIN_POSITIVE));
                }
                out
            }
        })
    }
}

/// What starts are compared by: the likelihood that is reported, that before the last iteration.
fn height(climbed: &Climbed) -> f64 {
    climbed.bounds.last().copied().unwrap_or(-climbed.loss)
}

/// The mixture with its means moved by `sign · shift`.
fn moved(mixture: &Mixture, shift: &[f64], sign: f64) -> Result<Mixture> {
    let means = mixture.means.iter().zip(shift.iter().cycle()).map(|(v, s)| v + sign * s).collect();
    Mixture::new(mixture.shape, mixture.weights.clone(), means, mixture.covariances.clone())
}

/// Responsibilities of the Gaussians for all rows, `[n, k]`, and ln density of each row.
///
/// # Errors
/// If a value is not finite, or reading was stopped.
pub fn judge(plain: Plain<'_>, mixture: &Mixture) -> Result<(Vec<f64>, Vec<f64>)> {
    let (k, m) = (mixture.weights.len(), mixture.m());
    let middle: Vec<f64> =
        (0..m).map(|j| mixture.means.iter().skip(j).step_by(m).sum::<f64>() / k as f64).collect();
    let (plain, mixture) = (plain.shifted(&middle), moved(mixture, &middle, -1.0)?);
    let parts = plain.each_block(|block, _| {
        let mut x = vec![0.0; block.len() * m];
        x.chunks_exact_mut(m).enumerate().for_each(|(i, row)| block.add(i, 1.0, row));
        let mut out = vec![0.0; block.len() * k];
        let likelihoods = mixture.judge(&x, &mut out);
        (out, likelihoods)
    })?;
    let likelihoods = parts.iter().flat_map(|part| part.1.iter().copied()).collect();
    Ok((parts.into_iter().flat_map(|part| part.0).collect(), likelihoods))
}
