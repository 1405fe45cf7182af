//! The whole fit: prepare, train, fold back, label; and what is told about it.

use super::model::Model;
use super::params::{Params, Prior};
use super::prepare::Preparation;
use super::run::Run;
use super::score::Ailment;
use super::sizes::{self, Range};
use super::source::{Input, Source, check_distinct};
use crate::error::{Error, Result};
use crate::report::{Observer, StopReason};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A fitted model with what is known about the fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model; takes raw rows.
    pub model: Model,
    /// The model's label of each row.
    pub labels: Vec<u32>,
    /// How it went.
    pub report: Report,
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Rows.
    pub n: usize,
    /// Features.
    pub m: usize,
    /// Clusters.
    pub k: usize,
    /// The prior u over their sizes, as given or as estimated.
    pub prior: Vec<f64>,
    /// Loss of the chosen restart, norm included.
    pub loss: f64,
    /// mean H(σ): 0 when every row is decided.
    pub decisiveness: f64,
    /// KL(u‖σ̄): 0 when clusters are as large as the prior says.
    pub fairness: f64,
    /// Smallest lead of the winning logit over the second, over ‖W‖.
    pub margin: f64,
    /// Median of that lead.
    pub median_margin: f64,
    /// Rows in each cluster.
    pub cluster_sizes: Vec<usize>,
    /// Loss of each restart.
    pub restarts: Vec<Restart>,
    /// Mean adjusted Rand index between the labelings of the restarts; 1 with a single restart.
    pub agreement: f64,
    /// Rows on which restarts were compared.
    pub judged_rows: usize,
    /// Steps of the search.
    pub steps: usize,
    /// Steps that the chosen restart made in all: search, refinement and polish.
    pub iterations: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// Why training stopped.
    pub stop: StopReason,
    /// Mean batch loss of the chosen restart in each epoch.
    pub trace: Vec<f64>,
    /// Clusters that are not alive, after all attempts to start them again.
    pub ailments: Vec<Ailment>,
    /// What to change, if clusters are lost.
    pub advice: Option<String>,
    /// Seconds from the first read to the last label.
    pub seconds: f64,
}

/// Lost clusters have two causes: nothing holds them, or the rows have no room for so many.
fn advice(report: &Report, params: &Params, lambda: f64) -> Option<String> {
    let (lost, k) = (report.ailments.len(), report.k);
    if lost == 0 {
        return None;
    }
    let usual = Params { lambda: None, ..params.clone() }.check(report.n).map_or(lambda, |c| c.lambda);
    let in_use = report.cluster_sizes.iter().filter(|s| **s > 0).count();
    Some(if lambda < usual {
        format!(
            "{lost} of {k} clusters are lost because fairness weighs too little to hold them (lambda = {lambda}): \
             without it one cluster for all rows is the most decisive answer; use lambda = {usual}"
        )
    } else {
        format!("{lost} of {k} clusters are lost; ask for at most {in_use} clusters, or for more restarts")
    })
}

/// One restart of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// Seed of the fit.
    pub seed: u64,
    /// Number of the restart.
    pub restart: usize,
    /// Its loss when it was last judged.
    pub loss: f64,
}

/// Cluster the rows of `input`.
///
/// ```
/// use ndarray::Array2;
/// use partita::linear::{Input, Params, fit};
/// use partita::report::Silent;
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| (i % 3) as f32 * 10.0 * (j + i % 3) as f32 + (i / 3) as f32 * 0.01);
/// let view = rows.view();
/// let found = fit(&Input::new(&view), &Params::new(3), &Silent).unwrap();
/// assert_eq!(found.report.cluster_sizes, [20, 20, 20]);
/// ```
pub fn fit(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Fit> {
    let began = Instant::now();
    input.check(params.k)?;
    let mut checked = params.check(input.rows.n())?;
    let views = input.warm_start.map(|model| &*model.views);
    let mut preparation = Preparation::fit_views(input.rows, &input.widths, params.prepare, views, observer)?;
    check_distinct(input.rows, params.k)?;
    preparation.reduce(input.rows, params.dims, params.seed)?;
    let source = Source::new(input, &preparation)?;
    if let Prior::Estimated { least, most } = params.prior {
        let run = Run { params, checked: &checked, source: &source, observer, warm: None };
        checked.prior = sizes::estimate(&run, Range { least, most })?;
    }
    let run = Run { params, checked: &checked, source: &source, observer, warm: None };
    let outcome = run.train()?;
    let (weight, bias) = preparation.fold(&outcome.head.weight, &outcome.head.bias);
    if !outcome.report.loss.is_finite() || !weight.iter().chain(&bias).all(|v| v.is_finite()) {
        return Err(Error::Diverged);
    }
    let model = Model {
        views: preparation.views.clone(),
        weight,
        bias,
        average: preparation.mean.clone(),
        prior: checked.prior.iter().map(|&u| u as f32).collect(),
    };
    drop(source);
    let labels = model.predict(input.rows)?;
    let mut report = outcome.report;
    for &label in &labels {
        report.cluster_sizes[label as usize] += 1;
    }
    report.advice = advice(&report, params, checked.lambda);
    report.seconds = began.elapsed().as_secs_f64();
    Ok(Fit { model, labels, report })
}
