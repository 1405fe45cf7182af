//! Choosing the number of clusters, or other options, without labels.
//!
//! For each candidate and each of a few random splits of the rows into two parts to fit and a third that neither sees:
//!
//! - **stability**: the adjusted Rand index of the two models on the third part. With the right K both find the same
//!   clusters; with one too many each cuts where it happens to.
//! - **loss**: how much doubt and unfairness is left on the third part, mean H(σ) + KL(σ̄‖u), over H(u), its value for a model that
//!   knows nothing.
//! - **prediction**: all rows are clustered, a classifier learns the labels of the first part, and this is its accuracy on the
//!   third.
//!
//! Stability decides: it falls on both sides of the right K, where the other two mostly tell that K is not too large.

use crate::error::{Error, Result};
use crate::linear::{self, Fit, Input, Model, Params};
use crate::metrics::{self, Spread};
use crate::report::{Flow, Observer, Progress};
use crate::rng::{Stream, stream};
use crate::rows::{Rows, Subset};
use crate::simplex::xlnx;
use rand::seq::index;
use serde::Serialize;

/// Shares of the rows in the two parts that are fitted; the rest is looked at by both.
const FITTED: f64 = 0.4;
/// Rows of a split at most: more make it slower and hardly surer.
const MOST_ROWS: usize = 20_000;
/// Fewest rows for each cluster in a fitted part.
const ROWS_OF_CLUSTER: usize = 3;

/// How the options of one candidate did.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Number of clusters.
    pub k: usize,
    /// Weight of fairness, if not the default.
    pub lambda: Option<f64>,
    /// Weight of the norm, if not the default.
    pub gamma: Option<f64>,
    /// ARI of two models on rows that neither saw, for each split.
    pub stability: Vec<f64>,
    /// Doubt and unfairness on such rows over their largest value, two for each split.
    pub loss: Vec<f64>,
    /// Accuracy of a classifier that learned the labels of some rows on others, for each split.
    pub prediction: Vec<f64>,
}

impl Candidate {
    /// Mean and standard deviation of the stability over the splits.
    pub fn stability_spread(&self) -> Spread {
        Spread::of(self.stability.iter().copied()).unwrap_or(Spread { mean: 0.0, sd: 0.0 })
    }
}

/// The recommendation, and what it rests on.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// Which candidate is the most stable.
    pub best: usize,
    /// Share of the splits in which it was the most stable.
    pub support: f64,
    /// Every candidate whose stability is within two standard errors of the best.
    pub plausible: Vec<usize>,
    /// All that were tried.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// The most stable candidate.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.best]
    }
}

/// Try these options on so many random splits of the rows.
///
/// ```
/// use ndarray::Array2;
/// use partita::choose::choose;
/// use partita::linear::{Input, Params};
/// use partita::report::Silent;
/// let rows = Array2::from_shape_fn((240, 2), |(i, j)| {
///     [[0.0, 0.0], [9.0, 1.0], [2.0, 8.0]][i % 3][j] + (i * (7 + 6 * j) % 31) as f32 * 0.05
/// });
/// let view = rows.view();
/// let candidates: Vec<Params> = (2..=4).map(|k| Params { restarts: 2, ..Params::new(k) }).collect();
/// let choice = choose(&Input::new(&view), &candidates, 3, &Silent)?;
/// assert_eq!(choice.chosen().k, 3);
/// # Ok::<(), partita::Error>(())
/// ```
pub fn choose(
    input: &Input<'_>,
    candidates: &[Params],
    splits: usize,
    observer: &dyn Observer,
) -> Result<Choice> {
    check(input, candidates, splits)?;
    let mut tried = Vec::with_capacity(candidates.len());
    // The cost of a fit grows slowly with K; the same share of the bar for each is near enough.
    let share = 1.0 / candidates.len() as f64;
    for (at, params) in candidates.iter().enumerate() {
        let part = Part { observer, first: at as f64 * share, share };
        tried.push(candidate(input, params, splits, &part)?);
    }
    Ok(conclude(tried, splits))
}

