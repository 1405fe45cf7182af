//! `partita fit`.

use super::{idle, outputs};
use crate::args::{FitArgs, MethodArgs, OptimiserArg};
use crate::input::{Opened, labels_of, on_threads};
use crate::progress::Terminal;
use crate::sizes::Balanced;
use crate::summary::{self, Written};
use anyhow::{Context, Result, bail};
use partita::linear::{Fit, Input, Optimiser, Params, Prior, Report, Solver, fit};
use partita::metrics::{Scores, scores};
use partita::rows::Rows;
use partita_data::model_file::ModelFile;
use partita_data::read_vector;
use serde::Serialize;
use std::path::Path;

/// What `--json` prints.
#[derive(Serialize)]
pub struct Summary<'a> {
    #[serde(flatten)]
    pub report: &'a Report,
    pub balance: Option<Balanced>,
    pub metrics: Option<Scores>,
    pub params: &'a Params,
    pub threads: usize,
}

pub fn run(args: &FitArgs) -> Result<()> {
    #[cfg(feature = "deep")]
    if let Some(net) = args.deep.net {
        return super::deep::run(args, net);
    }
    idle::refuse_of_method(&args.method)?;
    let (labels, proba) = (args.labels_out.as_deref(), args.proba_out.as_deref());
    outputs::check(args.output.as_deref(), labels, proba, &args.inputs())?;
    // A new model may take the place of the one it is like; labels and probabilities may not.
    let tables: Vec<&Path> = [labels, proba].into_iter().flatten().collect();
    outputs::apart(&tables, args.like.as_deref().as_slice())?;
    let terminal = Terminal::new(!args.json)?;
    let opened = Opened::new(&args.read)?;
    let rows = opened.rows()?;
    let params = params(args, rows.n())?;
    let truth = args.truth.as_deref().map(|path| labels_of(path, rows.n())).transpose()?;
    let known = args.known.as_deref().map(|path| known_labels(path, rows.n(), args.k)).transpose()?;
    let weights = args.weights.as_deref().map(row_weights).transpose()?;
    let like = args.like.as_deref().map(ModelFile::read).transpose()?.map(|file| file.model);
    if let Some(like) = &like {
        like.check_widths(&rows.widths())?;
    }
    let input = Input {
        widths: rows.widths(),
        weights: weights.as_deref(),
        known: known.as_deref(),
        warm_start: like.as_ref().filter(|model| model.k() == args.k),
        memory: args.read.memory,
        ..Input::new(&rows)
    };
    on_threads(args.read.threads, || {
        let mut found = fit(&input, &params, &terminal)?;
        terminal.finish();
        found.report.stop.not_interrupted()?;
        if let Some(like) = like.as_ref().filter(|_| !input.names_clusters()) {
            found.number_like(like, &rows)?;
        }
        let balanced = balance(args, &mut found, &rows)?;
        let metrics = truth.as_ref().map(|t| scores(&t.values, &found.labels)).transpose()?;
        write_outputs(args, &params, &found, &opened)?;
        if args.json {
            let threads = rayon::current_num_threads();
            let summary =
                Summary { report: &found.report, balance: balanced, metrics, params: &params, threads };
            outputs::print_json(&summary)
        } else {
            outputs::print(&summary::text(&found.report, balanced, metrics, &written(args)))
        }
    })?
}

/// Replace the labels by those of the sizes that were asked for, if any were.
fn balance(args: &FitArgs, found: &mut Fit, rows: &dyn Rows) -> Result<Option<Balanced>> {
    let Some(assignment) = args.sizes.balance(&found.model, rows)? else { return Ok(None) };
    let moved = found.labels.iter().zip(&assignment.labels).filter(|(a, b)| a != b).count();
    found.labels = assignment.labels;
    found.report.cluster_sizes.fill(0);
    found.labels.iter().for_each(|l| found.report.cluster_sizes[*l as usize] += 1);
    Ok(Some(Balanced { moved, gap: assignment.balanced.gap / rows.n() as f64 }))
}

fn write_outputs(args: &FitArgs, params: &Params, found: &Fit, opened: &Opened) -> Result<()> {
    let rows = opened.rows()?;
    if args.labels_out.is_some() || args.proba_out.is_some() {
        let (labels, proba) = (args.labels_out.as_deref(), args.proba_out.as_deref());
        outputs::predictions(&found.model, &rows, opened.ids(), Some(&found.labels), (labels, proba))?;
    }
    if let Some(path) = &args.output {
        ModelFile::new(found.model.clone(), params.clone()).write(path)?;
    }
    Ok(())
}

/// The options of the fit from the arguments.
fn params(args: &FitArgs, n: usize) -> Result<Params> {
    let MethodArgs { lambda, gamma, epochs, batch, learning_rate, polish, .. } = args.method;
    let method = &args.method;
    Ok(Params {
        loss: method.loss,
        lambda,
        gamma,
        prior: prior(args, n)?,
        prepare: method.prepare.into(),
        dims: method.dims,
        init: method.init.into(),
        restarts: args.restarts,
        seed: args.seed,
        epochs,
        batch,
        solver: match method.exact_labels {
            true => Solver::Exact,
            false => Solver::Em { iterations: method.em_iterations },
        },
        refresh: method.refresh.into(),
        optimiser: match method.optimiser {
            OptimiserArg::Sgd => Optimiser::Sgd { momentum: method.momentum },
            OptimiserArg::Adam => Optimiser::Adam,
            OptimiserArg::Lbfgs => Optimiser::Lbfgs,
        },
        learning_rate,
        polish,
        ..Params::new(args.k)
    })
}

/// What the arguments say about sizes.
fn prior(args: &FitArgs, n: usize) -> Result<Prior> {
    let limited = args.sizes.prior(n, args.k)?;
    match args.prior.as_deref() {
        None => Ok(limited.unwrap_or_default()),
        Some("auto") => Ok(limited.unwrap_or(Prior::unknown(args.k))),
        Some(text) => Ok(Prior::Given(shares(text)?)),
    }
}

/// A prior typed as numbers, or read from a file.
pub fn shares(text: &str) -> Result<Vec<f64>> {
    if Path::new(text).is_file() {
        return Ok(read_vector(text)?);
    }
    let number = |cell: &str| {
        cell.trim().parse::<f64>().with_context(|| {
            format!("--prior {text}: `{cell}` is neither a number nor is the whole a file; write shares such as 0.5,0.3,0.2")
        })
    };
    text.split(',').map(number).collect()
}

pub fn known_labels(path: &Path, n: usize, k: usize) -> Result<Vec<i32>> {
    let labels = labels_of(path, n)?;
    if let Some(row) = labels.values.iter().position(|l| *l >= k as i64) {
        bail!(
            "{}: the label of row {row} is {}, but with {k} clusters labels go from 0 to {} (-1 means unknown)",
            path.display(),
            labels.values[row],
            k - 1
        );
    }
    Ok(labels.values.iter().map(|&l| l as i32).collect())
}

fn row_weights(path: &Path) -> Result<Vec<f32>> {
    Ok(read_vector(path)?.iter().map(|&w| w as f32).collect())
}

/// The files that were written.
fn written(args: &FitArgs) -> Vec<Written<'_>> {
    [("model", &args.output), ("labels", &args.labels_out), ("probabilities", &args.proba_out)]
        .into_iter()
        .filter_map(|(what, path)| Some((what, path.as_deref()?)))
        .collect()
}
