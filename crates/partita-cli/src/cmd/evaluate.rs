//! `partita evaluate`.

use super::outputs;
use crate::args::EvaluateArgs;
use crate::input::labels_of;
use crate::summary;
use anyhow::Result;
use partita::metrics::scores;
use partita_data::read_labels;

pub fn run(args: &EvaluateArgs) -> Result<()> {
    let truth = read_labels(&args.truth)?;
    let pred = labels_of(&args.pred, truth.values.len())?;
    let scores = scores(&truth.values, &pred.values)?;
    if args.json { outputs::print_json(&scores) } else { outputs::print(&(summary::truth(scores) + "\n")) }
}
