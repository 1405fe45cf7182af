//! `partita explain`.

use super::opened;
use crate::args::ExplainArgs;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::Result;
use partita_data::model_file::ModelFile;
use partita_job::Dataset;
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
    let why = file.model.explain(&dataset.rows()?, row).map_err(|error| dataset.explained(error.into()))?;
    let names = &file.names;
    let top = why.contributions.iter().take(args.top);
    if args.json {
        let list: Vec<_> = top
            .map(|c| json!({ "feature": dataset.feature(c.feature), "index": c.feature, "contribution": c.value }))
            .collect();
        return outputs::print_json(&json!({
            "row": number, "id": id, "cluster": why.cluster, "name": names.clusters.get(why.cluster), "runner_up": why.runner_up,
            "proba": why.proba, "base": why.base, "contributions": list,
        }));
    }
    let lead: f64 = why.base + why.contributions.iter().map(|c| c.value).sum::<f64>();
    let mut text = format!(
        "row {number}{} goes to cluster {} with probability {:.4}; the runner-up is cluster {} with {:.4}\n",
        id.map(|id| format!(" ('{id}')")).unwrap_or_default(),
        names.cluster(why.cluster),
        why.proba[why.cluster],
        names.cluster(why.runner_up),
        why.proba[why.runner_up]
    );
    text += &format!("lead of {lead:.3} in logits, {:.3} of it before any feature:\n", why.base);
    for c in top {
        text += &format!("  {:>+9.4}  feature {}\n", c.value, dataset.feature(c.feature));
    }
    Ok(outputs::print(&text)?)
}
