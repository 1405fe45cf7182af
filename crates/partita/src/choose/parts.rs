//! Parts of the rows, the models that are fitted to them, and what the models say about rows they did not see.

use super::{Steps, Trial, fitted};
use crate::error::Result;
use crate::linear::{Fit, Input, Model, Params, fit_prepared};
use crate::metrics::{self, clusterwise};
use crate::prepare::{LiftKind, Prepared, Recipe, lift_kind};
use crate::rng::{Stream, stream};
use crate::rows::{Rows, Subset};
use crate::simplex::xlnx;
use rand::seq::index;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows of a split at most: more make it slower and hardly surer.
const MOST_ROWS: usize = 20_000;

/// Starts of a fit of lifted rows at most: the lift shows where clusters lie, and starts hardly differ.
const LIFTED_STARTS: usize = 2;

/// One random split, as numbers of rows.
struct Split {
    first: Vec<usize>,
    second: Vec<usize>,
    unseen: Vec<usize>,
}

impl Split {
    /// The split of this number; the same for every candidate.
    fn draw(n: usize, seed: u64, number: usize) -> Self {
        let size = n.min(MOST_ROWS);
        let mut rng = stream(seed, Stream::Sample, 1 + number as u64);
        let rows = index::sample(&mut rng, n, size).into_vec();
        let fitted = fitted(size);
        Self {
            first: sorted(&rows[..fitted]),
            second: sorted(&rows[fitted..2 * fitted]),
            unseen: sorted(&rows[2 * fitted..]),
        }
    }
}

fn sorted(rows: &[usize]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

/// Rows that models are fitted to.
struct Part<'a> {
    rows: Subset<'a>,
    weights: Option<Vec<f32>>,
    /// The rows as every candidate without a lift sees them.
    prepared: Vec<(Recipe, Prepared)>,
    /// Bytes of prepared rows to hold.
    memory: usize,
}

impl<'a> Part<'a> {
    fn new(input: &Input<'a>, rows: Vec<usize>, memory: usize) -> Self {
        let weights = input.weights.map(|w| rows.iter().map(|&i| w[i]).collect());
        Self { rows: Subset::new(input.rows, rows), weights, prepared: Vec::new(), memory }
    }

    fn input<'b>(&'b self, widths: &[usize], known: Option<&'b [i32]>) -> Input<'b> {
        Input {
            rows: &self.rows,
            widths: widths.to_vec(),
            weights: self.weights.as_deref(),
            known,
            warm_start: None,
            memory: self.memory,
        }
    }

    /// Prepare the rows for these recipes, once for all fits.
    fn prepare(&mut self, widths: &[usize], recipes: &[Recipe], steps: &Steps<'_>) -> Result<()> {
        let input = self.input(widths, None);
        let prepared = |recipe: &Recipe| Ok((*recipe, input.prepared(*recipe, steps)?));
        self.prepared = recipes.iter().map(prepared).collect::<Result<_>>()?;
        Ok(())
    }

    /// Fit to the rows; with labels for all of them it is a classifier.
    fn fit(
        &self,
        widths: &[usize],
        labels: Option<&[u32]>,
        params: &Params,
        steps: &Steps<'_>,
    ) -> Result<Fit> {
        let known: Option<Vec<i32>> = labels.map(|labels| labels.iter().map(|&l| l as i32).collect());
        let input = self.input(widths, known.as_deref());
        let recipe = shared(params);
        let made = self.prepared.iter().find(|(known, _)| Some(*known) == recipe);
        let prepared = match made {
            Some((_, prepared)) => Cow::Borrowed(prepared),
            None => Cow::Owned(input.prepared(params.recipe(), steps)?),
        };
        let restarts = if labels.is_some() { 1 } else { params.restarts };
        let found = fit_prepared(&input, &prepared, &Params { restarts, ..params.clone() }, steps)?;
        found.report.stop.not_interrupted()?;
        Ok(found)
    }
}

/// What rows without a lift are prepared by: the same for any number of clusters.
fn shared(params: &Params) -> Option<Recipe> {
    (params.lift == LiftKind::None).then(|| Recipe { k: 0, ..params.recipe() })
}

/// What one split shows of a candidate.
pub struct Seen {
    pub stability: f64,
    /// Of both models, if asked for.
    pub loss: Vec<f64>,
    /// If asked for.
    pub prediction: Option<f64>,
}

