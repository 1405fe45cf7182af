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
use crate::linear::{Fit, Input, Model, Params, fit_prepared};
use crate::metrics::{self, Spread};
use crate::prepare::{Prepared, Recipe};
use crate::report::{Observer, Part};
use crate::rng::{Stream, stream};
use crate::rows::{Rows, Subset};
use crate::simplex::xlnx;
use rand::seq::index;
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;

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

/// Try these options on `splits` random splits of the rows.
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
    let whole = Part::new(observer, 0.0, 1.0).named("choosing");
    let mut drawn: Option<Splits<'_>> = None;
    for (at, params) in candidates.iter().enumerate() {
        // The same splits for all candidates of a seed, and for all of them the same prepared rows.
        let shared = match drawn.take().filter(|drawn| drawn.seed == params.seed) {
            Some(drawn) => drawn,
            None => Splits::draw(input, params.seed, splits),
        };
        // The cost of a fit grows slowly with K; the same share of the bar for each is near enough.
        tried.push(shared.candidate(params, &whole.part(at, candidates.len()))?);
        drawn = Some(shared);
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

/// Rows that models are fitted to again and again: prepared once for all candidates.
struct Fitted<'a> {
    rows: Subset<'a>,
    weights: Option<Vec<f32>>,
    prepared: RefCell<Option<(Recipe, Rc<Prepared>)>>,
    /// Bytes of prepared rows to hold.
    memory: usize,
}

impl<'a> Fitted<'a> {
    fn new(input: &Input<'a>, rows: Vec<usize>, memory: usize) -> Self {
        let weights = input.weights.map(|w| rows.iter().map(|&i| w[i]).collect());
        Self { rows: Subset::new(input.rows, rows), weights, prepared: RefCell::default(), memory }
    }

    /// Fit to the rows; with labels for all of them it is a classifier.
    fn fit(&self, widths: &[usize], labels: Option<&[u32]>, params: &Params, part: &Part<'_>) -> Result<Fit> {
        let known: Option<Vec<i32>> = labels.map(|labels| labels.iter().map(|&l| l as i32).collect());
        let input = Input {
            rows: &self.rows,
            widths: widths.to_vec(),
            weights: self.weights.as_deref(),
            known: known.as_deref(),
            warm_start: None,
            memory: self.memory,
        };
        let prepared = self.prepared(&input, params.recipe(), &part.still())?;
        let restarts = if labels.is_some() { 1 } else { params.restarts };
        let found = fit_prepared(&input, &prepared, &Params { restarts, ..params.clone() }, part)?;
        found.report.stop.not_interrupted()?;
        Ok(found)
    }

    fn prepared(&self, input: &Input<'_>, recipe: Recipe, part: &Part<'_>) -> Result<Rc<Prepared>> {
        let mut kept = self.prepared.borrow_mut();
        match &*kept {
            Some((known, prepared)) if *known == recipe => Ok(Rc::clone(prepared)),
            _ => {
                let prepared = Rc::new(input.prepared(recipe, part)?);
                *kept = Some((recipe, Rc::clone(&prepared)));
                Ok(prepared)
            }
        }
    }
}

/// All splits of the rows by one seed.
struct Splits<'a> {
    seed: u64,
    widths: &'a [usize],
    everything: Fitted<'a>,
    splits: Vec<[Fitted<'a>; 2]>,
    /// The rows that neither of a split's models sees.
    unseen: Vec<Subset<'a>>,
}

impl<'a> Splits<'a> {
    fn draw(input: &'a Input<'a>, seed: u64, count: usize) -> Self {
        let n = input.rows.n();
        let all = Split::draw(n, seed, 0);
        let mut everything: Vec<usize> = [all.first, all.second, all.unseen].concat();
        everything.sort_unstable();
        // All are held at once.
        let memory = input.memory / (1 + 2 * count);
        let fitted = |rows| Fitted::new(input, rows, memory);
        let (mut splits, mut unseen) = (Vec::new(), Vec::new());
        for split in (0..count).map(|number| Split::draw(n, seed, number)) {
            splits.push([fitted(split.first), fitted(split.second)]);
            unseen.push(Subset::new(input.rows, split.unseen));
        }
        Self { seed, widths: &input.widths, everything: fitted(everything), splits, unseen }
    }

    fn candidate(&self, params: &Params, part: &Part<'_>) -> Result<Candidate> {
        let mut found = Candidate {
            k: params.k,
            lambda: params.lambda,
            gamma: params.gamma,
            stability: Vec::new(),
            loss: Vec::new(),
            prediction: Vec::new(),
        };
        let jobs = 1 + 3 * self.splits.len();
        let whole = self.everything.fit(self.widths, None, params, &part.part(0, jobs))?.model;
        for (number, (split, unseen)) in self.splits.iter().zip(&self.unseen).enumerate() {
            let job = |at: usize| part.part(1 + 3 * number + at, jobs);
            let first = split[0].fit(self.widths, None, params, &job(0))?.model;
            let second = split[1].fit(self.widths, None, params, &job(1))?.model;
            found.stability.push(agreement(&first.predict(unseen)?, &second.predict(unseen)?)?);
            for model in [&first, &second] {
                found.loss.push(loss(model, unseen)?);
            }
            let labels = whole.predict(&split[0].rows)?;
            let taught = split[0].fit(self.widths, Some(&labels), params, &job(2))?.model;
            let (own, learned) = (whole.predict(unseen)?, taught.predict(unseen)?);
            let right = own.iter().zip(&learned).filter(|(a, b)| a == b).count();
            found.prediction.push(right as f64 / own.len() as f64);
        }
        Ok(found)
    }
}

/// Adjusted Rand index; none if a labelling has one cluster, with which any other of one cluster agrees.
fn agreement(a: &[u32], b: &[u32]) -> Result<f64> {
    let single = |labels: &[u32]| labels.iter().all(|label| *label == labels[0]);
    if single(a) || single(b) { Ok(0.0) } else { metrics::ari(a, b) }
}

/// (mean H(σ) + KL(σ̄‖u))/H(u) on rows the model has not seen.
fn loss(model: &Model, rows: &dyn Rows) -> Result<f64> {
    let proba = model.predict_proba(rows)?;
    let n = proba.nrows() as f64;
    let mean: Vec<f64> =
        proba.columns().into_iter().map(|c| c.iter().map(|&p| f64::from(p)).sum::<f64>() / n).collect();
    let terms = mean.iter().zip(model.prior()).map(|(m, &u)| xlnx(*m) - m * f64::from(u).ln());
    let most: f64 = model.prior().iter().map(|&u| -xlnx(f64::from(u))).sum();
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
