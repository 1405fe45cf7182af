//! Choosing the number of clusters, or other options, without labels.
//!
//! For each candidate and each of a few random splits of the rows into two parts to fit and a third that neither sees:
//!
//! - **stability**: how well each cluster of one model is found again by the other, on the third part
//!   ([`clusterwise`](crate::metrics::clusterwise), every cluster counted the same). With the right K both find the same clusters; with one
//!   too many each cuts where it happens to.
//! - **loss**: how much doubt and unfairness is left on the third part, mean H(σ) + KL(σ̄‖u), over H(u), its value for a model that
//!   knows nothing.
//! - **prediction**: all rows are clustered, a classifier learns the labels of the first part, and this is its accuracy on the
//!   third.
//!
//! Stability decides. Merging whole clusters is as stable as telling them apart, so of the candidates that are as stable as the best, up to
//! a small tolerance, the one of most clusters is chosen. A part of the rows may be unlucky: the worst split in five does not count.
//!
//! Candidates are fitted as a fit of all rows would be. Where a lift is left to the rows, all of them decide, and the parts follow.

mod parts;
mod verdict;

pub use verdict::Verdict;

use crate::error::{Error, Result};
use crate::linear::{Input, Params, Prior};
use crate::metrics::Spread;
use crate::report::{Flow, Observer, Progress};
use parts::{Parts, Seen};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Share of the rows in each of the two parts that are fitted; the rest is looked at by both.
const FITTED: f64 = 0.4;
/// Fewest rows for each cluster in a fitted part.
const ROWS_OF_CLUSTER: usize = 3;
/// Splits after which candidates that cannot win any more are dropped, unless all curves are wanted.
const FIRST_SPLITS: usize = 2;
/// A candidate is dropped if even its better split is less stable than the best candidate's mean by more than this.
const FAR: f64 = 0.25;

/// How candidates are tried.
///
/// ```
/// use partita::choose::Trial;
/// assert_eq!(Trial::default(), Trial { splits: 5, curves: false });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trial {
    /// Random splits of the rows.
    pub splits: usize,
    /// Whether every split is made of every candidate, with its loss and prediction. Otherwise candidates that are far less stable
    /// than the best after two splits are dropped.
    pub curves: bool,
}

impl Default for Trial {
    fn default() -> Self {
        Self { splits: 5, curves: false }
    }
}

/// How the options of one candidate did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Number of clusters.
    pub k: usize,
    /// Weight of fairness, if not the default.
    pub lambda: Option<f64>,
    /// Weight of the norm, if not the default.
    pub gamma: Option<f64>,
    /// How well clusters of one model are found again by another, for each split; fewer splits if it was dropped.
    pub stability: Vec<f64>,
    /// Doubt and unfairness on rows that a model did not see over their largest value, two for each split.
    pub loss: Vec<f64>,
    /// Accuracy of a classifier that learned the labels of some rows on others, for each split.
    pub prediction: Vec<f64>,
    /// Whether its stability cannot be told from the best.
    pub plausible: bool,
}

impl Candidate {
    fn new(params: &Params) -> Self {
        Self {
            k: params.k,
            lambda: params.lambda,
            gamma: params.gamma,
            stability: Vec::new(),
            loss: Vec::new(),
            prediction: Vec::new(),
            plausible: false,
        }
    }

    /// Mean and standard deviation of the stability over the splits.
    pub fn stability_spread(&self) -> Spread {
        Spread::of(self.stability.iter().copied()).unwrap_or(Spread { mean: 0.0, sd: 0.0 })
    }

    fn take(&mut self, seen: Seen) {
        self.stability.push(seen.stability);
        self.loss.extend(seen.loss);
        self.prediction.extend(seen.prediction);
    }
}

/// The recommendation, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The number of clusters that is recommended.
    pub best: usize,
    /// Where its candidate stands among all.
    pub place: usize,
    /// Its stability: the mean over the splits but for the worst in five.
    pub stability: f64,
    /// Share of the splits in which no candidate was more stable, up to the tolerance.
    pub support: f64,
    /// Numbers of clusters of all candidates whose stability cannot be told from the best.
    pub plausible: Vec<usize>,
    /// All that were tried.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// The candidate that is recommended.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.place]
    }
}

/// The most clusters that can be chosen for `n` rows.
///
/// ```
/// assert_eq!(partita::choose::most_clusters(150), 20);
/// ```
pub fn most_clusters(n: usize) -> usize {
    fitted(n) / ROWS_OF_CLUSTER
}

/// Rows of a part that is fitted, of `n` rows.
fn fitted(n: usize) -> usize {
    (n as f64 * FITTED) as usize
}

