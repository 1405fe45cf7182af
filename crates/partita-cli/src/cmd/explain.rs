//! `partita explain`.

use super::opened;
use crate::args::ExplainArgs;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::Result;
use partita_data::model_file::ModelFile;
use partita_job::{Dataset, explain};
use serde_json::json;

pub fn run(args: &ExplainArgs) -> Result<()> {
    let file = ModelFile::read(&args.model)?;
    let (terminal, resources) = (Terminal::new(!args.json)?, args.read.resources());
    let dataset = opened(Dataset::open_for_model(&file, &args.read.spec(), &[], &resources, &terminal))?;
    terminal.finish();
    let row = match &args.id {
        Some(id) => dataset.row_of(id)?,
        None => dataset.row_numbered(args.row.unwrap_or_default())?,
    };
    let number = dataset.row_numbers().map_or(row, |numbers| numbers[row]);
    let id = dataset.ids().and_then(|ids| ids.get(row));
    let why = explain(&file, &dataset, row)?;
    let names = &file.names;
    let top = why.reasons.iter().take(args.top);
    if args.json {
        let list: Vec<_> = top
            .map(|reason| {
                let mut object = json!({ "feature": reason.feature, "index": reason.index, "contribution": reason.contribution });
                if let Some(said) = &reason.text {
                    object["value"] = json!(reason.value);
                    object["said"] = json!(said);
                }
                object
            })
            .collect();
        return outputs::print_json(&json!({
            "row": number, "id": id, "cluster": why.cluster, "name": names.clusters.get(why.cluster), "runner_up": why.runner_up,
            "proba": why.proba, "base": why.base, "contributions": list,
        }));
    }
    let lead: f64 = why.base + why.reasons.iter().map(|reason| reason.contribution).sum::<f64>();
    let mut text = format!(
        "row {number}{} goes to cluster {} with probability {:.4}; the runner-up is cluster {} with {:.4}\n",
        id.map(|id| format!(" ('{id}')")).unwrap_or_default(),
        names.cluster(why.cluster),
        why.proba[why.cluster],
        names.cluster(why.runner_up),
        why.proba[why.runner_up]
    );
    text += &format!("lead of {lead:.3} in logits, {:.3} of it before any feature:\n", why.base);
    for reason in top {
        let what = reason.text.clone().unwrap_or_else(|| format!("feature {}", reason.feature));
        text += &format!("  {:>+9.4}  {what}\n", reason.contribution);
    }
    Ok(outputs::print(&text)?)
}
