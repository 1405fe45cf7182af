//! `partita update`.

use super::fit::Summary;
use super::outputs;
use crate::args::UpdateArgs;
use crate::input::{Opened, labels_of, on_threads};
use crate::progress::Terminal;
use crate::summary::{self, Written};
use anyhow::Result;
use partita::linear::{Input, Params, Prior, fit};
use partita::metrics::scores;
use partita::rows::Rows;
use partita_data::model_file::ModelFile;

pub fn run(args: &UpdateArgs) -> Result<()> {
    let output = args.output.as_deref().unwrap_or(&args.model);
    let labels = args.labels_out.as_deref();
    outputs::check(Some(output), labels, None, &args.read.inputs(&[args.truth.as_deref()]))?;
    outputs::apart(labels.as_slice(), &[&args.model])?;
    let terminal = Terminal::new(!args.json)?;
    let old = ModelFile::read(&args.model)?;
    let opened = Opened::new(&args.read)?;
    let rows = opened.rows()?;
    let truth = args.truth.as_deref().map(|path| labels_of(path, rows.n())).transpose()?;
    let params = going_on(&old, args.epochs);
    let input = Input {
        widths: rows.widths(),
        warm_start: Some(&old.model),
        memory: args.read.memory,
        ..Input::new(&rows)
    };
    on_threads(args.read.threads, || {
        let mut found = fit(&input, &params, &terminal)?;
        terminal.finish();
        found.report.stop.not_interrupted()?;
        found.number_like(&old.model, &rows)?;
        let metrics = truth.as_ref().map(|t| scores(&t.values, &found.labels)).transpose()?;
        if let Some(path) = &args.labels_out {
            let labels = Some(&*found.labels);
            outputs::predictions(&found.model, &rows, opened.ids(), labels, (Some(path), None))?;
        }
        // The options of the first fit stay: they say how the model was made, and serve the next update.
        ModelFile::new(found.model, old.params.clone()).write(output)?;
        if args.json {
            let threads = rayon::current_num_threads();
            let summary = Summary { report: &found.report, balance: None, metrics, params: &params, threads };
            outputs::print_json(&summary)
        } else {
            let mut written: Vec<Written<'_>> = vec![("model", output)];
            written.extend(args.labels_out.as_deref().map(|path| ("labels", path)));
            outputs::print(&summary::text(&found.report, None, metrics, &written))
        }
    })?
}

/// The options of the model's fit, for a few more steps from where it ended.
fn going_on(old: &ModelFile, epochs: usize) -> Params {
    let prior = Prior::Given(old.model.shares());
    Params { restarts: 1, epochs: Some(epochs), prior, ..old.params.clone() }
}