/// All parts of the rows, and the candidates that are fitted to them.
pub struct Parts<'a> {
    widths: &'a [usize],
    candidates: Vec<Params>,
    /// A model of all rows for each candidate, if curves are wanted.
    whole: Vec<Model>,
    splits: Vec<[Part<'a>; 2]>,
    /// The rows that neither of a split's models sees.
    unseen: Vec<Subset<'a>>,
    steps: &'a Steps<'a>,
}

impl<'a> Parts<'a> {
    /// Draw the splits, and decide for each candidate how rows are lifted: as all of them suggest.
    pub fn draw(
        input: &'a Input<'a>,
        candidates: &[Params],
        trial: Trial,
        steps: &'a Steps<'a>,
    ) -> Result<Self> {
        let (n, seed, widths) = (input.rows.n(), candidates[0].seed, &*input.widths);
        // All are held at once.
        let memory = input.memory / (1 + 2 * trial.splits);
        let part = |rows| Part::new(input, rows, memory);
        let all = Split::draw(n, seed, 0);
        let mut everything = part(sorted(&[all.first, all.second, all.unseen].concat()));
        let candidates = lifted(candidates, &everything, widths, steps)?;
        let mut recipes: Vec<Recipe> = candidates.iter().filter_map(shared).collect();
        recipes.dedup();
        let (mut splits, mut unseen) = (Vec::new(), Vec::new());
        for split in (0..trial.splits).map(|number| Split::draw(n, seed, number)) {
            let mut parts = [part(split.first), part(split.second)];
            parts.iter_mut().try_for_each(|part| part.prepare(widths, &recipes, steps))?;
            splits.push(parts);
            unseen.push(Subset::new(input.rows, split.unseen));
        }
        let mut whole = Vec::new();
        if trial.curves {
            everything.prepare(widths, &recipes, steps)?;
            let fit = |params: &Params| Ok(everything.fit(widths, None, params, steps)?.model);
            whole = candidates.par_iter().map(fit).collect::<Result<_>>()?;
        }
        Ok(Self { widths, candidates, whole, splits, unseen, steps })
    }

    /// What the models of one candidate and one split say about the rows that neither saw.
    pub fn look(&self, candidate: usize, split: usize) -> Result<Seen> {
        let (params, parts, unseen) = (&self.candidates[candidate], &self.splits[split], &self.unseen[split]);
        let fit = |part: &Part<'_>| Ok(part.fit(self.widths, None, params, self.steps)?.model);
        let (first, second) = (fit(&parts[0])?, fit(&parts[1])?);
        let stability = clusterwise(&first.predict(unseen)?, &second.predict(unseen)?, params.k)?;
        let whole = self.whole.get(candidate);
        let loss =
            if whole.is_some() { vec![loss(&first, unseen)?, loss(&second, unseen)?] } else { Vec::new() };
        let prediction = whole.map(|whole| self.prediction(whole, params, split)).transpose()?;
        self.steps.skip(1);
        Ok(Seen { stability, loss, prediction })
    }

    /// Accuracy on unseen rows of a classifier that learned the labels that the model of all rows gives to one part.
    fn prediction(&self, whole: &Model, params: &Params, split: usize) -> Result<f64> {
        let (part, unseen) = (&self.splits[split][0], &self.unseen[split]);
        let labels = whole.predict(&part.rows)?;
        let taught = part.fit(self.widths, Some(&labels), params, self.steps)?.model;
        let (own, learned) = (whole.predict(unseen)?, taught.predict(unseen)?);
        let right = own.iter().zip(&learned).filter(|(a, b)| a == b).count();
        Ok(right as f64 / own.len() as f64)
    }
}

/// The candidates with the lift that all rows suggest for each.
fn lifted(candidates: &[Params], all: &Part<'_>, widths: &[usize], steps: &Steps<'_>) -> Result<Vec<Params>> {
    let resolved = |params: &Params| {
        let lift = lift_kind(&all.rows, widths, params.recipe(), steps)?;
        let most = if lift == LiftKind::None { usize::MAX } else { LIFTED_STARTS };
        steps.skip(1);
        Ok(Params { lift, restarts: params.restarts.min(most), ..params.clone() })
    };
    candidates.par_iter().map(resolved).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_do_not_overlap_and_are_the_same_for_every_candidate() {
        let split = Split::draw(100, 5, 2);
        let all = sorted(&[split.first.clone(), split.second, split.unseen].concat());
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        assert_eq!(Split::draw(100, 5, 2).first, split.first);
        assert_ne!(Split::draw(100, 5, 3).first, split.first);
    }
}
