//! EM and Newton for pseudo-labels: steps and time to the same error.

use super::steps::em_step;
use super::{Context, Findings};
use crate::error::Result;
use crate::table::{Table, words};
use partita::objective::Batch;
use partita::pseudo::{Em, Exact, Newton, Problem, PseudoLabels, Surrogate, Workspace};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    clusters: Vec<usize>,
    lambda: f64,
    /// How the predictions are drawn.
    predictions: Vec<Predictions>,
    /// The largest errors of a label to which both solvers run.
    errors: Vec<f64>,
    /// Steps of EM at most.
    most: usize,
    /// Times of which the least counts; the solvers take turns.
    repeats: usize,
}

/// Random logits: `spread` for each row and cluster, and `tilt` for each cluster, the same in all rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Predictions {
    name: String,
    rows: usize,
    spread: f64,
    tilt: f64,
}

impl Predictions {
    /// ln σ of rows whose logits are sums of four uniform numbers.
    fn draw(&self, k: usize) -> Vec<f64> {
        let mut rng = stream(0, Stream::Sample, 0);
        let mut normal = |sd: f64| sd * 3f64.sqrt() * (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        let tilt: Vec<f64> = (0..k).map(|_| normal(self.tilt)).collect();
        let mut out = vec![0.0; self.rows * k];
        for row in out.chunks_exact_mut(k) {
            let z: Vec<f64> = tilt.iter().map(|t| t + normal(self.spread)).collect();
            log_softmax(&z, row);
        }
        out
    }
}

/// A solver that makes a given number of steps.
#[derive(Clone, Copy)]
enum Solver {
    Em,
    Newton,
}

impl Solver {
    fn with(self, steps: usize) -> Box<dyn PseudoLabels> {
        match self {
            Self::Em => Box::new(Em { max_iterations: steps, tolerance: 0.0 }),
            Self::Newton => Box::new(Newton { max_iterations: steps, tolerance: 0.0, ..Newton::default() }),
        }
    }
}

/// A problem with its solution.
struct Case<'a> {
    problem: Problem<'a>,
    best: Vec<f64>,
    best_loss: f64,
}

/// Where a solver first reaches an error.
struct Reached {
    steps: usize,
    seconds: f64,
    /// By how much the loss is above its minimum.
    excess: f64,
}

impl<'a> Case<'a> {
    fn new(problem: Problem<'a>) -> Self {
        let mut best = vec![0.0; problem.batch.log_sigma.len()];
        let exact = Exact { tolerance: 1e-13, ..Exact::default() };
        exact.solve(&problem, &mut best, &mut Workspace::default());
        let best_loss = Surrogate::OURS.loss(&problem, &best);
        Self { problem, best, best_loss }
    }

    fn labels(&self, solver: &dyn PseudoLabels) -> Vec<f64> {
        let mut y = vec![0.0; self.best.len()];
        solver.solve(&self.problem, &mut y, &mut Workspace::default());
        y
    }

