//! `partita evaluate`.

use super::show;
use crate::args::EvaluateArgs;
use crate::outputs;
use crate::summary;
use anyhow::Result;
use partita::metrics::scores;
use partita_job::labels_to_compare;

pub fn run(args: &EvaluateArgs) -> Result<()> {
    let (truth, pred, notes) = labels_to_compare(&args.truth, &args.pred)?;
    show(&notes);
    let scores = scores(&truth, &pred)?;
    match args.json {
        true => outputs::print_json(&scores),
        false => Ok(outputs::print(&(summary::truth(scores) + "\n"))?),
    }
}
