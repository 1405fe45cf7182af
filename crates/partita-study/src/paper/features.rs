//! Every loss of the paper on fixed features: by the paper's algorithm and by our engine, beside the paper's numbers.

use super::descent::{Descent, Effort, Recipe};
use super::{Context, Findings, undone};
use crate::error::Result;
use crate::library::DataSet;
use crate::plain::as_they_are;
use crate::table::{Table, words};
use partita::compare::{Contender, Setting, Spread, compare};
use partita::linear::{Input, Prepare};
use partita::metrics::accuracy;
use partita::report::Silent;
use partita::rows::Rows;
use rayon::prelude::*;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    set: String,
    k: usize,
    seeds: u64,
    /// The paper's weight of the norm for this set ...
    gamma: f64,
    /// ... and those for the other sets.
    other_gammas: Vec<f64>,
    /// Images that the paper has of this set: its epochs have so many more steps than those of a part.
    whole: usize,
    /// Other tolerances at which EM may end.
    tolerances: Vec<f64>,
    recipe: Recipe,
    methods: Vec<Method>,
}

/// A method, what the paper calls it, and the paper's accuracy and deviation, in per cent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    label: String,
    paper: Option<(f64, f64)>,
    /// Whether it is also trained for as many steps as the paper's whole set gives.
    #[serde(default)]
    long: bool,
}

/// The runs of a method by the paper's algorithm.
struct Plainly {
    accuracy: Spread,
    seconds: f64,
    /// EM iterations of a batch, on average.
    effort: f64,
}

struct Study<'a> {
    settings: &'a Settings,
    descent: Descent<'a>,
    truth: &'a [i64],
}

impl<'a> Study<'a> {
    /// The same with as many steps as the paper's whole set gives.
    fn for_whole(&self) -> Study<'a> {
        let mut descent = self.descent;
        let epochs = descent.recipe.epochs * self.settings.whole;
        descent.recipe.epochs = (epochs as f64 / self.truth.len() as f64).round() as usize;
        Study { settings: self.settings, descent, truth: self.truth }
    }

    /// All seeds of one method.
    fn plainly(&self, method: Contender, gamma: f64) -> Result<Plainly> {
        let (effort, begun) = (Effort::default(), Instant::now());
        let run = |seed| -> Result<f64> {
            Ok(accuracy(self.truth, &self.descent.run(method, gamma, seed, &effort)?)?)
        };
        let found = (0..self.settings.seeds).into_par_iter().map(run).collect::<Result<Vec<f64>>>()?;
        let seconds = begun.elapsed().as_secs_f64() / self.settings.seeds as f64;
        Ok(Plainly { accuracy: spread(found), seconds, effort: effort.mean() })
    }
}

fn spread(found: Vec<f64>) -> Spread {
    Spread::of(found.into_iter()).expect("at least one seed")
}

fn percent(spread: Spread) -> String {
    format!("{:.1}", spread.times(100.0))
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let set = context.library.get(&settings.set)?;
    let x = as_they_are(&set.rows)?;
    let descent = Descent { recipe: settings.recipe, x: &x, m: set.rows.m(), k: settings.k };
    let study = Study { settings: &settings, descent, truth: &set.truth };
    let mut out = Findings::default();
    methods(context, &study, &set, &mut out)?;
    gammas(context, &study, &mut out)?;
    tolerances(context, &study, &mut out)?;
    let spreads = undone::spreads(&set.rows, &set.truth, settings.k, settings.seeds)?;
    out.tables.push(undone::table(&spreads, settings.seeds));
    out.number("engine, none of its changes", spreads[spreads.len() - 1].1.mean);
    out.number("mean squared norm", mean_square(&x, set.rows.n()));
    context.progress(1.0)?;
    Ok(out)
}

/// The table of the paper: every method by its algorithm and by our engine.
fn methods(context: &Context<'_>, study: &Study<'_>, set: &DataSet, out: &mut Findings) -> Result<()> {
    let settings = study.settings;
    let mut rows = Vec::new();
    for (at, method) in settings.methods.iter().enumerate() {
        context.progress(0.5 * at as f64 / settings.methods.len() as f64)?;
        let contender: Contender = method.name.parse()?;
        let plain = study.plainly(contender, settings.gamma)?;
        let engine = engine(set, contender, settings)?;
        let long = method.long.then(|| study.for_whole().plainly(contender, settings.gamma)).transpose()?;
        out.number(format!("short {}", method.name), plain.accuracy.mean);
        let full = long.as_ref().unwrap_or(&plain);
        out.number(format!("plain {}", method.name), full.accuracy.mean);
        out.number(format!("engine {}", method.name), engine.0.mean);
        if method.name == "ours" {
            out.number("EM iterations", plain.effort);
        }
        rows.push(vec![
            method.label.clone(),
            method.paper.map_or_else(String::new, |(mean, sd)| format!("{mean:.1} ± {sd:.1}")),
            percent(plain.accuracy),
            long.as_ref().map_or_else(String::new, |long| percent(long.accuracy)),
            format!("{:.2}", full.seconds),
            percent(engine.0),
            format!("{:.2}", engine.1),
        ]);
    }
    let ten = |seed| Ok(accuracy(study.truth, &study.descent.kmeans(10, seed)?)?);
    let ten = (0..settings.seeds).into_par_iter().map(ten).collect::<Result<Vec<f64>>>()?;
    out.number("plain kmeans, ten starts", spread(ten.clone()).mean);
    let empty = String::new;
    let label = "K-means, best of ten starts by inertia".to_owned();
    rows.insert(1, vec![label, empty(), percent(spread(ten)), empty(), empty(), empty(), empty()]);
    leads(settings, out);
    let title = format!("ACC in per cent, mean ± sd of {} runs with the same starts", settings.seeds);
    let (short, long) = (settings.recipe.epochs, study.for_whole().descent.recipe.epochs);
    let mut headings = words(&["method", "paper"]);
    headings.extend([format!("its algorithm, {short} epochs"), format!("its algorithm, {long} epochs")]);
    headings.extend(words(&["s a run", "our engine", "s a run"]));
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(())
}

