//! The order α of the decisiveness, compared on fixed features.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::table::{Table, words};
use partita::compare::{Comparison, Contender, Setting, Spread, compare};
use partita::linear::{Dims, Input, Prepare};
use partita::report::{Flow, Observer, Progress};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    sets: Vec<String>,
    k: usize,
    seeds: u64,
    restarts: usize,
    epochs: Option<usize>,
    methods: Vec<Method>,
}

/// A method, what the paper calls it, and the paper's accuracies on the sets, in per cent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    label: String,
    paper: Option<Vec<f64>>,
}

/// A stretch of an observer's progress: one data set out of several.
struct Stretch<'a> {
    whole: &'a dyn Observer,
    from: f64,
    share: f64,
}

impl Observer for Stretch<'_> {
    fn progress(&self, progress: Progress) -> Flow {
        self.whole.progress(Progress { done: self.from + self.share * progress.done, ..progress })
    }
}

fn compared(context: &Context<'_>, settings: &Settings) -> Result<Vec<Comparison>> {
    let contenders: Vec<Contender> =
        settings.methods.iter().map(|m| m.name.parse()).collect::<partita::Result<_>>()?;
    let Settings { k, restarts, epochs, .. } = *settings;
    let setting = Setting { k, restarts, epochs, prepare: Prepare::Auto, dims: Some(Dims::Auto) };
    let seeds: Vec<u64> = (0..settings.seeds).collect();
    let share = 1.0 / settings.sets.len() as f64;
    let one = |(at, name): (usize, &String)| {
        let set = context.library.get(name)?;
        let stretch = Stretch { whole: context.observer, from: at as f64 * share, share };
        Ok(compare(&Input::new(&set.rows), Some(&set.truth), &contenders, &setting, &seeds, &stretch)?)
    };
    settings.sets.iter().enumerate().map(one).collect()
}

fn accuracy(found: &Comparison, method: usize) -> Spread {
    let spread = found.methods[method].spread(|run| run.scores.map(|s| s.acc));
    spread.unwrap_or(Spread { mean: f64::NAN, sd: f64::NAN })
}

/// One line for each method: ours and the paper's accuracy on every set.
fn table(settings: &Settings, found: &[Comparison]) -> Table {
    let mut headings = words(&["method"]);
    for set in &settings.sets {
        headings.extend([set.clone(), "paper".to_owned(), "s".to_owned()]);
    }
    let row = |(at, method): (usize, &Method)| {
        let mut row = vec![method.label.clone()];
        for (set, comparison) in found.iter().enumerate() {
            let paper = method.paper.as_ref().and_then(|p| p.get(set));
            let seconds = comparison.methods[at].spread(|run| Some(run.seconds));
            row.push(format!("{:.1}", accuracy(comparison, at).times(100.0)));
            row.push(paper.map_or_else(String::new, |p| format!("{p:.1}")));
            row.push(seconds.map_or_else(String::new, |s| format!("{:.2}", s.mean)));
        }
        row
    };
    let rows = settings.methods.iter().enumerate().map(row).collect();
    let title = format!("ACC in per cent, mean ± sd of {} seeds", settings.seeds);
    Table { title, headings, rows, notes: Vec::new() }
}

fn numbers(settings: &Settings, found: &[Comparison], out: &mut Findings) {
    for (set, comparison) in settings.sets.iter().zip(found) {
        for (at, method) in settings.methods.iter().enumerate() {
            out.number(format!("{set} {}", method.name), accuracy(comparison, at).mean);
        }
    }
}

pub fn orders(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let found = compared(context, &settings)?;
    let mut out = Findings::default();
    numbers(&settings, &found, &mut out);
    let mut marks = Vec::new();
    for (colour, (set, comparison)) in settings.sets.iter().zip(&found).enumerate() {
        let points = (0..settings.methods.len())
            .map(|at| {
                let spread = accuracy(comparison, at);
                (at as f64, spread.mean, spread.sd)
            })
            .collect();
        marks.push(Mark::Means { name: set.clone(), points, colour });
        let ends = accuracy(comparison, settings.methods.len() - 1).mean - accuracy(comparison, 0).mean;
        out.number(format!("{set} largest order over smallest"), ends);
    }
    let names: Vec<&str> = settings.methods.iter().map(|m| &*m.label).collect();
    let label = format!("order: {}", names.join(", "));
    let title = "The order of the decisiveness".to_owned();
    out.figure("orders", 1, vec![Chart { title, x: Axis::new(&label), y: Axis::new("ACC"), marks }]);
    out.tables.push(table(&settings, &found));
    Ok(out)
}
