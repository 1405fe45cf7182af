//! Tables that take hours or a graphics processor: the paper's cells, the command of each, and what is on record.
//!
//! Nothing is run here. Results are kept in `reproduce/recorded/NAME.toml`, one `[[run]]` for each network, data set, method and
//! budget that somebody ran, with the exact command. Where another method is ahead of ours at the same budget, a
//! `[[behind]]` must say why.

use super::{Context, Findings};
use crate::error::{Result, StudyError};
use crate::table::{Table, words};
use partita::compare::Spread;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Its name in [`FILES`].
    file: String,
    /// What is measured on each set: ACC, or ACC, NMI and ARI.
    metrics: Vec<String>,
    /// The command of a cell, with {files}, {k}, {set}, {method} and {seed} in it.
    command: String,
    /// Runs of the paper, with seeds from 0.
    seeds: u64,
    sets: Vec<Set>,
    methods: Vec<Method>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    k: usize,
    files: String,
    /// Options of this set.
    #[serde(default)]
    options: String,
    /// What stands for {NAME} in the options of methods.
    #[serde(default)]
    own: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    label: String,
    /// Options of this method.
    options: String,
    /// The paper's numbers as printed, metric after metric and set after set.
    paper: Vec<String>,
}

/// What is on record.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    #[serde(default)]
    pub run: Vec<Run>,
    #[serde(default)]
    pub behind: Vec<Behind>,
}

/// Some seeds of one method on one set.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub set: String,
    pub method: String,
    /// The network, if it is not the table's.
    pub net: String,
    /// Images trained on.
    pub images: u64,
    pub epochs: u64,
    pub seeds: Vec<u64>,
    /// In per cent, one for each seed.
    pub acc: Vec<f64>,
    #[serde(default)]
    pub nmi: Vec<f64>,
    #[serde(default)]
    pub ari: Vec<f64>,
    /// Minutes of one seed, and on what machine.
    pub minutes: f64,
    pub machine: String,
    pub command: String,
    /// What else differs from the paper.
    #[serde(default)]
    pub note: String,
}

/// Why ours is behind another method.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behind {
    pub set: String,
    pub method: String,
    pub net: String,
    pub why: String,
}

/// Files of results, by name.
pub const FILES: &[(&str, &str)] = &[
    ("table4", include_str!("../../reproduce/recorded/table4.toml")),
    ("table5", include_str!("../../reproduce/recorded/table5.toml")),
    ("table6", include_str!("../../reproduce/recorded/table6.toml")),
];

