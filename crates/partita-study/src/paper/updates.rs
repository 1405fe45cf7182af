//! Pseudo-labels found once a batch or once an epoch: the paper's Algorithm 1 on pixels.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::plain::{Plain, batches, gather, prepared};
use crate::table::{Table, words};
use partita::compare::Spread;
use partita::objective::{Batch, BatchObjective, SelfLabelled, Workspace};
use partita::pseudo::{Em, Exact, PseudoLabels};
use partita::report::{Flow, Progress};
use partita::rows::Rows;
use partita::simplex::uniform;
use rayon::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    set: String,
    k: usize,
    seeds: u64,
    epochs: usize,
    batch: usize,
    rate: f64,
    gamma: f64,
    lambda: f64,
    /// EM iterations in a batch.
    iterations: usize,
    /// EM iterations for all rows, once an epoch.
    epoch_iterations: usize,
    /// Rows on which the loss is drawn.
    judged: usize,
}

/// When labels are found.
#[derive(Clone, Copy, PartialEq)]
enum Update {
    Batch,
    Epoch,
}

/// What one run gave: the loss after each epoch, and the accuracy at the end.
struct Trained {
    losses: Vec<f64>,
    accuracy: f64,
}

struct Trainer<'a> {
    settings: &'a Settings,
    x: &'a [f32],
    m: usize,
    truth: &'a [i64],
}

impl Trainer<'_> {
    fn objective(&self, solver: Box<dyn PseudoLabels>) -> SelfLabelled {
        SelfLabelled { solver, prior: uniform(self.settings.k), lambda: self.settings.lambda }
    }

    fn em(&self, iterations: usize) -> SelfLabelled {
        self.objective(Box::new(Em { max_iterations: iterations, tolerance: 0.0 }))
    }

    /// γ‖W‖² + min over y of mean H(σ, y) + λ KL(u‖ȳ), on the first rows.
    fn loss(&self, model: &Plain, ws: &mut Workspace) -> f64 {
        let s = self.settings;
        let log_sigma = model.log_sigma(&self.x[..s.judged.min(self.truth.len()) * self.m]);
        let batch = Batch { log_sigma: &log_sigma, k: s.k, weights: None, known: None };
        let mut slope = vec![0.0; log_sigma.len()];
        let exact = self.objective(Box::new(Exact::default()));
        exact.value_and_gradient(batch, &mut slope, ws) + s.gamma * model.squared_norm()
    }

    fn train(&self, update: Update, seed: u64, stop: &(dyn Fn(usize) -> bool + Sync)) -> Result<Trained> {
        let s = self.settings;
        let mut model = Plain::random(s.k, self.m, seed);
        let (in_batch, in_epoch) = (self.em(s.iterations), self.em(s.epoch_iterations));
        let (mut ws, mut judge) = (Workspace::default(), Workspace::default());
        let mut losses = vec![self.loss(&model, &mut judge)];
        for epoch in 0..s.epochs {
            if stop(epoch) {
                return Err(partita::Error::Interrupted.into());
            }
            let labels = (update == Update::Epoch).then(|| {
                let log_sigma = model.log_sigma(self.x);
                let batch = Batch { log_sigma: &log_sigma, k: s.k, weights: None, known: None };
                in_epoch.label(batch, &mut judge);
                judge.y.clone()
            });
            for rows in batches(self.truth.len(), s.batch, seed, epoch) {
                let x = gather(self.x, self.m, &rows);
                let log_sigma = model.log_sigma(&x);
                let batch = Batch { log_sigma: &log_sigma, k: s.k, weights: None, known: None };
                let mut slope = vec![0.0; log_sigma.len()];
                match &labels {
                    None => in_batch.value_and_gradient(batch, &mut slope, &mut ws),
                    Some(y) => {
                        ws.y.clear();
                        ws.y.extend(rows.iter().flat_map(|row| &y[row * s.k..][..s.k]));
                        in_batch.with_labels(batch, &mut slope, &mut ws)
                    }
                };
                model.step(&x, &slope, s.rate, s.gamma);
            }
            losses.push(self.loss(&model, &mut judge));
        }
        let accuracy = partita::metrics::accuracy(self.truth, &model.labels(self.x))?;
        Ok(Trained { losses, accuracy })
    }
}

/// The spread of some number over the runs.
fn spread(runs: &[Trained], number: impl Fn(&Trained) -> f64) -> Spread {
    Spread::of(runs.iter().map(number)).expect("at least one seed")
}

/// All seeds of both kinds, the same starts and orders for both.
fn train(context: &Context<'_>, trainer: &Trainer<'_>, at: usize, update: Update) -> Result<Vec<Trained>> {
    let epochs = trainer.settings.epochs as f64;
    let stop = |epoch: usize| {
        let done = (at as f64 + epoch as f64 / epochs) / 2.0;
        context.observer.progress(Progress { stage: "reproduce", done, loss: None }) == Flow::Stop
    };
    (0..trainer.settings.seeds).into_par_iter().map(|seed| trainer.train(update, seed, &stop)).collect()
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let set = context.library.get(&settings.set)?;
    let x = prepared(&set.rows)?;
    let trainer = Trainer { settings: &settings, x: &x, m: set.rows.m(), truth: &set.truth };
    let mut out = Findings::default();
    let (mut marks, mut rows) = (Vec::new(), Vec::new());
    let kinds = [(Update::Batch, "once a batch"), (Update::Epoch, "once an epoch")];
    for (at, (update, name)) in kinds.into_iter().enumerate() {
        let runs = train(context, &trainer, at, update)?;
        let accuracy = spread(&runs, |r| r.accuracy);
        let loss = spread(&runs, |r| r.losses[settings.epochs]);
        let point = |epoch: usize| {
            let loss = spread(&runs, |r| r.losses[epoch]);
            (epoch as f64, loss.mean, loss.sd)
        };
        let points = (0..=settings.epochs).map(point).collect();
        marks.push(Mark::Means { name: name.to_owned(), points, colour: at });
        let least = runs.iter().map(|r| r.accuracy).fold(f64::INFINITY, f64::min);
        let least = format!("{:.1}", 100.0 * least);
        let percent = format!("{:.1}", accuracy.times(100.0));
        rows.push(vec![name.to_owned(), percent, least, format!("{loss:.3}")]);
        out.number(format!("accuracy {name}"), accuracy.mean);
        out.number(format!("loss {name}"), loss.mean);
    }
    let gain = |what: &str| {
        out.numbers[&format!("{what} once a batch")] - out.numbers[&format!("{what} once an epoch")]
    };
    let (lead, lower) = (gain("accuracy"), -gain("loss"));
    out.number("lead", lead);
    out.number("lower loss", lower);
    let title = format!("The loss after each epoch, {}", settings.set);
    let chart = Chart { title, x: Axis::new("epoch"), y: Axis::new("loss"), marks };
    out.figure("updates", 1, vec![chart]);
    let headings = words(&["labels", "ACC, %", "least", "loss at the end"]);
    let title = format!("Mean ± sd of {} seeds", settings.seeds);
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}