fn check(input: &Input<'_>, candidates: &[Params], splits: usize) -> Result<()> {
    let bad = |name, value: usize| {
        Err(Error::Parameter {
            name,
            value: value.to_string(),
            must: "at least 2, or there is nothing to choose by",
        })
    };
    if splits < 2 {
        return bad("splits", splits);
    }
    if candidates.len() < 2 {
        return bad("the number of candidates", candidates.len());
    }
    let most = candidates.iter().map(|p| p.k).max().unwrap_or(0);
    let fitted = (input.rows.n() as f64 * FITTED) as usize;
    if fitted < ROWS_OF_CLUSTER * most {
        return Err(Error::Parameter {
            name: "the largest number of clusters",
            value: format!("{most} for {} rows", input.rows.n()),
            must: "at most 2/15 of the number of rows: models are fitted to two fifths of them, with three for each cluster",
        });
    }
    candidates.iter().try_for_each(|params| params.check(fitted).map(drop))
}

/// One random split.
struct Split {
    first: Vec<usize>,
    second: Vec<usize>,
    unseen: Vec<usize>,
}

impl Split {
    /// The split of this number; the same for every K.
    fn draw(n: usize, seed: u64, number: usize) -> Self {
        let size = n.min(MOST_ROWS);
        let mut rng = stream(seed, Stream::Sample, 1 + number as u64);
        let rows = index::sample(&mut rng, n, size).into_vec();
        let fitted = (size as f64 * FITTED) as usize;
        let sorted = |part: &[usize]| {
            let mut part = part.to_vec();
            part.sort_unstable();
            part
        };
        Self {
            first: sorted(&rows[..fitted]),
            second: sorted(&rows[fitted..2 * fitted]),
            unseen: sorted(&rows[2 * fitted..]),
        }
    }
}

fn candidate(input: &Input<'_>, params: &Params, splits: usize, part: &Part<'_>) -> Result<Candidate> {
    let n = input.rows.n();
    let mut found = Candidate {
        k: params.k,
        lambda: params.lambda,
        gamma: params.gamma,
        stability: Vec::new(),
        loss: Vec::new(),
        prediction: Vec::new(),
    };
    let jobs = 1 + 3 * splits;
    let all = Split::draw(n, params.seed, 0);
    let mut everything: Vec<usize> = [all.first, all.second, all.unseen].concat();
    everything.sort_unstable();
    let whole = fit_rows(input, &everything, None, params, &part.job(0, jobs))?;
    for number in 0..splits {
        let split = Split::draw(n, params.seed, number);
        let job = |at: usize| part.job(1 + 3 * number + at, jobs);
        let unseen = Subset::new(input.rows, split.unseen.clone());
        let first = fit_rows(input, &split.first, None, params, &job(0))?.model;
        let second = fit_rows(input, &split.second, None, params, &job(1))?.model;
        found.stability.push(agreement(&first.predict(&unseen)?, &second.predict(&unseen)?)?);
        for model in [&first, &second] {
            found.loss.push(loss(model, &unseen)?);
        }
        let labels = whole.model.predict(&Subset::new(input.rows, split.first.clone()))?;
        let taught = fit_rows(input, &split.first, Some(&labels), params, &job(2))?.model;
        let (own, learned) = (whole.model.predict(&unseen)?, taught.predict(&unseen)?);
        let right = own.iter().zip(&learned).filter(|(a, b)| a == b).count();
        found.prediction.push(right as f64 / own.len() as f64);
    }
    Ok(found)
}

/// Adjusted Rand index; none if a labelling has one cluster, with which any other of one cluster agrees.
fn agreement(a: &[u32], b: &[u32]) -> Result<f64> {
    let single = |labels: &[u32]| labels.iter().all(|label| *label == labels[0]);
    if single(a) || single(b) { Ok(0.0) } else { metrics::ari(a, b) }
}

