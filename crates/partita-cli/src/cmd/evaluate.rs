//! `partita evaluate`.

use crate::args::EvaluateArgs;
use crate::outputs;
use crate::summary;
use anyhow::Result;
use partita::metrics::scores;
use partita_data::read_labels;
use partita_job::labels_of;

pub fn run(args: &EvaluateArgs) -> Result<()> {
    let truth = read_labels(&args.truth)?;
    let pred = labels_of(&args.pred, truth.values.len(), None)?;
    let scores = scores(&truth.values, &pred.values)?;
    match args.json {
        true => outputs::print_json(&scores),
        false => Ok(outputs::print(&(summary::truth(scores) + "\n"))?),
    }
}