    fn error(&self, y: &[f64]) -> f64 {
        y.iter().zip(&self.best).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// The fewest steps to each error; none where `most` do not suffice.
    fn steps(&self, solver: Solver, errors: &[f64], most: usize) -> Vec<Option<usize>> {
        let sigma: Vec<f64> = self.problem.batch.log_sigma.iter().map(|l| l.exp()).collect();
        let (mut y, mut found) = (sigma.clone(), vec![None; errors.len()]);
        for steps in 1..=most {
            // EM goes on from its own labels; Newton's few steps are made anew.
            y = match solver {
                Solver::Em => em_step(&sigma, &y, &self.problem),
                Solver::Newton => self.labels(&*solver.with(steps)),
            };
            let error = self.error(&y);
            let reached =
                found.iter_mut().zip(errors).filter(|(found, least)| found.is_none() && error <= **least);
            reached.for_each(|(found, _)| *found = Some(steps));
            if found.iter().all(Option::is_some) {
                break;
            }
        }
        found
    }

    fn seconds(&self, solver: &dyn PseudoLabels, y: &mut [f64], ws: &mut Workspace) -> f64 {
        let begun = Instant::now();
        solver.solve(&self.problem, y, ws);
        begun.elapsed().as_secs_f64()
    }

    /// Both solvers with these steps, and the time of the exact one.
    fn reach(&self, steps: [Option<usize>; 2], repeats: usize) -> ([Option<Reached>; 2], f64) {
        let steps = [(Solver::Em, steps[0]), (Solver::Newton, steps[1])];
        let (mut y, mut ws) = (vec![0.0; self.best.len()], Workspace::default());
        let (mut least, mut exact) = ([f64::INFINITY; 2], f64::INFINITY);
        for _ in 0..repeats {
            for ((solver, steps), least) in steps.iter().zip(&mut least) {
                if let Some(steps) = steps {
                    *least = least.min(self.seconds(&*solver.with(*steps), &mut y, &mut ws));
                }
            }
            exact = exact.min(self.seconds(&Exact::default(), &mut y, &mut ws));
        }
        let reached = |at: usize| {
            let (solver, steps) = steps[at];
            let steps = steps?;
            let excess =
                Surrogate::OURS.loss(&self.problem, &self.labels(&*solver.with(steps))) - self.best_loss;
            Some(Reached { steps, seconds: least[at], excess })
        };
        ([reached(0), reached(1)], exact)
    }
}

/// Steps of Newton's method at most; it converges in a few.
const NEWTON: usize = 100;

/// The lines of a case in the table, and the numbers behind them.
fn lines(name: &str, settings: &Settings, case: &Case<'_>, out: &mut Findings) -> Vec<Vec<String>> {
    let em = case.steps(Solver::Em, &settings.errors, settings.most);
    let newton = case.steps(Solver::Newton, &settings.errors, NEWTON);
    let steps = em.into_iter().zip(newton).zip(&settings.errors);
    steps.map(|((em, newton), &error)| line(name, error, settings, case, [em, newton], out)).collect()
}

fn line(
    name: &str,
    error: f64,
    settings: &Settings,
    case: &Case<'_>,
    steps: [Option<usize>; 2],
    out: &mut Findings,
) -> Vec<String> {
    let k = case.problem.batch.k;
    let ([em, newton], exact) = case.reach(steps, settings.repeats);
    let at = format!("{name}, K = {k}, {error:e}");
    let seconds = |r: &Option<Reached>| r.as_ref().map_or(f64::NAN, |r| r.seconds);
    let steps = |r: &Option<Reached>| r.as_ref().map_or(f64::INFINITY, |r| r.steps as f64);
    out.number(format!("EM steps: {at}"), steps(&em));
    out.number(format!("Newton steps: {at}"), steps(&newton));
    out.number(format!("Newton over EM: {at}"), seconds(&newton) / seconds(&em));
    out.number(format!("EM over exact: {at}"), seconds(&em) / exact);
    let mut row = vec![name.to_owned(), k.to_string(), format!("{error:.0e}")];
    for (reached, most) in [(&em, settings.most), (&newton, NEWTON)] {
        row.extend(match reached {
            Some(r) => {
                [r.steps.to_string(), format!("{:.1e}", r.seconds), format!("{:.0e}", r.excess.max(0.0))]
            }
            None => [format!("> {most}"), String::new(), String::new()],
        });
    }
    row.push(format!("{exact:.1e}"));
    row
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let mut out = Findings::default();
    let mut rows = Vec::new();
    let (mut done, all) = (0.0, (settings.predictions.len() * settings.clusters.len()) as f64);
    for predictions in &settings.predictions {
        for &k in &settings.clusters {
            context.progress(done / all)?;
            done += 1.0;
            let (log_sigma, prior) = (predictions.draw(k), uniform(k));
            let batch = Batch { log_sigma: &log_sigma, k, weights: None, known: None };
            let case = Case::new(Problem { batch, prior: &prior, lambda: settings.lambda });
            let name = &predictions.name;
            let sigma: Vec<f64> = log_sigma.iter().map(|l| l.exp()).collect();
            out.number(format!("error of the start: {name}, K = {k}"), case.error(&sigma));
            let newton = case.error(&case.labels(&Newton::default()));
            out.number(format!("error of Newton at the end: {name}, K = {k}"), newton);
            rows.extend(lines(name, &settings, &case, &mut out));
        }
    }
    let headings = words(&[
        "predictions",
        "K",
        "error of a label",
        "EM: steps",
        "s",
        "loss above its minimum",
        "Newton: steps",
        "s",
        "loss above its minimum",
        "exact dual: s",
    ]);
    let title = format!("λ = {}, one thread, the least time of {}", settings.lambda, settings.repeats);
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_steps_reach_the_error_and_one_less_does_not() {
        let log_sigma = Predictions { name: String::new(), rows: 60, spread: 1.0, tilt: 1.0 }.draw(3);
        let prior = uniform(3);
        let batch = Batch { log_sigma: &log_sigma, k: 3, weights: None, known: None };
        let case = Case::new(Problem { batch, prior: &prior, lambda: 10.0 });
        for solver in [Solver::Em, Solver::Newton] {
            let steps = case.steps(solver, &[1e-2, 1e-4], 10_000)[1].expect("enough steps");
            let error = |steps| case.error(&case.labels(&*solver.with(steps)));
            assert!(error(steps) <= 1e-4 && error(steps - 1) > 1e-4, "{steps}");
        }
        assert_eq!(case.steps(Solver::Em, &[1e-12], 2), [None]);
    }
}
