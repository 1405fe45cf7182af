//! `partita compare`.

use super::{opened, show};
use crate::args::{CompareArgs, Format};
use crate::console;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::{Result, bail};
use partita::compare::{Comparison, MethodResult, Setting, Spread, compare};
use partita::linear::Input;
use partita_job::export::{check_files, write};
use partita_job::{DataSpec, Dataset, Field, Resources, contenders};
use partita_study::table::{Table, words};
use std::path::Path;

pub fn run(args: &CompareArgs) -> Result<()> {
    let contenders = contenders(&args.methods)?;
    let inputs = args.read.inputs(&[args.truth.as_deref()]);
    let output = outputs::file(args.output.as_deref());
    let format = outputs::format(args.format, output)?;
    check_files(output.as_slice(), &inputs)?;
    let terminal = Terminal::new(format != Format::Json || output.is_some())?;
    let resources = Resources { result: output.map(Path::to_owned), ..args.read.resources() };
    let beside: Vec<(Field, &Path)> =
        args.truth.as_deref().map(|typed| (Field::Truth, typed)).into_iter().collect();
    let spec = DataSpec { label_header: args.label_header, ..args.read.spec() };
    let dataset = opened(Dataset::open_beside(&spec, &beside, &resources, &terminal))?;
    let truth = args.truth.as_deref().map(|typed| dataset.labels(typed, Field::Truth)).transpose()?;
    let truth = truth.map(|(labels, notes)| {
        show(&notes);
        labels
    });
    let rows = dataset.rows()?;
    let input = Input { widths: dataset.widths(), memory: resources.memory, ..Input::new(&rows) };
    let setting = Setting {
        k: args.k,
        restarts: args.restarts,
        epochs: args.epochs,
        prepare: args.prepare.into(),
        dims: args.dims,
    };
    let seeds: Vec<u64> = (0..args.seeds as u64).map(|i| args.seed.wrapping_add(i)).collect();
    resources.on_threads(|| {
        let truth = truth.as_ref().map(|t| &*t.values);
        let found = compare(&input, truth, &contenders, &setting, &seeds, &terminal)
            .map_err(|error| dataset.explained(error.into()))?;
        terminal.finish();
        let failures: Vec<String> = found.methods.iter().filter_map(failure).collect();
        if failures.len() == found.methods.len() {
            dataset.check_complete()?;
            bail!("no method could be run; {}", failures.join("; "));
        }
        failures.iter().for_each(|failure| console::note(format!("note: {failure}")));
        let text = text(format, &found)?;
        Ok(output.map_or_else(|| outputs::print(&text), |path| write(path, text.as_bytes()))?)
    })?
}

fn text(format: Format, found: &Comparison) -> Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(found)? + "\n",
        Format::Md => table(found).markdown(),
        Format::Csv => figures(found).csv(),
        Format::Html => table(found).html(),
    })
}

/// Numbers for a person: mean ± sd in one cell.
fn table(found: &Comparison) -> Table {
    let truth = found.methods.iter().flat_map(|m| &m.runs).any(|run| run.scores.is_some());
    let headings = match truth {
        true => vec!["method", "ACC", "best by loss", "NMI", "ARI", "agreement", "p", "loss", "seconds"],
        false => {
            vec!["method", "silhouette", "agreement", "doubt", "margin", "clusters", "loss", "seconds"]
        }
    };
    let row = |m: &MethodResult| match truth {
        true => against_truth(m),
        false => by_itself(m),
    };
    let mut notes = vec![format!(
        "{} each where a method has restarts; the same rows and preparation for all. \
         Losses are each method's own and not comparable.{}",
        match (found.seeds.len(), counted(found.restarts, "restart")) {
            (1, restarts) => format!("One seed, {restarts}"),
            (seeds, restarts) => format!("Mean ± sd over {seeds} seeds, {restarts}"),
        },
        if found.seeds.len() > 1 { " Agreement: mean ARI between seeds." } else { "" }
    )];
    if truth {
        notes.push(
            "Best by loss: ACC of the run with the method's lowest loss, which is what a user without labels would \
             keep. p: paired permutation test of ACC against the first method, two-sided."
                .to_owned(),
        );
    }
    notes.extend(found.methods.iter().filter_map(failure));
    Table {
        title: format!("{} rows of {} features in {} clusters", found.n, found.m, found.k),
        headings: words(&headings),
        rows: found.methods.iter().filter(|m| m.failure.is_none()).map(row).collect(),
        notes,
    }
}

/// A number of things.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn failure(method: &MethodResult) -> Option<String> {
    method.failure.as_ref().map(|why| format!("{} could not be run: {why}", method.name))
}

fn against_truth(m: &MethodResult) -> Vec<String> {
    let best = m.best.and_then(|at| m.runs[at].scores);
    vec![
        m.name.clone(),
        percent(m.spread(|r| r.scores.map(|s| s.acc))),
        best.map_or_else(dash, |s| format!("{:.1}", 100.0 * s.acc)),
        percent(m.spread(|r| r.scores.map(|s| s.nmi))),
        percent(m.spread(|r| r.scores.map(|s| s.ari))),
        m.agreement.map_or_else(dash, |a| format!("{a:.3}")),
        m.p_value.map_or_else(dash, |p| format!("{p:.3}")),
        spread(m.spread(|r| Some(r.loss)), 4),
        spread(m.spread(|r| Some(r.seconds)), 2),
    ]
}

fn by_itself(m: &MethodResult) -> Vec<String> {
    vec![
        m.name.clone(),
        spread(m.spread(|r| r.silhouette), 3),
        m.agreement.map_or_else(dash, |a| format!("{a:.3}")),
        spread(m.spread(|r| r.decisiveness), 3),
        spread(m.spread(|r| r.margin), 3),
        spread(m.spread(|r| Some(r.clusters_in_use as f64)), 1),
        spread(m.spread(|r| Some(r.loss)), 4),
        spread(m.spread(|r| Some(r.seconds)), 2),
    ]
}

/// Numbers for a program: one row for each run.
fn figures(found: &Comparison) -> Table {
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
    let rows = found.methods.iter().flat_map(|m| {
        m.runs.iter().enumerate().map(move |(at, r)| {
            vec![
                m.name.clone(),
                r.seed.to_string(),
                number(r.scores.map(|s| s.acc)),
                number(r.scores.map(|s| s.nmi)),
                number(r.scores.map(|s| s.ari)),
                number(r.silhouette),
                number(r.decisiveness),
                number(r.margin),
                r.clusters_in_use.to_string(),
                r.loss.to_string(),
                u8::from(m.best == Some(at)).to_string(),
                r.seconds.to_string(),
            ]
        })
    });
    Table {
        title: String::new(),
        headings: words(&[
            "method",
            "seed",
            "acc",
            "nmi",
            "ari",
            "silhouette",
            "decisiveness",
            "margin",
            "clusters_in_use",
            "loss",
            "lowest_loss",
            "seconds",
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn dash() -> String {
    "–".to_owned()
}

fn percent(spread: Option<Spread>) -> String {
    spread.map_or_else(dash, |s| format!("{:.1}", s.times(100.0)))
}

fn spread(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or_else(dash, |s| format!("{s:.digits$}"))
}
