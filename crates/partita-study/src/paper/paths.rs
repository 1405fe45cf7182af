//! As γ → 0 the minimum of the regularised decisiveness turns to the widest of all fair labelings.
//!
//! The sets are so small that every fair labelling can be tried. For each one that is separable, the minimum among the
//! classifiers that have it is followed through growing norms; at every γ the lowest of all is the minimum among the
//! classifiers of any fair labelling, which the theorems speak of.

use super::curves::order;
use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::labelings::{Labelling, Small};
use crate::table::{Table, words};
use partita::margin::Classifier;
use partita::margin::path::{self, Allowed, Step, follow};
use rayon::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    sets: Vec<Set>,
    orders: Vec<f64>,
    /// Norms visited by each labelling, from losses of e^-`from` to e^-`to`.
    steps: usize,
    from: f64,
    to: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    rows: usize,
    k: usize,
    seeds: Vec<u64>,
}

/// An angle on a logarithmic axis; rounding below this is not drawn.
const SMALLEST: f64 = 1e-6;

/// The widest classifier of a labelling, with every weight changed by up to a fifth of the largest, so that the path does not
/// begin at its end.
pub fn beside(small: &Small, labelling: &Labelling) -> Result<Classifier> {
    let (points, widest) = (small.points()?, &labelling.widest.classifier);
    let largest = widest.weights.iter().fold(0.0f64, |m, w| m.max(w.abs()));
    let shifted = |amount: f64| {
        let shift = |(i, w): (usize, &f64)| w + amount * largest * (1.0 + 7.0 * i as f64).sin();
        let weights = widest.weights.iter().enumerate().map(shift).collect();
        Classifier::new(weights, widest.biases.clone(), 2)
    };
    // The nearest of ever smaller changes that moves no row to another cluster.
    let mut amount = 0.2;
    while shifted(amount)?.labels(points) != labelling.labels {
        amount /= 2.0;
    }
    Ok(shifted(amount)?)
}

/// The minima among the classifiers of one labelling.
struct Path {
    steps: Vec<Step>,
    /// The angle of the last one to the widest classifier of the same labelling.
    own: f64,
}

impl Path {
    fn follow(small: &Small, labelling: &Labelling, alpha: f64, settings: &Settings) -> Result<Self> {
        let Settings { steps, from, to, .. } = *settings;
        let norms = path::norms(labelling.widest.margin, alpha, from, to, steps);
        let towards = &small.separable[0].widest.classifier;
        let allowed = Allowed::Labels(&labelling.labels);
        let options = path::Options::new(alpha, norms);
        // Entropies are not convex, and the theorems are about the lowest minimum: of two paths, the lower at each norm.
        let points = small.points()?;
        let from = |start: &Classifier| follow(points, start, Some(towards), allowed, &options);
        let (beside, within) = (from(&beside(small, labelling)?)?, from(&labelling.widest.classifier)?);
        let lower = |(a, b): (Step, Step)| if b.log_loss < a.log_loss { b } else { a };
        let steps: Vec<Step> = beside.into_iter().zip(within).map(lower).collect();
        let own = steps.last().map_or(f64::NAN, |s| s.classifier.angle(&labelling.widest.classifier));
        Ok(Self { steps, own })
    }

    /// ln of the least γ‖W‖² + mean R_α, divided by γ: between the norms visited, it is nearly a power of ln 1/γ.
    fn objective(&self, log_gamma: f64) -> Option<f64> {
        let place = |s: &Step| (-s.log_gamma).ln();
        let value = |s: &Step| {
            let (norm, loss) = (2.0 * s.norm.ln(), s.log_loss - s.log_gamma);
            norm.max(loss) + (-(norm - loss).abs()).exp().ln_1p()
        };
        let at = (-log_gamma).ln();
        let pair = self.steps.windows(2).find(|w| place(&w[0]) <= at && at <= place(&w[1]))?;
        let share = (at - place(&pair[0])) / (place(&pair[1]) - place(&pair[0]));
        Some(value(&pair[0]) + share * (value(&pair[1]) - value(&pair[0])))
    }

    /// The angle to the widest of all labelings, of the norm visited next to this γ.
    fn angle(&self, log_gamma: f64) -> f64 {
        let off = |s: &&Step| (s.log_gamma - log_gamma).abs();
        let nearest = self.steps.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        nearest.and_then(|s| s.angle).unwrap_or(f64::NAN)
    }
}

/// The minimum over all fair labelings at one γ.
struct Lowest {
    log_gamma: f64,
    /// Its labelling's place among the widest.
    place: usize,
    angle: f64,
}

