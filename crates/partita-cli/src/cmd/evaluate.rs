//! `partita evaluate`.

use crate::args::EvaluateArgs;
use crate::outputs;
use crate::summary;
use anyhow::Result;
use partita::metrics::{Scores, scores};
use partita_data::read_labels;
use partita_job::labels_of;
use serde::Serialize;

/// The scores, and what they do not cover.
#[derive(Serialize)]
struct Evaluation {
    #[serde(flatten)]
    scores: Scores,
    /// Rows whose true or predicted label is unknown.
    left_out: usize,
}

pub fn run(args: &EvaluateArgs) -> Result<()> {
    let truth = read_labels(&args.truth)?;
    let pred = labels_of(&args.pred, truth.values.len(), None)?;
    let scores = scores(&truth.values, &pred.values)?;
    let left_out = truth.values.iter().zip(&pred.values).filter(|(t, p)| **t < 0 || **p < 0).count();
    if args.json {
        return outputs::print_json(&Evaluation { scores, left_out });
    }
    let note = match left_out {
        0 => String::new(),
        _ => format!("  ({left_out} of {} rows left out: a label is -1 or empty)", truth.values.len()),
    };
    Ok(outputs::print(&(summary::truth(scores) + &note + "\n"))?)
}
