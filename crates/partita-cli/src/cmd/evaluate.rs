//! `partita evaluate`.

use super::show;
use crate::args::EvaluateArgs;
use crate::outputs;
use crate::summary;
use anyhow::Result;
use partita::metrics::{Scores, scores};
use partita_job::labels_to_compare;
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
    let (truth, pred, notes) = labels_to_compare(&args.truth, &args.pred, args.header)?;
    show(&notes);
    let scores = scores(&truth, &pred)?;
    let left_out = truth.iter().zip(&pred).filter(|(t, p)| **t < 0 || **p < 0).count();
    if args.json {
        return outputs::print_json(&Evaluation { scores, left_out });
    }
    let note = match left_out {
        0 => String::new(),
        _ => format!("  ({left_out} of {} rows left out: a label is -1 or empty)", truth.len()),
    };
    Ok(outputs::print(&(summary::truth(scores) + &note + "\n"))?)
}
