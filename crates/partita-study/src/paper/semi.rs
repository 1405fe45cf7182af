//! A few known labels: every loss beside the cross-entropy of the known rows, judged on rows that were not trained on.

use super::{Context, Findings};
use crate::error::Result;
use crate::library::DataSet;
use crate::table::{Table, words};
use partita::compare::{Contender, Spread};
use partita::linear::{Input, Optimiser, Params, fit};
use partita::report::Silent;
use partita::rng::{Stream, stream};
use partita::rows::{Rows, Subset};
use rand::seq::SliceRandom;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    set: String,
    k: usize,
    /// Draws of the known labels.
    seeds: u64,
    /// Shares of the rows whose labels are known.
    shares: Vec<f64>,
    /// Share of the rows that are only judged on.
    held_out: f64,
    restarts: usize,
    methods: Vec<Method>,
}

/// A method and the paper's accuracies at the shares, in per cent. The one called `seeds` has the known rows alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    label: String,
    paper: Option<Vec<f64>>,
}

/// Rows to train on and rows to judge on.
struct Split {
    train: Vec<usize>,
    test: Vec<usize>,
}

impl Split {
    fn of(n: usize, held_out: f64) -> Self {
        let mut train: Vec<usize> = (0..n).collect();
        train.shuffle(&mut stream(0, Stream::Sample, 0));
        let test = train.split_off(n - (n as f64 * held_out).round() as usize);
        Self { train, test }
    }
}

/// Labels of a share of these rows, as many of every class; −1 for the others.
fn known(truth: &[i64], rows: &[usize], k: usize, share: f64, seed: u64) -> Vec<i32> {
    let each = ((share * rows.len() as f64 / k as f64).round() as usize).max(1);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut stream(seed, Stream::Sample, 1));
    let (mut left, mut known) = (vec![each; k], vec![-1; rows.len()]);
    for at in order {
        let class = truth[rows[at]] as usize;
        if left[class] > 0 {
            left[class] -= 1;
            known[at] = class as i32;
        }
    }
    known
}

/// One fit: the share of held-out rows whose cluster is their class, without matching.
fn judge(
    set: &DataSet,
    split: &Split,
    (method, known_weight): (&Method, f64),
    (settings, share, seed): (&Settings, f64, u64),
) -> Result<f64> {
    let mut labels = known(&set.truth, &split.train, settings.k, share, seed);
    let mut rows = split.train.clone();
    // The steps of plain descent grow with the weight of a term; those of Adam do not, so that both ways are trained alike.
    let (restarts, optimiser) = (settings.restarts, Optimiser::Adam);
    let mut params = Params { restarts, optimiser, seed, known_weight, ..Params::new(settings.k) };
    if method.name == "seeds" {
        let chosen: Vec<usize> = (0..rows.len()).filter(|&at| labels[at] >= 0).collect();
        rows = gather_of(&rows, &chosen);
        labels = gather_of(&labels, &chosen);
    } else if let Contender::Linear { loss, refresh, solver, .. } = method.name.parse()? {
        params = Params { loss, refresh, solver, ..params };
    }
    let (train, test) = (Subset::new(&set.rows, rows), Subset::new(&set.rows, split.test.clone()));
    let input = Input { known: Some(&labels), ..Input::new(&train) };
    let found = fit(&input, &params, &Silent)?.model.predict(&test)?;
    let right = found.iter().zip(&split.test).filter(|(label, row)| i64::from(**label) == set.truth[**row]);
    Ok(right.count() as f64 / split.test.len() as f64)
}

fn gather_of<T: Copy>(from: &[T], at: &[usize]) -> Vec<T> {
    at.iter().map(|&i| from[i]).collect()
}

/// With the cross-entropy of the known rows added as in the paper, and with their labels held alone.
const WEIGHTS: [(&str, f64); 2] = [("added", 1.0), ("held", 0.0)];

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let set = context.library.get(&settings.set)?;
    let split = Split::of(set.rows.n(), settings.held_out);
    let mut out = Findings::default();
    let mut rows = Vec::new();
    for (at, method) in settings.methods.iter().enumerate() {
        let mut row = vec![method.label.clone()];
        for (place, &share) in settings.shares.iter().enumerate() {
            let done = at as f64 + place as f64 / settings.shares.len() as f64;
            context.progress(done / settings.methods.len() as f64)?;
            let paper = method.paper.as_ref().and_then(|paper| paper.get(place));
            row.push(paper.map_or_else(String::new, |p| format!("{p:.1}")));
            for (name, weight) in WEIGHTS {
                // Where all rows are known, their cross-entropy is the loss.
                if method.name == "seeds" && name == "held" {
                    row.push(String::new());
                    continue;
                }
                let each = |seed| judge(&set, &split, (method, weight), (&settings, share, seed));
                let found = (0..settings.seeds).map(each).collect::<Result<Vec<f64>>>()?;
                let spread = Spread::of(found.into_iter()).expect("at least one seed");
                out.number(format!("{} {share} {name}", method.name), spread.mean);
                row.push(format!("{:.1}", spread.times(100.0)));
            }
        }
        rows.push(row);
    }
    leads(&settings, &mut out);
    let mut headings = words(&["method"]);
    for share in &settings.shares {
        let percent = 100.0 * share;
        headings.extend([format!("paper, {percent} %"), "added".to_owned(), "held".to_owned()]);
    }
    let Split { train, test } = &split;
    let title = format!(
        "Accuracy in per cent on {} rows that were not trained on, {} others; mean ± sd of {} draws of the known labels",
        test.len(),
        train.len(),
        settings.seeds
    );
    let notes = vec![
        "added: the mean cross-entropy of the known rows is added to the loss, as in the paper (`--known-weight 1`). held: their pseudo-labels are held at the truth, and each row counts as much as any other."
            .to_owned(),
    ];
    out.tables.push(Table { title, headings, rows, notes });
    Ok(out)
}

/// What ours gains over the known rows alone, with and without the term that is added, over the next method, and by that term.
fn leads(settings: &Settings, out: &mut Findings) {
    for share in &settings.shares {
        let of = |name: &str, how: &str| out.numbers.get(&format!("{name} {share} {how}")).copied();
        let number = |name: &str, how: &str| of(name, how).unwrap_or(f64::NAN);
        let others = settings.methods.iter().filter(|m| m.name != "ours" && m.name != "seeds");
        let next = others.filter_map(|m| of(&m.name, "added")).fold(f64::NEG_INFINITY, f64::max);
        let ours = number("ours", "added");
        let all = [
            ("over the seeds", ours - number("seeds", "added")),
            ("over the next", ours - next),
            ("of adding", ours - number("ours", "held")),
            ("of holding", number("ours", "held") - number("seeds", "added")),
        ];
        all.into_iter().for_each(|(name, lead)| out.number(format!("{share} gain {name}"), lead));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_labels_of_every_class_are_known_and_no_row_is_on_both_sides() {
        let truth: Vec<i64> = (0..400).map(|i| i % 4).collect();
        let split = Split::of(400, 0.25);
        assert_eq!((split.train.len(), split.test.len()), (300, 100));
        assert!(split.test.iter().all(|row| !split.train.contains(row)));
        let labels = known(&truth, &split.train, 4, 0.1, 3);
        let count = |class: i32| labels.iter().filter(|l| **l == class).count();
        assert!((0..4).all(|class| count(class) == 8), "{labels:?}");
        assert!(labels.iter().zip(&split.train).all(|(l, &row)| *l < 0 || i64::from(*l) == truth[row]));
        assert_ne!(labels, known(&truth, &split.train, 4, 0.1, 4));
    }
}
