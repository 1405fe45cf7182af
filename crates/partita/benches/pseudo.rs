//! The paper's Table 1 with more columns: pseudo-label solvers against each other, N = 1000 rows, λ = 100, one thread.
//!
//! Run with `cargo bench -p partita --bench pseudo`. Prints a Markdown table; the recorded one is in
//! `docs/results/pseudo-label-solvers.md`. "To 1e-8" means that the KKT residual of
//! [`Surrogate::optimality`](partita::pseudo::Surrogate::optimality) is below 1e-8, measured on the labels returned.
#![allow(clippy::print_stdout)]

use partita::objective::Batch;
use partita::pseudo::{Em, Exact, Newton, Problem, PseudoLabels, Renyi, Solved, Workspace};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;
use std::time::Instant;

const N: usize = 1000;
const LAMBDA: f64 = 100.0;

/// ln σ of logits that are sums of four uniform numbers, standard deviation 2.
fn predictions(n: usize, k: usize) -> Vec<f64> {
    let mut rng = stream(0, Stream::Sample, 0);
    let mut log_sigma = vec![0.0; n * k];
    for row in log_sigma.chunks_mut(k) {
        let normal = |_| 2.0 * 3f64.sqrt() * (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        let z: Vec<f64> = (0..k).map(normal).collect();
        log_softmax(&z, row);
    }
    log_sigma
}

/// What one solver did on one problem.
struct Run {
    solved: Solved,
    seconds: f64,
    optimality: f64,
}

/// Best time of a few solves with a warm workspace.
fn run(solver: &dyn PseudoLabels, k: usize, n: usize) -> Run {
    let (log_sigma, prior) = (predictions(n, k), uniform(k));
    let batch = Batch { log_sigma: &log_sigma, k, weights: None, known: None };
    let problem = Problem { batch, prior: &prior, lambda: LAMBDA };
    let (mut y, mut ws) = (vec![0.0; n * k], Workspace::default());
    let mut solved = solver.solve(&problem, &mut y, &mut ws);
    let (begun, mut seconds) = (Instant::now(), f64::INFINITY);
    for _ in 0..50 {
        let start = Instant::now();
        solved = solver.solve(&problem, &mut y, &mut ws);
        seconds = seconds.min(start.elapsed().as_secs_f64());
        if begun.elapsed().as_secs_f64() > 1.0 {
            break;
        }
    }
    Run { solved, seconds, optimality: solver.surrogate().optimality(&problem, &y) }
}

/// A table row: iterations, seconds and optimality for K = 2, 20, 200.
fn report(name: &str, runs: &[Run]) {
    let cells = |f: &dyn Fn(&Run) -> String| runs.iter().map(f).collect::<Vec<_>>().join(" | ");
    let iterations = cells(&|r| r.solved.iterations.to_string());
    let seconds = cells(&|r| format!("{:.1e}", r.seconds));
    let optimality = cells(&|r| format!("{:.0e}", r.optimality));
    println!("| {name} | {iterations} | {seconds} | {optimality} |");
}

fn main() {
    println!("N = {N}, λ = {LAMBDA}; best of up to 50 solves, packing and unpacking included\n");
    println!(
        "| solver | iterations, K = 2 | 20 | 200 | seconds, K = 2 | 20 | 200 | optimality, K = 2 | 20 | 200 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    println!("| paper, Newton | 3 | 3 | 4 | 2.8e-2 | 3.3e-2 | 1.7e-1 | | | |");
    println!("| paper, EM | 2 | 2 | 2 | 9.9e-4 | 2.0e-3 | 4.0e-3 | | | |");
    let over_k = |solver: &dyn PseudoLabels| [2, 20, 200].map(|k| run(solver, k, N));
    report("EM to 1e-3", &over_k(&Em { max_iterations: 1_000_000, tolerance: 1e-3 }));
    let em = over_k(&Em { max_iterations: 1_000_000, tolerance: 1e-8 });
    report("EM to 1e-8", &em);
    let exact = over_k(&Exact { tolerance: 1e-8, ..Exact::default() });
    report("exact to 1e-8", &exact);
    report("exact to 1e-10", &over_k(&Exact::default()));
    report("primal Newton to 1e-8", &over_k(&Newton { tolerance: 1e-8, ..Newton::default() }));
    report("Rényi α = 2 to 1e-8", &over_k(&Renyi { tolerance: 1e-8, ..Renyi::new(2.0) }));
    let ratios: Vec<String> =
        em.iter().zip(&exact).map(|(em, exact)| format!("{:.0}", em.seconds / exact.seconds)).collect();
    println!("\nEM to 1e-8 takes {} times as long as exact to 1e-8 (K = 2, 20, 200).", ratios.join(", "));
    let large = run(&Exact::default(), 10, 10_000);
    let (steps, seconds) = (large.solved.iterations, large.seconds);
    println!("Exact to 1e-10 with N = 10,000 and K = 10: {steps} steps, {seconds:.1e} s.");
}
