//! `partita predict`.

use super::opened;
use crate::args::PredictArgs;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::{Result, bail};
use partita_data::{csv_cell, name_cell};
use partita_job::{AnyModel, Block, Dataset, JobError, Outputs, Resources, predict_each, write_predictions};
use serde_json::{Value, json};
use std::path::Path;

pub fn run(args: &PredictArgs) -> Result<()> {
    let sizes = args.sizes.spec();
    let output = outputs::file(args.output.as_deref());
    let resources = Resources { result: output.map(Path::to_owned), ..args.read.resources() };
    let (labels, proba) = if args.proba { (None, output) } else { (output, None) };
    let outputs =
        Outputs { labels: labels.map(Into::into), proba: proba.map(Into::into), ..Outputs::default() };
    let inputs = args.read.inputs(&[Some(&args.model)]);
    outputs.check(&inputs, &resources)?;
    if args.proba && sizes.any() {
        bail!(
            "--proba writes the model's own probabilities, which cannot be given sizes; \
             leave it out, or leave out --balance, --min-size and --max-size"
        );
    }
    let terminal = Terminal::new(output.is_some())?;
    let model = AnyModel::read(&args.model)?;
    let dataset = opened(Dataset::open_like(
        &model,
        &args.read.spec(),
        args.read.options.items.skip_bad,
        &resources,
        &terminal,
    ))?;
    let ids = dataset.ids();
    let mut tally = Tally::new(model.k(), args.json && output.is_none(), args.proba);
    let done = resources.on_threads(|| match output {
        Some(_) => {
            let seen = |block: Block<'_>| tally.count(block);
            write_predictions(&model, &dataset, &sizes, (labels, proba), &terminal, seen)
        }
        None if args.json => predict_each(&model, &dataset, &sizes, &terminal, |block| {
            tally.count(block);
            Ok(())
        }),
        None => {
            let mut text = header(ids.is_some(), args.proba, &model);
            predict_each(&model, &dataset, &sizes, &terminal, |block| {
                lines(&mut text, block, &dataset, (model.cluster_names(), args.proba));
                outputs::print(&std::mem::take(&mut text))
            })
        }
    })?;
    terminal.finish();
    let what = format!("{} on {}", args.model.display(), args.read.data[0].display());
    done.map_err(|error: JobError| error.during(what))?;
    if args.json { outputs::print_json(&tally.json(&model, ids, output)) } else { Ok(()) }
}

/// What the JSON object says: how many rows went where and, if there is no file, where each went.
struct Tally {
    sizes: Vec<usize>,
    outliers: usize,
    /// Whether each row is listed, and whether with all of its probabilities.
    each: bool,
    all: bool,
    labels: Vec<i32>,
    confidence: Vec<f32>,
    proba: Vec<Vec<f32>>,
    scores: Option<Vec<f32>>,
}

impl Tally {
    fn new(k: usize, each: bool, all: bool) -> Self {
        let (labels, confidence, proba) = (Vec::new(), Vec::new(), Vec::new());
        Self { sizes: vec![0; k], outliers: 0, each, all, labels, confidence, proba, scores: None }
    }

    fn count(&mut self, block: Block<'_>) {
        let assigned = block.assigned();
        for label in &assigned {
            match usize::try_from(*label) {
                Ok(cluster) => self.sizes[cluster] += 1,
                Err(_) => self.outliers += 1,
            }
        }
        if !self.each {
            return;
        }
        self.labels.extend(assigned);
        match self.all {
            true => self.proba.extend(block.proba.chunks_exact(block.k).map(<[f32]>::to_vec)),
            false => self.confidence.extend(block.confidence()),
        }
        if let Some(scores) = block.outlier_scores() {
            self.scores.get_or_insert_default().extend(scores);
        }
    }

    fn json(&self, model: &AnyModel, ids: Option<&[String]>, output: Option<&Path>) -> Value {
        let n = self.sizes.iter().sum::<usize>() + self.outliers;
        let names = Some(model.cluster_names()).filter(|names| !names.is_empty());
        let mut object = json!({
            "n": n, "k": self.sizes.len(), "cluster_sizes": self.sizes, "cluster_names": names,
            "outliers": self.outliers, "output": output.map(|path| path.display().to_string()),
        });
        if self.each {
            object["ids"] = json!(ids);
            object["labels"] = json!(self.labels);
            match self.all {
                true => object["proba"] = json!(self.proba),
                false => object["confidence"] = json!(self.confidence),
            }
            if let Some(scores) = &self.scores {
                object["outlier_scores"] = json!(scores);
            }
        }
        object
    }
}

/// The first line of the CSV on standard output.
fn header(named: bool, proba: bool, model: &AnyModel) -> String {
    let first = if named { "id" } else { "row" };
    let scored = model.linear().is_some_and(|model| model.outliers().is_some());
    let names = model.cluster_names();
    match proba {
        true => (0..model.k()).fold(first.to_owned(), |line, c| line + "," + &heading(names, c)) + "\n",
        false => {
            let name = if names.is_empty() { "" } else { ",name" };
            format!("{first},cluster{name},confidence{}\n", if scored { ",outlier_score" } else { "" })
        }
    }
}

/// The heading of the probabilities of a cluster.
fn heading(names: &[String], cluster: usize) -> String {
    names.get(cluster).map_or_else(|| format!("p{cluster}"), |name| csv_cell(&format!("p_{name}")))
}

/// The lines of a block.
fn lines(text: &mut String, block: Block<'_>, dataset: &Dataset<'_>, (names, proba): (&[String], bool)) {
    let (ids, numbers) = (dataset.ids(), dataset.row_numbers());
    let (assigned, scores) = (block.assigned(), block.outlier_scores());
    for (i, (p, &label)) in block.proba.chunks_exact(block.k).zip(block.labels).enumerate() {
        let row = block.start + i;
        let number = || numbers.map_or(row, |numbers| numbers[row]).to_string();
        *text += &ids.map_or_else(number, |ids| csv_cell(&ids[row]));
        match (proba, names) {
            (true, _) => p.iter().for_each(|p| *text += &format!(",{p}")),
            (false, []) => *text += &format!(",{},{}", assigned[i], p[label as usize]),
            (false, names) => {
                *text += &format!(",{},{},{}", assigned[i], name_cell(names, assigned[i]), p[label as usize]);
            }
        }
        if let Some(scores) = scores.filter(|_| !proba) {
            *text += &format!(",{}", scores[i]);
        }
        text.push('\n');
    }
}
