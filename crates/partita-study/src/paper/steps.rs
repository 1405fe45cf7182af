//! How many steps EM takes to converge in the batches of a training.

use super::{Context, Findings};
use crate::error::Result;
use crate::plain::{Plain, batches, gather, prepared};
use crate::table::{Table, words};
use partita::objective::{Batch, SelfLabelled, Workspace};
use partita::pseudo::{Em, Exact, Problem, PseudoLabels, Workspace as Solving};
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
    /// Largest changes of a label at which EM may stop; the first is that of the training.
    tolerances: Vec<f64>,
    /// Steps at most.
    most: usize,
    /// Steps that the paper speaks of.
    within: usize,
}

/// The batches of a training under one tolerance.
#[derive(Default)]
struct Count {
    steps: Vec<usize>,
    errors: Vec<f64>,
}

impl Count {
    /// Solve a batch and compare it with the exact labels.
    fn add(&mut self, problem: &Problem<'_>, tolerance: f64, most: usize, exact: &[f64], ws: &mut Solving) {
        let mut y = vec![0.0; exact.len()];
        self.steps.push(Em { max_iterations: most, tolerance }.solve(problem, &mut y, ws).iterations);
        self.errors.push(y.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
    }

    fn share(&self, within: usize) -> f64 {
        self.steps.iter().filter(|s| **s <= within).count() as f64 / self.steps.len() as f64
    }

    /// The median, and the largest.
    fn spread(&self) -> (usize, usize) {
        let mut sorted = self.steps.clone();
        sorted.sort_unstable();
        (sorted[sorted.len() / 2], sorted[sorted.len() - 1])
    }
}

/// Train as in Algorithm 1, with EM until it converges, and count its steps in every batch.
fn train(context: &Context<'_>, s: &Settings, x: &[f32], m: usize, n: usize) -> Result<Vec<Count>> {
    let mut counts: Vec<Count> = s.tolerances.iter().map(|_| Count::default()).collect();
    let (prior, mut model) = (uniform(s.k), Plain::random(s.k, m, 0));
    let solver = Box::new(Em { max_iterations: s.most, tolerance: s.tolerances[0] });
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
            for (count, tolerance) in counts.iter_mut().zip(&s.tolerances) {
                count.add(&problem, *tolerance, s.most, &exact, &mut solving);
            }
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
    for (count, tolerance) in counts.iter().zip(&settings.tolerances) {
        let (median, most) = count.spread();
        let share = count.share(settings.within);
        let error = count.errors.iter().sum::<f64>() / count.errors.len() as f64;
        out.number(format!("share within the steps, {tolerance:e}"), share);
        out.number(format!("error, {tolerance:e}"), error);
        rows.push(vec![
            format!("{tolerance:.0e}"),
            median.to_string(),
            most.to_string(),
            format!("{:.1}", 100.0 * share),
            format!("{error:.1e}"),
        ]);
    }
    let headings = words(&["EM stops at a change of", "steps, median", "most", "batches within 15, %", "error of a label, mean"]);
    let title = format!("{} batches of {} rows of {}", counts[0].steps.len(), settings.batch, settings.set);
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}
