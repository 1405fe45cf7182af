//! EM and Newton for pseudo-labels: steps and time.

use super::{Context, Findings};
use crate::error::Result;
use crate::table::{Table, words};
use partita::objective::Batch;
use partita::pseudo::{Em, Exact, Newton, Problem, PseudoLabels, Workspace};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    rows: usize,
    clusters: Vec<usize>,
    lambda: f64,
    /// EM stops when no label changes by more.
    loose: f64,
    tight: f64,
    repeats: usize,
}

/// Steps, best time of a few, and the labels.
struct Run {
    steps: usize,
    seconds: f64,
    y: Vec<f64>,
}

fn time(solver: &dyn PseudoLabels, problem: &Problem<'_>, repeats: usize) -> Run {
    let (mut y, mut ws) = (vec![0.0; problem.batch.log_sigma.len()], Workspace::default());
    let (mut steps, mut seconds) = (0, f64::INFINITY);
    for _ in 0..repeats {
        let begun = Instant::now();
        steps = solver.solve(problem, &mut y, &mut ws).iterations;
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    Run { steps, seconds, y }
}

/// ln σ of rows whose logits are sums of four uniform numbers, of variance 1.
fn predictions(n: usize, k: usize) -> Vec<f64> {
    let mut rng = stream(0, Stream::Sample, 0);
    let mut out = vec![0.0; n * k];
    for row in out.chunks_exact_mut(k) {
        let normal = |_| 3f64.sqrt() * (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        log_softmax(&(0..k).map(normal).collect::<Vec<_>>(), row);
    }
    out
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let em = |tolerance| Em { max_iterations: 100_000, tolerance };
    let names = ["Newton", "EM, loose", "EM, tight", "exact"];
    let mut rows: Vec<Vec<String>> = names.iter().map(|name| vec![(*name).to_owned()]).collect();
    let mut out = Findings::default();
    for (at, &k) in settings.clusters.iter().enumerate() {
        context.progress(at as f64 / settings.clusters.len() as f64)?;
        let (log_sigma, prior) = (predictions(settings.rows, k), uniform(k));
        let batch = Batch { log_sigma: &log_sigma, k, weights: None, known: None };
        let problem = Problem { batch, prior: &prior, lambda: settings.lambda };
        let (loose, tight) = (em(settings.loose), em(settings.tight));
        let (newton, exact) = (Newton::default(), Exact::default());
        let solvers: [&dyn PseudoLabels; 4] = [&newton, &loose, &tight, &exact];
        let runs = solvers.map(|solver| time(solver, &problem, settings.repeats));
        let error = |run: &Run| run.y.iter().zip(&runs[3].y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        for (row, run) in rows.iter_mut().zip(&runs) {
            row.extend([
                run.steps.to_string(),
                format!("{:.1e}", run.seconds),
                format!("{:.0e}", error(run)),
            ]);
        }
        out.number(format!("EM steps, K = {k}"), runs[1].steps as f64);
        out.number(format!("Newton steps, K = {k}"), runs[0].steps as f64);
        out.number(format!("time of Newton over EM, K = {k}"), runs[0].seconds / runs[1].seconds);
        out.number(format!("error of Newton, K = {k}"), error(&runs[0]));
    }
    let mut headings = words(&["solver"]);
    for k in &settings.clusters {
        headings.extend([format!("K = {k}: steps"), "seconds".to_owned(), "error".to_owned()]);
    }
    let title = format!("{} rows, λ = {}", settings.rows, settings.lambda);
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}
