//! Gradient descent on the entropies and the self-labelling losses: the same clusters, the same widest margins.

use super::paths::beside;
use super::{Context, Findings};
use crate::error::Result;
use crate::labelings::{Small, angle};
use crate::table::{Table, words};
use crate::toy::{Minimum, Toy, ToySettings};
use partita::margin::Classifier;
use partita::metrics::ari;
use partita::objective::{BatchObjective, MutualInformation, SelfLabelled};
use partita::pseudo::{Exact, Miadm, PseudoLabels, Renyi};
use partita::simplex::uniform;
use rayon::prelude::*;
use serde::Deserialize;

/// A loss: its name, and how it is made for K clusters.
type Named = (&'static str, fn(usize) -> Box<dyn BatchObjective>);

const LOSSES: [Named; 4] = [
    ("entropies by gradient", |k| Box::new(MutualInformation::new(k))),
    ("ours", |k| labelled(k, Box::new(Exact { tolerance: 1e-14, ..Exact::default() }), 100.0)),
    ("labels of order 2", |k| labelled(k, Box::new(Renyi { tolerance: 1e-14, ..Renyi::new(2.0) }), 100.0)),
    ("MIADM's", |k| labelled(k, Box::new(Miadm::Exact), 1.0)),
];

fn labelled(k: usize, solver: Box<dyn PseudoLabels>, lambda: f64) -> Box<dyn BatchObjective> {
    Box::new(SelfLabelled { solver, prior: uniform(k), lambda })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toys {
    toys: Vec<Case>,
    starts: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    toy: ToySettings,
    gammas: Vec<f64>,
}

/// The global minima of all losses on the toys.
pub fn toys(context: &Context<'_>) -> Result<Findings> {
    let settings: Toys = context.spec.settings()?;
    let mut out = Findings::default();
    let mut rows = Vec::new();
    let (mut done, all) = (0.0, settings.toys.iter().map(|t| t.gammas.len()).sum::<usize>() as f64);
    for case in &settings.toys {
        let toy = Toy::draw(&case.toy);
        for &gamma in &case.gammas {
            context.progress(done / all)?;
            done += 1.0;
            let lowest = |(_, make): &Named| toy.lowest(&*make(toy.k), gamma, settings.starts);
            let found: Vec<Minimum<Classifier>> = LOSSES.par_iter().map(lowest).collect::<Result<_>>()?;
            let mut row = vec![case.name.clone(), gamma.to_string()];
            for ((name, _), minimum) in LOSSES.iter().zip(&found) {
                let same = ari(&found[0].labels, &minimum.labels)?;
                out.number(format!("{name}, {}, {gamma}", case.name), same);
                row.push(format!("{:.2}, {same:.2}", toy.accuracy(&minimum.labels)?));
            }
            rows.push(row);
        }
    }
    let mut headings = words(&["toy", "γ"]);
    headings.extend(LOSSES.map(|(name, _)| name.to_owned()));
    let title = "Accuracy of the lowest minimum, and its ARI with that of the entropies".to_owned();
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Widest {
    rows: usize,
    k: usize,
    seeds: Vec<u64>,
    /// From large to small.
    gammas: Vec<f64>,
}

/// The lowest minimum of a loss over starts at every separable fair labelling; for each γ its place among the widest, and angle.
fn lowest(small: &Small, loss: &dyn BatchObjective, gammas: &[f64]) -> Result<Vec<(Option<usize>, f64)>> {
    let toy = Toy::of(small.x.clone(), small.separable[0].labels.clone(), small.k);
    let one = |&gamma: &f64| {
        let mut best: Option<Minimum<Classifier>> = None;
        for labelling in &small.separable {
            let start = beside(small, labelling)?;
            // About as decided as the minimum will be.
            let size = (1.0 / gamma).ln() / labelling.widest.margin;
            let grown = |values: &[f64]| values.iter().map(|v| size * v).collect();
            let found =
                toy.descend(loss, gamma, &Classifier::new(grown(&start.weights), grown(&start.biases), 2)?)?;
            if best.as_ref().is_none_or(|best| found.loss < best.loss) {
                best = Some(found);
            }
        }
        let best = best.expect("a separable labelling");
        let place = small.separable.iter().position(|l| ari(&l.labels, &best.labels).is_ok_and(|a| a == 1.0));
        Ok((place, angle(&best.at, &small.separable[0].widest.classifier)?))
    };
    gammas.iter().map(one).collect()
}

/// Whether every loss ends at the widest fair labelling of small sets.
pub fn widest(context: &Context<'_>) -> Result<Findings> {
    let settings: Widest = context.spec.settings()?;
    let mut out = Findings::default();
    let smalls: Vec<Small> = settings
        .seeds
        .iter()
        .map(|&seed| Small::draw(settings.rows, settings.k, seed))
        .collect::<Result<_>>()?;
    let mut rows = Vec::new();
    for (at, (name, make)) in LOSSES.iter().enumerate() {
        context.progress(at as f64 / LOSSES.len() as f64)?;
        let one = |small: &Small| lowest(small, &*make(small.k), &settings.gammas);
        let found: Vec<Vec<(Option<usize>, f64)>> = smalls.par_iter().map(one).collect::<Result<_>>()?;
        let share = |g: usize| {
            let won = found.iter().filter(|found| found[g].0 == Some(0)).count();
            won as f64 / found.len() as f64
        };
        let last = settings.gammas.len() - 1;
        let angles = found.iter().filter(|f| f[last].0 == Some(0)).map(|f| f[last].1);
        let widest = angles.fold(0.0, f64::max);
        out.number(format!("widest wins, {name}"), share(last));
        out.number(format!("angle, {name}"), widest);
        let mut row = vec![(*name).to_owned()];
        row.extend((0..=last).map(|g| format!("{:.0} %", 100.0 * share(g))));
        row.push(format!("{widest:.1e}"));
        rows.push(row);
    }
    let mut headings = words(&["loss"]);
    headings.extend(settings.gammas.iter().map(|gamma| format!("γ = {gamma:.0e}")));
    headings.push("largest angle at the last".to_owned());
    let title = format!(
        "Sets of {} on which the lowest minimum is the widest of all fair labelings ({} rows, K = {})",
        smalls.len(),
        settings.rows,
        settings.k
    );
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}