/// The same method in our engine, with one restart a run: accuracy and seconds.
fn engine(set: &DataSet, contender: Contender, settings: &Settings) -> Result<(Spread, f64)> {
    let setting = Setting { k: settings.k, restarts: 1, epochs: None, prepare: Prepare::Auto, dims: None };
    let seeds: Vec<u64> = (0..settings.seeds).collect();
    let found = compare(&Input::new(&set.rows), Some(&set.truth), &[contender], &setting, &seeds, &Silent)?;
    let missing = Spread { mean: f64::NAN, sd: f64::NAN };
    let accuracy = found.methods[0].spread(|run| run.scores.map(|s| s.acc)).unwrap_or(missing);
    let seconds = found.methods[0].spread(|run| Some(run.seconds)).unwrap_or(missing);
    Ok((accuracy, seconds.mean))
}

/// How far ours is ahead of K-means, and of the best other method that the paper has.
fn leads(settings: &Settings, out: &mut Findings) {
    for side in ["plain", "engine"] {
        let of = |name: &str| out.numbers.get(&format!("{side} {name}")).copied().unwrap_or(f64::NAN);
        let others =
            settings.methods.iter().filter(|m| m.paper.is_some() && m.name != "ours" && m.name != "kmeans");
        let next = others.map(|m| of(&m.name)).fold(f64::NEG_INFINITY, f64::max);
        let leads = [("kmeans", of("ours") - of("kmeans")), ("the next", of("ours") - next)];
        leads.into_iter().for_each(|(name, lead)| out.number(format!("{side} lead over {name}"), lead));
    }
}

/// Ours by the paper's algorithm, with the weights of the norm that the paper has for its four sets.
fn gammas(context: &Context<'_>, study: &Study<'_>, out: &mut Findings) -> Result<()> {
    let settings = study.settings;
    let mut rows = Vec::new();
    let mut all = settings.other_gammas.clone();
    all.push(settings.gamma);
    all.sort_by(f64::total_cmp);
    for gamma in all {
        context.progress(0.6)?;
        let found = study.plainly("ours".parse()?, gamma)?;
        let own = if gamma == settings.gamma { "the paper's for this set" } else { "" };
        rows.push(vec![
            gamma.to_string(),
            percent(found.accuracy),
            format!("{:.0}", found.effort),
            own.to_owned(),
        ]);
    }
    let title = "Ours by the paper's algorithm, at each of the paper's weights of the norm".to_owned();
    let headings = words(&["γ", "ACC, %", "EM iterations of a batch", ""]);
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(())
}

/// Ours by the paper's algorithm, with EM ending sooner or later.
fn tolerances(context: &Context<'_>, study: &Study<'_>, out: &mut Findings) -> Result<()> {
    let settings = study.settings;
    let mut rows = Vec::new();
    for &tolerance in settings.tolerances.iter().chain([&settings.recipe.tolerance]) {
        context.progress(0.7)?;
        let mut changed = study.for_whole();
        changed.descent.recipe.tolerance = tolerance;
        let found = changed.plainly("ours".parse()?, settings.gamma)?;
        out.number(format!("ours at {tolerance}"), found.accuracy.mean);
        rows.push((
            tolerance,
            vec![tolerance.to_string(), format!("{:.0}", found.effort), percent(found.accuracy)],
        ));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let epochs = study.for_whole().descent.recipe.epochs;
    let title =
        format!("Ours by the paper's algorithm, {epochs} epochs, with EM ending where labels change by less");
    let headings = words(&["change", "EM iterations of a batch", "ACC, %"]);
    out.tables.push(Table {
        title,
        headings,
        rows: rows.into_iter().map(|r| r.1).collect(),
        notes: Vec::new(),
    });
    Ok(())
}

/// E‖x‖², which the rate and γ depend on.
fn mean_square(x: &[f32], n: usize) -> f64 {
    x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / n as f64
}
