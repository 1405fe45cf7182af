//! Wrong labels: the reverse cross-entropy learns less from labels it is told not to trust.
//!
//! Every loss has its own learning rate at every level of corruption: the one with the highest accuracy on a validation part,
//! whose labels are corrupted like those it learns from. The test part has true labels and chooses nothing.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::library::DataSet;
use crate::plain::{Plain, batches, gather, prepared};
use crate::table::{Table, words};
use partita::compare::Spread;
use partita::entropy::cross;
use partita::rng::{Stream, stream};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    sets: Vec<String>,
    /// Rows used of each set: half to learn from, a fifth to choose the rate, the rest to test on.
    rows: usize,
    levels: Vec<f64>,
    seeds: u64,
    pub epochs: usize,
    pub batch: usize,
    /// Rates that each loss chooses from.
    rates: Vec<f64>,
    /// Widths of a network's hidden layers; a linear model has none.
    #[serde(default)]
    #[cfg_attr(not(feature = "deep"), allow(dead_code, reason = "only networks have layers"))]
    pub widths: Vec<usize>,
}

/// A loss with fixed soft labels.
#[derive(Clone, Copy, PartialEq)]
pub enum Loss {
    /// H(y, σ).
    Forward,
    /// H(σ, y).
    Reverse,
}

const LOSSES: [(Loss, &str); 2] = [(Loss::Forward, "forward"), (Loss::Reverse, "reverse")];

/// Labels are trusted no more than this, or the reverse cross-entropy would be infinite where none is wrong.
const LEAST_DOUBT: f64 = 0.01;

/// Rows to learn from with labels of which a share was drawn at random, rows to choose by, and rows to test on.
pub struct Trial {
    pub m: usize,
    pub k: usize,
    pub learn: Vec<f32>,
    /// ln of the soft labels (η/K for every class, and 1 − η more for the one observed), `[learn, k]`.
    pub log_labels: Vec<f64>,
    pub validate: Vec<f32>,
    observed: Vec<u32>,
    pub test: Vec<f32>,
    truth: Vec<u32>,
}

impl Trial {
    fn new(x: &[f32], truth: &[i64], k: usize, rows: usize, level: f64, seed: u64) -> Self {
        let (n, m) = (truth.len(), x.len() / truth.len());
        let mut rng = stream(seed, Stream::Sample, 0);
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut rng);
        order.truncate(rows);
        let (learn, rest) = order.split_at(order.len() / 2);
        let (validate, test) = rest.split_at(rest.len() * 2 / 5);
        let mut see = |row: &usize| match rng.random::<f64>() < level {
            true => rng.random_range(0..k) as u32,
            false => truth[*row] as u32,
        };
        let doubt = level.max(LEAST_DOUBT);
        let mut log_labels = Vec::with_capacity(learn.len() * k);
        for seen in learn.iter().map(&mut see) {
            let soft = |c: usize| doubt / k as f64 + if c == seen as usize { 1.0 - doubt } else { 0.0 };
            log_labels.extend((0..k).map(|c| soft(c).ln()));
        }
        let observed = validate.iter().map(&mut see).collect();
        let truth = test.iter().map(|&row| truth[row] as u32).collect();
        let [learn, validate, test] = [learn, validate, test].map(|rows| gather(x, m, rows));
        Self { m, k, learn, log_labels, validate, observed, test, truth }
    }

    /// Accuracy on the labels observed in the validation part, and on the true ones of the test part.
    fn accuracies(&self, found: &Predicted) -> [f64; 2] {
        let share = |found: &[u32], labels: &[u32]| {
            found.iter().zip(labels).filter(|(f, l)| f == l).count() as f64 / labels.len() as f64
        };
        [share(&found.validate, &self.observed), share(&found.test, &self.truth)]
    }
}

/// Labels that a trained model gives to the two parts.
pub struct Predicted {
    pub validate: Vec<u32>,
    pub test: Vec<u32>,
}

/// Trains a model on a trial with one loss, rate and seed.
pub type Learner<'a> = dyn Fn(&Trial, Loss, f64, u64) -> Result<Predicted> + Sync + 'a;

/// The linear softmax, by plain gradient descent.
fn linear(settings: &Settings, trial: &Trial, loss: Loss, rate: f64, seed: u64) -> Predicted {
    let (k, m) = (trial.k, trial.m);
    let mut model = Plain::zeros(k, m);
    for epoch in 0..settings.epochs {
        for rows in batches(trial.learn.len() / m, settings.batch, seed, epoch) {
            let x = gather(&trial.learn, m, &rows);
            let log_sigma = model.log_sigma(&x);
            model.step(&x, &slope(loss, trial, &rows, &log_sigma), rate, 0.0);
        }
    }
    Predicted { validate: model.labels(&trial.validate), test: model.labels(&trial.test) }
}

/// The gradient of the mean loss by the logits.
fn slope(loss: Loss, trial: &Trial, rows: &[usize], log_sigma: &[f64]) -> Vec<f64> {
    let k = trial.k;
    let mut slope = vec![0.0; log_sigma.len()];
    for ((&row, s), out) in rows.iter().zip(log_sigma.chunks(k)).zip(slope.chunks_mut(k)) {
        let log_y = &trial.log_labels[row * k..][..k];
        match loss {
            Loss::Reverse => cross::reverse_and_gradient(s, log_y, out),
            Loss::Forward => {
                let y: Vec<f64> = log_y.iter().map(|l| l.exp()).collect();
                cross::forward_and_gradient(&y, s, out)
            }
        };
        out.iter_mut().for_each(|o| *o /= rows.len() as f64);
    }
    slope
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let learner =
        |trial: &Trial, loss: Loss, rate: f64, seed: u64| Ok(linear(&settings, trial, loss, rate, seed));
    measure("noise", context, &settings, &learner)
}