/// Minima over all labelings, from large γ to small ones.
fn lowest(paths: &[Path]) -> Vec<Lowest> {
    let at = |log_gamma: f64| {
        let values = paths.iter().map(|path| path.objective(log_gamma));
        let best =
            values.enumerate().filter_map(|(i, v)| Some((i, v?))).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Lowest { log_gamma, place: best.0, angle: paths[best.0].angle(log_gamma) })
    };
    paths[0].steps.iter().filter_map(|s| at(s.log_gamma)).collect()
}

/// What was found over the sets of one number of clusters.
#[derive(Default)]
struct Tally {
    fair: usize,
    separable: usize,
    undecided: usize,
    /// Pairs of a set and an order, and in how many of them the widest labelling wins in the end.
    runs: usize,
    won: usize,
    /// Those in which another labelling wins at some larger γ.
    changed: usize,
    angle: f64,
    own: f64,
    bound: f64,
    logistic: f64,
    still: f64,
}

impl Tally {
    fn set(&mut self, small: &Small, settings: &Settings) -> Result<Vec<Mark>> {
        self.fair += small.all.len();
        self.separable += small.separable.len();
        self.undecided += small.undecided;
        let widest = small.separable[0].widest.margin / if small.k == 2 { 2f64.sqrt() } else { 1.0 };
        self.bound = self.bound.max(widest / small.diameter());
        let mut marks = Vec::new();
        for (colour, &alpha) in settings.orders.iter().enumerate() {
            let follow = |l: &Labelling| Path::follow(small, l, alpha, settings);
            if alpha == 0.0 {
                let path = follow(&small.separable[0])?;
                self.still = self.still.min(path.own);
                continue;
            }
            let paths: Vec<Path> = small.separable.par_iter().map(follow).collect::<Result<_>>()?;
            let found = lowest(&paths);
            let Some(end) = found.last() else { continue };
            self.runs += 1;
            self.won += usize::from(end.place == 0);
            self.changed += usize::from(found.iter().any(|l| l.place != 0));
            self.angle = self.angle.max(end.angle);
            let own = paths.iter().map(|p| p.own).fold(0.0, f64::max);
            self.own = self.own.max(own);
            if alpha.is_infinite() {
                self.logistic = self.logistic.max(own);
            }
            let points = found.iter().map(|l| (-l.log_gamma, l.angle.max(SMALLEST))).collect();
            marks.push(Mark::Line { name: order(alpha), points, colour, dashed: false });
        }
        Ok(marks)
    }

    fn tell(&self, k: usize, out: &mut Findings) {
        let named = |what: &str| format!("{what}, K = {k}");
        out.number(named("fair labelings"), self.fair as f64);
        out.number(named("undecided labelings"), self.undecided as f64);
        out.number(named("widest wins"), self.won as f64 / self.runs.max(1) as f64);
        out.number(named("another wins before"), self.changed as f64 / self.runs.max(1) as f64);
        out.number(named("angle of the minimum"), self.angle);
        out.number(named("angle of a labelling to its own widest"), self.own);
        out.number(named("angle of the logistic loss"), self.logistic);
        out.number(named("margin over diameter"), self.bound);
        out.number(named("angle of order 0"), self.still);
    }

    fn row(&self, k: usize, set: &Set) -> Vec<String> {
        let sets = set.seeds.len();
        vec![
            format!("K = {k}, {sets} sets of {} rows", set.rows),
            self.fair.to_string(),
            self.separable.to_string(),
            format!("{} of {}", self.won, self.runs),
            format!("{} of {}", self.changed, self.runs),
            format!("{:.1e}", self.angle),
        ]
    }
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let mut out = Findings::default();
    let (mut charts, mut rows) = (Vec::new(), Vec::new());
    let all = settings.sets.iter().map(|set| set.seeds.len()).sum::<usize>() as f64;
    let mut done = 0.0;
    for set in &settings.sets {
        let mut tally = Tally { still: f64::INFINITY, ..Tally::default() };
        let mut first = None;
        for &seed in &set.seeds {
            context.progress(done / all)?;
            done += 1.0;
            let marks = tally.set(&Small::draw(set.rows, set.k, seed)?, &settings)?;
            first.get_or_insert(marks);
        }
        tally.tell(set.k, &mut out);
        rows.push(tally.row(set.k, set));
        let axis = |label: &str| Axis { log: true, ..Axis::new(label) };
        let title = format!("Angle of the minimum over all fair labelings, K = {}, one set", set.k);
        let (x, y) = (axis("ln 1/γ"), axis("angle to the widest of all"));
        charts.push(Chart { title, x, y, marks: first.unwrap_or_default() });
    }
    out.figure("paths", 2, charts);
    let headings = words(&[
        "sets",
        "fair labelings",
        "separable",
        "the widest wins in the end",
        "another wins before",
        "angle at the end",
    ]);
    let title = "Minima over all fair labelings, for every order above 0".to_owned();
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}
