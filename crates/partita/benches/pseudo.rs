//! The paper's Table 1 with more rows: pseudo-label solvers against each other, N = 1000 rows, λ = 100, one thread.
//!
//! Run with `cargo bench -p partita --bench pseudo`. Prints Markdown; the recorded tables are in
//! `docs/results/pseudo-label-solvers.md`. The error of a solver is the largest difference of its labels from the
//! optimal ones; EM's tolerance is on the change of one iteration, which is much smaller than its error.
#![allow(clippy::print_stdout)]

use partita::objective::Batch;
use partita::pseudo::{Em, Exact, Newton, Problem, PseudoLabels, Renyi, Solved, Workspace};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;
use std::time::Instant;

const LAMBDA: f64 = 100.0;
const CLUSTERS: [usize; 3] = [2, 20, 200];

/// ln σ of `n` rows of logits that are sums of four uniform numbers, of this standard deviation.
fn predictions(n: usize, k: usize, deviation: f64) -> Vec<f64> {
    let mut rng = stream(0, Stream::Sample, 0);
    let mut log_sigma = vec![0.0; n * k];
    for row in log_sigma.chunks_mut(k) {
        let normal = |_| deviation * 3f64.sqrt() * (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        let z: Vec<f64> = (0..k).map(normal).collect();
        log_softmax(&z, row);
    }
    log_sigma
}

/// What one solver did on one problem.
struct Run {
    solved: Solved,
    seconds: f64,
    y: Vec<f64>,
}

/// Best time of a few solves with a warm workspace.
fn run(solver: &dyn PseudoLabels, log_sigma: &[f64], k: usize) -> Run {
    let prior = uniform(k);
    let batch = Batch { log_sigma, k, weights: None, known: None };
    let problem = Problem { batch, prior: &prior, lambda: LAMBDA };
    let (mut y, mut ws) = (vec![0.0; log_sigma.len()], Workspace::default());
    let mut solved = solver.solve(&problem, &mut y, &mut ws);
    let (begun, mut seconds) = (Instant::now(), f64::INFINITY);
    for _ in 0..200 {
        let start = Instant::now();
        solved = solver.solve(&problem, &mut y, &mut ws);
        seconds = seconds.min(start.elapsed().as_secs_f64());
        if begun.elapsed().as_secs_f64() > 1.0 {
            break;
        }
    }
    Run { solved, seconds, y }
}

/// The largest difference of two labellings.
fn error(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// EM with the loosest tolerance (in steps of a quarter of a decade) that brings its labels within 1e-8 of the
/// optimal ones.
fn em_to_error(log_sigma: &[f64], k: usize, optimal: &[f64]) -> Run {
    let tolerances = (32..60).map(|e| 10f64.powf(-0.25 * f64::from(e)));
    let mut last = run(&em(1e-8), log_sigma, k);
    for tolerance in tolerances {
        if error(&last.y, optimal) <= 1e-8 || !last.solved.converged {
            break;
        }
        last = run(&em(tolerance), log_sigma, k);
    }
    last
}

fn em(tolerance: f64) -> Em {
    Em { max_iterations: 50_000, tolerance }
}

/// A table row: iterations, seconds and error for every K.
fn report(name: &str, runs: &[Run], optimal: Option<&[Run]>) {
    let iterations = runs.iter().map(|r| r.solved.iterations.to_string()).collect::<Vec<_>>().join(" | ");
    let seconds = runs.iter().map(|r| format!("{:.1e}", r.seconds)).collect::<Vec<_>>().join(" | ");
    let errors = match optimal {
        Some(best) => {
            let pairs = runs.iter().zip(best);
            pairs.map(|(r, b)| format!("{:.0e}", error(&r.y, &b.y))).collect::<Vec<_>>().join(" | ")
        }
        None => " | | ".into(),
    };
    println!("| {name} | {iterations} | {seconds} | {errors} |");
}

/// The table for predictions of this standard deviation.
fn table(deviation: f64) {
    println!("\nN = 1000, λ = {LAMBDA}, uniform prior; logits of standard deviation {deviation}\n");
    println!(
        "| solver | iterations, K = 2 | 20 | 200 | seconds, K = 2 | 20 | 200 | error, K = 2 | 20 | 200 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    println!("| paper: Newton | 3 | 3 | 4 | 2.8e-2 | 3.3e-2 | 1.7e-1 | | | |");
    println!("| paper: EM | 2 | 2 | 2 | 9.9e-4 | 2.0e-3 | 4.0e-3 | | | |");
    let data = CLUSTERS.map(|k| (predictions(1000, k, deviation), k));
    let all = |solver: &dyn PseudoLabels| data.each_ref().map(|(l, k)| run(solver, l, *k));
    let best = all(&Exact { tolerance: 1e-14, ..Exact::default() });
    report("EM to a change of 1e-3", &all(&em(1e-3)), Some(&best));
    let changed = all(&em(1e-8));
    report("EM to a change of 1e-8", &changed, Some(&best));
    let slow: Vec<Run> = data.iter().zip(&best).map(|((l, k), b)| em_to_error(l, *k, &b.y)).collect();
    report("EM to an error of 1e-8", &slow, Some(&best));
    report("primal Newton", &all(&Newton::default()), Some(&best));
    let exact = all(&Exact::default());
    report("exact", &exact, Some(&best));
    report("Rényi α = 2 (another loss)", &all(&Renyi::new(2.0)), None);
    let ratio = |(a, b): (&Run, &Run)| format!("{:.0}", a.seconds / b.seconds);
    let ratios = |em: &[Run]| em.iter().zip(&exact).map(ratio).collect::<Vec<_>>().join(", ");
    println!("\nTime of EM over time of exact, K = 2, 20, 200:");
    println!("to a change of 1e-8 {}; to an error of 1e-8 {}.", ratios(&changed), ratios(&slow));
}

fn main() {
    table(2.0);
    table(4.0);
    for k in [10, 100] {
        let large = run(&Exact::default(), &predictions(10_000, k, 4.0), k);
        let (steps, seconds) = (large.solved.iterations, large.seconds);
        println!("\nExact with N = 10,000 and K = {k}, deviation 4: {steps} steps, {seconds:.1e} s.");
    }
}