impl Recorded {
    /// From the text of a file; errors mention `name`.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let bad = |why: String| StudyError::Spec { name: format!("recorded/{name}.toml"), why };
        let found: Self = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        for run in &found.run {
            let counts = [&run.acc, &run.nmi, &run.ari].map(|values| values.len());
            if run.seeds.is_empty()
                || counts[0] != run.seeds.len()
                || counts[1..].iter().any(|c| *c != 0 && *c != counts[0])
            {
                let why = format!("{} on {}: as many numbers as seeds are needed", run.method, run.set);
                return Err(bad(why));
            }
        }
        Ok(found)
    }

    /// Runs in which another method is ahead of ours at the same budget.
    fn ahead(&self) -> Vec<&Run> {
        let same =
            |a: &Run, b: &Run| (&a.set, &a.net, a.images, a.epochs) == (&b.set, &b.net, b.images, b.epochs);
        let ours = |run: &&Run| run.method == "ours";
        let lost =
            |run: &&Run| self.run.iter().filter(ours).any(|o| same(o, run) && mean(&o.acc) < mean(&run.acc));
        self.run.iter().filter(|run| run.method != "ours").filter(lost).collect()
    }

    fn why(&self, run: &Run) -> Option<&str> {
        let about = |b: &&Behind| (&b.set, &b.method, &b.net) == (&run.set, &run.method, &run.net);
        self.behind.iter().find(about).map(|b| &*b.why)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean ± sd as text; empty without values.
fn spread(values: &[f64]) -> String {
    match (values, Spread::of(values.iter().copied())) {
        ([one], _) => format!("{one:.1}"),
        (_, Some(spread)) => format!("{spread:.1}"),
        _ => String::new(),
    }
}

/// The paper's numbers, one line for each method.
fn paper(settings: &Settings) -> Table {
    let mut headings = words(&["method"]);
    for set in &settings.sets {
        headings.extend(settings.metrics.iter().map(|metric| format!("{} {metric}", set.name)));
    }
    let row = |method: &Method| std::iter::once(&method.label).chain(&method.paper).cloned().collect();
    let rows = settings.methods.iter().map(row).collect();
    Table { title: "The paper's numbers, per cent (sd)".to_owned(), headings, rows, notes: Vec::new() }
}

/// One line for each run on record.
fn on_record(recorded: &Recorded) -> Table {
    let row = |run: &Run| {
        vec![
            format!("{}, {}", run.set, run.method),
            run.net.clone(),
            format!("{} images, {} epochs, {} seeds", run.images, run.epochs, run.seeds.len()),
            spread(&run.acc),
            spread(&run.nmi),
            spread(&run.ari),
            format!("{:.0}, {}", run.minutes, run.machine),
            run.note.clone(),
            run.command.clone(),
        ]
    };
    let headings =
        words(&["cell", "network", "budget", "ACC", "NMI", "ARI", "minutes of a seed", "note", "command"]);
    let title = "On record (not run now), per cent, mean ± sd of the seeds".to_owned();
    let told = |run: &Run| {
        let why = recorded.why(run).unwrap_or("no reason is recorded");
        format!("On {} ({}), {} is ahead of ours at the same budget: {why}.", run.set, run.net, run.method)
    };
    let notes = recorded.ahead().into_iter().map(told).collect();
    Table { title, headings, rows: recorded.run.iter().map(row).collect(), notes }
}

/// The command of every cell.
fn commands(settings: &Settings) -> Table {
    let mut rows = Vec::new();
    for set in &settings.sets {
        for method in &settings.methods {
            let mut text =
                settings.command.replace("{set}", &set.options).replace("{method}", &method.options);
            text = text.replace("{files}", &set.files).replace("{k}", &set.k.to_string());
            for (name, value) in &set.own {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            rows.push(vec![format!("{}, {}", set.name, method.label), text.replace("{seed}", "$seed")]);
        }
    }
    let title = format!("The command of each cell, for seed in 0 … {}", settings.seeds.saturating_sub(1));
    Table { title, headings: words(&["cell", "command"]), rows, notes: Vec::new() }
}

fn check(settings: &Settings, name: &str) -> Result<()> {
    let columns = settings.sets.len() * settings.metrics.len();
    match settings.methods.iter().find(|method| method.paper.len() != columns) {
        None => Ok(()),
        Some(method) => Err(StudyError::Spec {
            name: name.to_owned(),
            why: format!("{} has {} numbers of the paper, not {columns}", method.name, method.paper.len()),
        }),
    }
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    check(&settings, &context.spec.title)?;
    let file = FILES.iter().find(|(name, _)| *name == settings.file).ok_or_else(|| StudyError::Spec {
        name: context.spec.title.clone(),
        why: format!("there is no file of results {}", settings.file),
    })?;
    let recorded = Recorded::parse(file.0, file.1)?;
    let mut out = Findings::default();
    out.tables.push(paper(&settings));
    if !recorded.run.is_empty() {
        out.tables.push(on_record(&recorded));
    }
    out.tables.push(commands(&settings));
    let has = |set: &Set, method: &Method| {
        recorded.run.iter().any(|r| r.set == set.name && r.method == method.name)
    };
    let cells = settings.sets.iter().flat_map(|set| settings.methods.iter().map(move |m| has(set, m)));
    let count = cells.filter(|recorded| *recorded).count();
    out.recorded = Some((count, settings.sets.len() * settings.methods.len()));
    let silent = recorded.ahead().into_iter().filter(|run| recorded.why(run).is_none()).count();
    out.number("behind without a reason", silent as f64);
    out.number("behind", recorded.ahead().len() as f64);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ours: f64, other: f64) -> String {
        let run = |method: &str, acc: f64| {
            format!(
                "[[run]]\nset = 'mnist'\nmethod = '{method}'\nnet = 'vgg4'\nimages = 10\nepochs = 1\nseeds = [0]\nacc = [{acc}]\n\
                 minutes = 1.0\nmachine = 'm'\ncommand = 'c'\n"
            )
        };
        run("ours", ours) + &run("imsat", other)
    }

    #[test]
    fn a_loss_on_record_needs_its_reason() {
        assert!(Recorded::parse("t", &text(2.0, 1.0)).unwrap().ahead().is_empty());
        let lost = Recorded::parse("t", &text(1.0, 2.0)).unwrap();
        assert!(lost.ahead().len() == 1 && lost.why(lost.ahead()[0]).is_none());
        let why = "[[behind]]\nset = 'mnist'\nmethod = 'imsat'\nnet = 'vgg4'\nwhy = 'w'\n";
        let told = Recorded::parse("t", &(text(1.0, 2.0) + why)).unwrap();
        assert_eq!(told.why(told.ahead()[0]), Some("w"));
    }

    #[test]
    fn numbers_without_seeds_are_refused() {
        let wrong = text(1.0, 2.0).replace("seeds = [0]", "seeds = [0, 1]");
        let told = Recorded::parse("t", &wrong).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(told.contains("recorded/t.toml") && told.contains("as many numbers as seeds"), "{told}");
    }

    #[test]
    fn what_is_shipped_can_be_read() {
        for (name, text) in FILES {
            Recorded::parse(name, text).unwrap();
        }
    }
}