/// Fit to some rows; with labels for all of them it is a classifier.
fn fit_rows(
    input: &Input<'_>,
    rows: &[usize],
    labels: Option<&[u32]>,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Fit> {
    let subset = Subset::new(input.rows, rows.to_vec());
    let weights: Option<Vec<f32>> = input.weights.map(|w| rows.iter().map(|&i| w[i]).collect());
    let known: Option<Vec<i32>> = labels.map(|labels| labels.iter().map(|&l| l as i32).collect());
    let part = Input {
        rows: &subset,
        widths: input.widths.clone(),
        weights: weights.as_deref(),
        known: known.as_deref(),
        warm_start: None,
        memory: input.memory,
    };
    let restarts = if labels.is_some() { 1 } else { params.restarts };
    let found = linear::fit(&part, &Params { restarts, ..params.clone() }, observer)?;
    found.report.stop.not_interrupted()?;
    Ok(found)
}

/// (mean H(σ) + KL(σ̄‖u))/H(u) on rows the model has not seen.
fn loss(model: &Model, rows: &dyn Rows) -> Result<f64> {
    let proba = model.predict_proba(rows)?;
    let n = proba.nrows() as f64;
    let mean: Vec<f64> =
        proba.columns().into_iter().map(|c| c.iter().map(|&p| f64::from(p)).sum::<f64>() / n).collect();
    let terms = mean.iter().zip(&model.prior).map(|(m, &u)| xlnx(*m) - m * f64::from(u).ln());
    let most: f64 = model.prior.iter().map(|&u| -xlnx(f64::from(u))).sum();
    let doubt = metrics::mean_entropy(proba.as_slice().expect("predicted row after row"), model.k());
    Ok((doubt + terms.sum::<f64>()) / most)
}

fn conclude(candidates: Vec<Candidate>, splits: usize) -> Choice {
    let best = |score: &dyn Fn(&Candidate) -> f64| {
        let better = |a: usize, b: usize| if score(&candidates[b]) > score(&candidates[a]) { b } else { a };
        (1..candidates.len()).fold(0, better)
    };
    let best_mean = best(&|c| c.stability_spread().mean);
    let wins = (0..splits).filter(|&s| best(&|c| c.stability[s]) == best_mean).count();
    let top = candidates[best_mean].stability_spread();
    let near = |c: &Candidate| {
        let s = c.stability_spread();
        let error = ((s.sd.powi(2) + top.sd.powi(2)) / splits as f64).sqrt();
        top.mean - s.mean <= 2.0 * error
    };
    let plausible = (0..candidates.len()).filter(|&at| near(&candidates[at])).collect();
    Choice { best: best_mean, support: wins as f64 / splits as f64, plausible, candidates }
}

/// A part of the progress of the whole.
struct Part<'a> {
    observer: &'a dyn Observer,
    first: f64,
    share: f64,
}

impl Part<'_> {
    fn job(&self, number: usize, of: usize) -> Part<'_> {
        let share = self.share / of as f64;
        Part { observer: self.observer, first: self.first + share * number as f64, share }
    }
}

impl Observer for Part<'_> {
    fn progress(&self, progress: Progress) -> Flow {
        let done = self.first + self.share * progress.done;
        self.observer.progress(Progress { stage: "choosing", done, loss: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(k: usize, stability: &[f64]) -> Candidate {
        let stability = stability.to_vec();
        Candidate { k, lambda: None, gamma: None, stability, loss: Vec::new(), prediction: Vec::new() }
    }

    #[test]
    fn the_most_stable_wins_and_close_ones_stay_plausible() {
        let choice = conclude(
            vec![made(2, &[0.5, 0.6, 0.5]), made(3, &[0.9, 0.95, 0.76]), made(4, &[0.8, 0.9, 0.85])],
            3,
        );
        assert_eq!((choice.best, &*choice.plausible), (1, &[1, 2][..]));
        assert!((choice.support - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_cluster_for_all_rows_is_no_agreement() {
        assert_eq!(agreement(&[0, 0, 0], &[1, 1, 1]).unwrap(), 0.0);
        assert_eq!(agreement(&[0, 0, 1], &[1, 1, 1]).unwrap(), 0.0);
        assert_eq!(agreement(&[0, 0, 1], &[1, 1, 0]).unwrap(), 1.0);
    }

    #[test]
    fn splits_do_not_overlap_and_are_the_same_for_every_k() {
        let split = Split::draw(100, 5, 2);
        let mut all = [split.first.clone(), split.second, split.unseen].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        assert_eq!(Split::draw(100, 5, 2).first, split.first);
        assert_ne!(Split::draw(100, 5, 3).first, split.first);
    }
}
