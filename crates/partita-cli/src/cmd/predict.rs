//! `partita predict`.

use super::opened;
use crate::args::PredictArgs;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::{Result, bail};
use partita_data::{csv_cell, name_cell};
use partita_job::{AnyModel, Block, Dataset, JobError, Outputs, predict_each, write_predictions};
use std::path::PathBuf;

pub fn run(args: &PredictArgs) -> Result<()> {
    let (sizes, resources) = (args.sizes.spec(), args.read.resources());
    let (labels, proba) =
        if args.proba { (None, args.output.as_deref()) } else { (args.output.as_deref(), None) };
    let outputs =
        Outputs { labels: labels.map(Into::into), proba: proba.map(Into::into), ..Outputs::default() };
    let inputs = args.read.inputs(&[Some(&args.model)]);
    outputs.check(&inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &resources)?;
    if args.proba && sizes.any() {
        bail!(
            "--proba writes the model's own probabilities, which cannot be given sizes; \
             leave it out, or leave out --balance, --min-size and --max-size"
        );
    }
    let terminal = Terminal::new(args.output.is_some())?;
    let model = AnyModel::read(&args.model)?;
    let dataset = opened(Dataset::open_like(&model, &args.read.spec(), args.skips_bad(), &resources))?;
    let done = resources.on_threads(|| match &args.output {
        Some(_) => write_predictions(&model, &dataset, &sizes, (labels, proba), &terminal),
        None => {
            let mut text = header(dataset.ids().is_some(), args.proba, &model);
            predict_each(&model, &dataset, &sizes, &terminal, |block| {
                lines(&mut text, block, &dataset, (model.cluster_names(), args.proba));
                outputs::print(&std::mem::take(&mut text))
            })
        }
    })?;
    terminal.finish();
    let what = format!("{} on {}", args.model.display(), args.read.data[0].display());
    Ok(done.map_err(|error: JobError| error.during(what))?)
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
