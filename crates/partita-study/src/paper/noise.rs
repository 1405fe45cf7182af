//! Wrong labels: the reverse cross-entropy learns less from labels it is told not to trust.

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
struct Settings {
    sets: Vec<String>,
    /// Rows used of each set, half to learn from and half to test on.
    rows: usize,
    levels: Vec<f64>,
    seeds: u64,
    epochs: usize,
    batch: usize,
    /// The rate of the checks, and others to show what it does.
    rates: Vec<f64>,
}

/// A loss with fixed soft labels.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Forward,
    Reverse,
}

impl Direction {
    const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    fn name(self) -> &'static str {
        if self == Self::Forward { "forward" } else { "reverse" }
    }
}

/// Labels are trusted no more than this, or the reverse cross-entropy would be infinite where none is wrong.
const LEAST_DOUBT: f64 = 0.01;

/// Rows to learn from with labels of which a share was drawn at random, and rows to test on.
struct Trial<'a> {
    x: &'a [f32],
    m: usize,
    k: usize,
    truth: &'a [i64],
    learn: Vec<usize>,
    test: Vec<usize>,
    /// ln of the soft labels (η/K for every class, and 1 − η more for the one observed), `[learn, k]`.
    log_labels: Vec<f64>,
}

impl<'a> Trial<'a> {
    fn new(x: &'a [f32], truth: &'a [i64], k: usize, rows: usize, level: f64, seed: u64) -> Self {
        let n = truth.len();
        let mut rng = stream(seed, Stream::Sample, 0);
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut rng);
        let half = rows.min(n) / 2;
        let (learn, test) = (order[..half].to_vec(), order[half..2 * half].to_vec());
        let doubt = level.max(LEAST_DOUBT);
        let mut log_labels = Vec::with_capacity(half * k);
        for &row in &learn {
            let wrong = rng.random::<f64>() < level;
            let seen = if wrong { rng.random_range(0..k) } else { truth[row] as usize };
            let soft = |c: usize| doubt / k as f64 + if c == seen { 1.0 - doubt } else { 0.0 };
            log_labels.extend((0..k).map(|c| soft(c).ln()));
        }
        Self { x, m: x.len() / n, k, truth, learn, test, log_labels }
    }

    /// Accuracy on the test rows after learning.
    fn accuracy(&self, direction: Direction, rate: f64, settings: &Settings, seed: u64) -> f64 {
        let (k, learn) = (self.k, gather(self.x, self.m, &self.learn));
        let mut model = Plain::zeros(k, self.m);
        for epoch in 0..settings.epochs {
            for rows in batches(self.learn.len(), settings.batch, seed, epoch) {
                let x = gather(&learn, self.m, &rows);
                let log_sigma = model.log_sigma(&x);
                let slope = self.slope(direction, &rows, &log_sigma);
                model.step(&x, &slope, rate, 0.0);
            }
        }
        let found = model.labels(&gather(self.x, self.m, &self.test));
        let right =
            found.iter().zip(&self.test).filter(|(f, row)| i64::from(**f) == self.truth[**row]).count();
        right as f64 / self.test.len() as f64
    }

    /// The gradient of the mean loss by the logits.
    fn slope(&self, direction: Direction, rows: &[usize], log_sigma: &[f64]) -> Vec<f64> {
        let k = self.k;
        let mut slope = vec![0.0; log_sigma.len()];
        for ((&row, s), out) in rows.iter().zip(log_sigma.chunks(k)).zip(slope.chunks_mut(k)) {
            let log_y = &self.log_labels[row * k..][..k];
            match direction {
                Direction::Reverse => cross::reverse_and_gradient(s, log_y, out),
                Direction::Forward => {
                    let y: Vec<f64> = log_y.iter().map(|l| l.exp()).collect();
                    cross::forward_and_gradient(&y, s, out)
                }
            };
        }
        let scale = 1.0 / rows.len() as f64;
        slope.iter_mut().for_each(|s| *s *= scale);
        slope
    }
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let mut out = Findings::default();
    let mut charts = Vec::new();
    for (at, name) in settings.sets.iter().enumerate() {
        let set = context.library.get(name)?;
        let (chart, table) = measure(context, &settings, name, &set, at, &mut out)?;
        charts.push(chart);
        out.tables.push(table);
    }
    out.figure("noise", 2, charts);
    Ok(out)
}

/// All levels on one set, as a chart and a table; numbers go to `out`.
fn measure(
    context: &Context<'_>,
    settings: &Settings,
    name: &str,
    set: &DataSet,
    at: usize,
    out: &mut Findings,
) -> Result<(Chart, Table)> {
    let x = prepared(&set.rows)?;
    let k = set.truth.iter().copied().max().unwrap_or(0) as usize + 1;
    let (mut marks, mut rows) = (Vec::new(), Vec::new());
    let parts = (settings.rates.len() * settings.levels.len() * settings.sets.len()) as f64;
    for (r, &rate) in settings.rates.iter().enumerate() {
        let mut lines = Direction::BOTH.map(|_| Vec::new());
        for (l, &level) in settings.levels.iter().enumerate() {
            let done = (at * settings.rates.len() + r) * settings.levels.len() + l;
            context.progress(done as f64 / parts)?;
            let run = |seed| {
                let trial = Trial::new(&x, &set.truth, k, settings.rows, level, seed);
                Direction::BOTH.map(|direction| trial.accuracy(direction, rate, settings, seed))
            };
            let runs: Vec<[f64; 2]> = (0..settings.seeds).into_par_iter().map(run).collect();
            let spreads = [0, 1].map(|d| Spread::of(runs.iter().map(|r| r[d])).expect("at least one seed"));
            for (line, spread) in lines.iter_mut().zip(spreads) {
                line.push((level, spread.mean, spread.sd));
            }
            let cell = |s: Spread| format!("{:.1}", s.times(100.0));
            rows.push(vec![level.to_string(), rate.to_string(), cell(spreads[0]), cell(spreads[1])]);
            if r == 0 {
                out.number(format!("{name} forward {level}"), spreads[0].mean);
                out.number(format!("{name} reverse {level}"), spreads[1].mean);
                out.number(format!("{name} lead {level}"), spreads[1].mean - spreads[0].mean);
            }
        }
        for (line, direction) in lines.into_iter().zip(Direction::BOTH) {
            let colour = 2 * usize::from(direction == Direction::Forward) + 4 * r.min(1) + r.min(1);
            marks.push(Mark::Means {
                name: format!("{}, rate {rate}", direction.name()),
                points: line,
                colour,
            });
        }
    }
    let (x, y) = (
        Axis::between("share of labels replaced at random", 0.0, 0.92),
        Axis::between("test accuracy", 0.0, 1.0),
    );
    let chart = Chart { title: format!("Wrong labels, {name}"), x, y, marks };
    let headings = words(&["corruption", "rate", "forward", "reverse"]);
    let title = format!("Test accuracy on {name}, mean ± sd of {} seeds, per cent", settings.seeds);
    Ok((chart, Table { title, headings, rows, notes: Vec::new() }))
}