/// Try these options on random splits of the rows. The splits are those of the first candidate's seed.
///
/// ```
/// use ndarray::Array2;
/// use partita::choose::{Trial, choose};
/// use partita::linear::{Input, Params};
/// use partita::report::Silent;
/// let rows = Array2::from_shape_fn((240, 2), |(i, j)| {
///     [[0.0, 0.0], [9.0, 1.0], [2.0, 8.0]][i % 3][j] + (i * (7 + 6 * j) % 31) as f32 * 0.05
/// });
/// let view = rows.view();
/// let candidates: Vec<Params> = (2..=4).map(|k| Params { restarts: 2, ..Params::new(k) }).collect();
/// let choice = choose(&Input::new(&view), &candidates, Trial::default(), &Silent)?;
/// assert_eq!(choice.best, 3);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// If there are fewer than two candidates or splits, too few rows for the most clusters, or as a fit.
pub fn choose(
    input: &Input<'_>,
    candidates: &[Params],
    trial: Trial,
    observer: &dyn Observer,
) -> Result<Choice> {
    check(input, candidates, trial.splits)?;
    let candidates: &[Params] = &candidates.iter().map(without_graph).collect::<Vec<_>>();
    let steps = Steps::new(observer, candidates.len() * (1 + trial.splits));
    let parts = Parts::draw(input, candidates, trial, &steps)?;
    let mut tried: Vec<Candidate> = candidates.iter().map(Candidate::new).collect();
    let first = if trial.curves { trial.splits } else { FIRST_SPLITS };
    for round in [0..first, first..trial.splits] {
        let open = open(&tried, first);
        steps.skip((candidates.len() - open.len()) * round.len());
        for (at, seen) in look(&parts, &open, round)? {
            tried[at].take(seen);
        }
    }
    Ok(verdict::conclude(tried, trial.splits))
}

/// The options of a fit to a part of the rows. The graph of neighbours would show other sizes in each part, and clusters would not be found again for
/// that reason alone.
fn without_graph(params: &Params) -> Params {
    let prior = if params.prior == Prior::Usual { Prior::Seen } else { params.prior.clone() };
    Params { prior, ..params.clone() }
}

/// Fits of all these candidates to the splits of a round. They are independent, and so small that threads are best used side by side.
fn look(parts: &Parts<'_>, open: &[usize], round: Range<usize>) -> Result<Vec<(usize, Seen)>> {
    let jobs: Vec<(usize, usize)> = open.iter().flat_map(|&at| round.clone().map(move |s| (at, s))).collect();
    jobs.par_iter().map(|&(at, split)| Ok((at, parts.look(at, split)?))).collect()
}

/// Candidates that may still win: all at first.
fn open(tried: &[Candidate], first: usize) -> Vec<usize> {
    let mean = |c: &Candidate| c.stability_spread().mean;
    let best = tried.iter().map(mean).fold(f64::NEG_INFINITY, f64::max);
    let better = |c: &Candidate| c.stability.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let may_win = |c: &Candidate| c.stability.len() < first || better(c) >= best - FAR;
    (0..tried.len()).filter(|&at| may_win(&tried[at])).collect()
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
    let (n, most) = (input.rows.n(), candidates.iter().map(|p| p.k).max().unwrap_or(0));
    if most > most_clusters(n) {
        return Err(Error::Parameter {
            name: "the largest number of clusters",
            value: format!("{most} for {n} rows"),
            must: "at most 2/15 of the number of rows: models are fitted to two fifths of them, with three for each cluster",
        });
    }
    candidates.iter().try_for_each(|params| params.check(fitted(n)).map(drop))
}

/// Counts what is done of work whose steps run side by side.
struct Steps<'a> {
    observer: &'a dyn Observer,
    done: AtomicUsize,
    all: usize,
}

impl<'a> Steps<'a> {
    fn new(observer: &'a dyn Observer, all: usize) -> Self {
        Self { observer, done: AtomicUsize::new(0), all }
    }

    /// This many steps are made, or need not be made.
    fn skip(&self, count: usize) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }
}

impl Observer for Steps<'_> {
    /// Steps report only whether to go on: how far each has come says little about the whole.
    fn progress(&self, _: Progress) -> Flow {
        let done = self.done.load(Ordering::Relaxed).min(self.all) as f64 / self.all as f64;
        self.observer.progress(Progress { stage: "choosing", done, loss: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(k: usize, stability: &[f64]) -> Candidate {
        Candidate { stability: stability.to_vec(), ..Candidate::new(&Params::new(k)) }
    }

    #[test]
    fn candidates_far_behind_are_dropped_after_the_first_splits() {
        let tried = [made(2, &[0.9, 0.8]), made(3, &[0.2, 0.7]), made(4, &[0.3, 0.5])];
        assert_eq!(open(&tried, 2), [0, 1]);
        assert_eq!(open(&tried, 3), [0, 1, 2]);
    }
}
