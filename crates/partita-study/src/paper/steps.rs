//! How many steps EM takes to converge in the batches of a training.

use super::{Context, Findings};
use crate::error::Result;
use crate::plain::{Plain, batches, gather, prepared};
use crate::table::{Table, words};
use partita::objective::{Batch, SelfLabelled, Workspace};
use partita::pseudo::{Em, Exact, Problem, PseudoLabels, Surrogate, Workspace as Solving};
use partita::rows::Rows;
use partita::simplex::uniform;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    set: String,
    k: usize,
    epochs: usize,
    batch: usize,
    rate: f64,
    gamma: f64,
    lambda: f64,
    /// The training's EM stops where no label changes by more.
    tolerance: f64,
    /// When EM may be said to have converged.
    criteria: Vec<Criterion>,
    /// Steps at most.
    most: usize,
    /// Steps that the paper speaks of.
    within: usize,
}

/// A change from one step to the next that is at most this.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Criterion {
    of: Change,
    below: f64,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Change {
    /// The largest change of a label.
    Label,
    /// The mean change of a label.
    Mean,
    /// The fall of the loss, relative to it.
    Loss,
}

impl Criterion {
    fn name(&self) -> String {
        let what = match self.of {
            Change::Label => "largest change of a label",
            Change::Mean => "mean change of a label",
            Change::Loss => "fall of the loss, relative",
        };
        format!("{what} ≤ {:e}", self.below)
    }
}

/// EM's steps in a batch, until every criterion was met: the step at which each first was, and the labels' error there.
fn watch(s: &Settings, problem: &Problem<'_>, exact: &[f64]) -> Vec<(usize, f64)> {
    let sigma: Vec<f64> = problem.batch.log_sigma.iter().map(|l| l.exp()).collect();
    let (mut y, mut met) = (sigma.clone(), vec![None; s.criteria.len()]);
    let mut loss = Surrogate::OURS.loss(problem, &y);
    for step in 1..=s.most {
        let next = em_step(&sigma, &y, problem);
        let changes = y.iter().zip(&next).map(|(a, b)| (a - b).abs());
        let largest = changes.clone().fold(0.0, f64::max);
        let mean = changes.sum::<f64>() / y.len() as f64;
        y = next;
        let now = Surrogate::OURS.loss(problem, &y);
        let fall = (loss - now).abs() / now.abs();
        loss = now;
        let error = y.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        for (met, criterion) in met.iter_mut().zip(&s.criteria).filter(|(met, _)| met.is_none()) {
            let change = match criterion.of {
                Change::Label => largest,
                Change::Mean => mean,
                Change::Loss => fall,
            };
            *met = (change <= criterion.below).then_some((step, error));
        }
        if met.iter().all(Option::is_some) {
            break;
        }
    }
    met.into_iter().map(|m| m.unwrap_or((s.most, f64::NAN))).collect()
}

/// The paper's E-step and M-step, one after the other.
pub fn em_step(sigma: &[f64], y: &[f64], problem: &Problem<'_>) -> Vec<f64> {
    let k = problem.batch.k;
    let n = (y.len() / k) as f64;
    let mut total = vec![0.0; k];
    y.chunks_exact(k).for_each(|row| total.iter_mut().zip(row).for_each(|(t, y)| *t += y));
    let mut out = Vec::with_capacity(y.len());
    for (sigma, y) in sigma.chunks_exact(k).zip(y.chunks_exact(k)) {
        let pull = |c: usize| problem.lambda * n * problem.prior[c] * y[c] / total[c];
        let norm = 1.0 + (0..k).map(pull).sum::<f64>();
        out.extend((0..k).map(|c| (sigma[c] + pull(c)) / norm));
    }
    out
}

/// Train as in Algorithm 1, with EM until it converges, and count its steps in every batch.
fn train(
    context: &Context<'_>,
    s: &Settings,
    x: &[f32],
    m: usize,
    n: usize,
) -> Result<Vec<Vec<(usize, f64)>>> {
    let mut counts = Vec::new();
    let (prior, mut model) = (uniform(s.k), Plain::random(s.k, m, 0));
    let solver = Box::new(Em { max_iterations: s.most, tolerance: s.tolerance });
    let objective = SelfLabelled { solver, prior: prior.clone(), lambda: s.lambda };
    let (mut ws, mut solving) = (Workspace::default(), Solving::default());
    for epoch in 0..s.epochs {
        context.progress(epoch as f64 / s.epochs as f64)?;
        for rows in batches(n, s.batch, 0, epoch) {
            let x = gather(x, m, &rows);
            let log_sigma = model.log_sigma(&x);
            let batch = Batch { log_sigma: &log_sigma, k: s.k, weights: None, known: None };
            let problem = Problem { batch, prior: &prior, lambda: s.lambda };
            let mut exact = vec![0.0; log_sigma.len()];
            Exact::default().solve(&problem, &mut exact, &mut solving);
            counts.push(watch(s, &problem, &exact));
            let mut slope = vec![0.0; log_sigma.len()];
            objective.label(batch, &mut ws);
            objective.with_labels(batch, &mut slope, &mut ws);
            model.step(&x, &slope, s.rate, s.gamma);
        }
    }
    Ok(counts)
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let set = context.library.get(&settings.set)?;
    let x = prepared(&set.rows)?;
    let counts = train(context, &settings, &x, set.rows.m(), set.truth.len())?;
    let mut out = Findings::default();
    let mut rows = Vec::new();
    for (at, criterion) in settings.criteria.iter().enumerate() {
        let mut steps: Vec<usize> = counts.iter().map(|batch| batch[at].0).collect();
        steps.sort_unstable();
        let share = steps.iter().filter(|s| **s <= settings.within).count() as f64 / steps.len() as f64;
        let error = counts.iter().map(|batch| batch[at].1).sum::<f64>() / counts.len() as f64;
        out.number(format!("share within the steps, {}", criterion.name()), share);
        out.number(format!("error, {}", criterion.name()), error);
        rows.push(vec![
            criterion.name(),
            steps[steps.len() / 2].to_string(),
            steps[steps.len() - 1].to_string(),
            format!("{:.1}", 100.0 * share),
            format!("{error:.1e}"),
        ]);
    }
    let headings = words(&[
        "EM stops at",
        "steps, median",
        "most",
        "batches within 15, %",
        "largest error of a label, mean",
    ]);
    let title = format!("{} batches of {} rows of {}", counts.len(), settings.batch, settings.set);
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_those_of_em() {
        let log_sigma: Vec<f64> = [0.7, 0.2, 0.1, 0.6, 0.3, 0.1, 0.2, 0.5, 0.3f64].map(f64::ln).to_vec();
        let prior = [0.5, 0.3, 0.2];
        let batch = Batch { log_sigma: &log_sigma, k: 3, weights: None, known: None };
        let problem = Problem { batch, prior: &prior, lambda: 30.0 };
        let sigma: Vec<f64> = log_sigma.iter().map(|l| l.exp()).collect();
        let ours = (0..4).fold(sigma.clone(), |y, _| em_step(&sigma, &y, &problem));
        let mut y = vec![0.0; 9];
        Em { max_iterations: 4, tolerance: 0.0 }.solve(&problem, &mut y, &mut Solving::default());
        assert!(ours.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