/// All sets with one kind of model.
pub fn measure(
    name: &str,
    context: &Context<'_>,
    settings: &Settings,
    learner: &Learner<'_>,
) -> Result<Findings> {
    let mut out = Findings::default();
    let mut charts = Vec::new();
    for (at, set) in settings.sets.iter().enumerate() {
        let data = context.library.get(set)?;
        let study = Study { context, settings, learner, name: set, at };
        let (chart, table) = study.all_levels(&data, &mut out)?;
        charts.push(chart);
        out.tables.push(table);
    }
    out.figure(name, charts.len().min(2), charts);
    Ok(out)
}

/// One set.
struct Study<'a> {
    context: &'a Context<'a>,
    settings: &'a Settings,
    learner: &'a Learner<'a>,
    name: &'a str,
    at: usize,
}

/// The rate that a loss chose, and its test accuracy there.
struct Chosen {
    rate: f64,
    test: Spread,
}

impl Study<'_> {
    /// The best rate of a loss by its mean validation accuracy over the seeds.
    fn choose(&self, trials: &[Trial], loss: Loss) -> Result<Chosen> {
        let mut best: Option<(f64, Chosen)> = None;
        for &rate in &self.settings.rates {
            let run = |(seed, trial): (usize, &Trial)| {
                Ok(trial.accuracies(&(self.learner)(trial, loss, rate, seed as u64)?))
            };
            let runs: Vec<[f64; 2]> = trials.par_iter().enumerate().map(run).collect::<Result<_>>()?;
            let spread = |part: usize| Spread::of(runs.iter().map(|r| r[part])).expect("at least one seed");
            let validation = spread(0).mean;
            if best.as_ref().is_none_or(|(most, _)| validation > *most) {
                best = Some((validation, Chosen { rate, test: spread(1) }));
            }
        }
        Ok(best.expect("at least one rate").1)
    }

    fn all_levels(&self, set: &DataSet, out: &mut Findings) -> Result<(Chart, Table)> {
        let x = prepared(&set.rows)?;
        let k = set.truth.iter().copied().max().unwrap_or(0) as usize + 1;
        let (mut lines, mut rows) = (LOSSES.map(|_| Vec::new()), Vec::new());
        let s = self.settings;
        for (l, &level) in s.levels.iter().enumerate() {
            self.context
                .progress((self.at * s.levels.len() + l) as f64 / (s.levels.len() * s.sets.len()) as f64)?;
            let trial = |seed| Trial::new(&x, &set.truth, k, s.rows, level, seed);
            let trials: Vec<Trial> = (0..s.seeds).map(trial).collect();
            let chosen = [self.choose(&trials, Loss::Forward)?, self.choose(&trials, Loss::Reverse)?];
            for (((_, loss), line), c) in LOSSES.iter().zip(&mut lines).zip(&chosen) {
                line.push((level, c.test.mean, c.test.sd));
                out.number(format!("{} {loss} {level}", self.name), c.test.mean);
            }
            let lead = chosen[1].test.mean - chosen[0].test.mean;
            out.number(format!("{} lead {level}", self.name), lead);
            let mut row = vec![level.to_string()];
            chosen
                .iter()
                .for_each(|c| row.extend([format!("{:.1}", c.test.times(100.0)), c.rate.to_string()]));
            row.push(format!("{:+.1}", 100.0 * lead));
            rows.push(row);
        }
        let [forward, reverse] = lines;
        let mark = |name: &str, points, colour| Mark::Means { name: name.to_owned(), points, colour };
        let marks = vec![mark("forward", forward, 2), mark("reverse", reverse, 0)];
        let x = Axis::between("share of labels replaced at random", 0.0, 0.92);
        let y = Axis::between("test accuracy", 0.0, 1.0);
        let chart =
            Chart { title: format!("Wrong labels, {}: each loss at its own rate", self.name), x, y, marks };
        let headings =
            words(&["corruption", "forward", "its rate", "reverse", "its rate", "reverse less forward"]);
        let title = format!("Test accuracy on {}, mean ± sd of {} seeds, per cent", self.name, s.seeds);
        Ok((chart, Table { title, headings, rows, notes: Vec::new() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_share_no_row_and_only_labels_to_learn_and_choose_from_are_corrupted() {
        let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let truth: Vec<i64> = (0..1000).map(|i| i % 4).collect();
        let trial = Trial::new(&x, &truth, 4, 1000, 0.8, 1);
        let mut all = [&trial.learn[..], &trial.validate, &trial.test].concat();
        all.sort_by(f32::total_cmp);
        assert_eq!(all, x);
        assert_eq!((trial.learn.len(), trial.validate.len(), trial.test.len()), (500, 200, 300));
        let right = |rows: &[f32], labels: &[u32]| {
            rows.iter().zip(labels).filter(|(x, l)| **x as u32 % 4 == **l).count() as f64
                / labels.len() as f64
        };
        assert_eq!(right(&trial.test, &trial.truth), 1.0);
        // A fifth is kept, and a quarter of the others is right by chance.
        assert!((right(&trial.validate, &trial.observed) - 0.4).abs() < 0.12);
        let seen: Vec<u32> =
            trial.log_labels.chunks(4).map(|y| partita::simplex::largest(y) as u32).collect();
        assert!((right(&trial.learn, &seen) - 0.4).abs() < 0.08);
        assert!(
            trial.log_labels.chunks(4).all(|y| (y.iter().map(|l| l.exp()).sum::<f64>() - 1.0).abs() < 1e-12)
        );
    }
}
