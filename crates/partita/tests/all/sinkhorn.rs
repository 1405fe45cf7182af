//! Sinkhorn labels, compared with those of an optimal transport library.

use partita::objective::Batch;
use partita::pseudo::{Problem, PseudoLabels, Sinkhorn, Workspace};
use partita::simplex::log_softmax;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    n: usize,
    k: usize,
    spread: f64,
    power: f64,
    labels: Vec<f64>,
}

#[test]
fn soft_labels_are_the_transport_plans_of_pot() {
    let golden: Vec<Golden> = serde_json::from_str(include_str!("../golden/sinkhorn.json")).unwrap();
    for (i, g) in golden.iter().enumerate() {
        let logit = |j: usize| (1.0 + j as f64 * (0.7 + i as f64)).sin() * g.spread;
        let z: Vec<f64> = (0..g.n * g.k).map(logit).collect();
        let mut log_sigma = vec![0.0; z.len()];
        for (z, l) in z.chunks(g.k).zip(log_sigma.chunks_mut(g.k)) {
            log_softmax(z, l);
        }
        let weights: Vec<f64> = (0..g.n).map(|row| 1.0 + (row % 3) as f64 / 2.0).collect();
        let total: f64 = (1..=g.k).sum::<usize>() as f64;
        let prior: Vec<f64> = (1..=g.k).map(|c| c as f64 / total).collect();
        let batch = Batch { log_sigma: &log_sigma, k: g.k, weights: Some(&weights), known: None };
        let problem = Problem { batch, prior: &prior, lambda: 0.0 };
        let mut y = vec![0.0; z.len()];
        let solver = Sinkhorn { power: g.power, hard: false, max_iterations: 1_000_000, tolerance: 1e-12 };
        assert!(solver.solve(&problem, &mut y, &mut Workspace::default()).converged);
        for (a, b) in y.iter().zip(&g.labels) {
            assert!((a - b).abs() < 1e-6, "problem {i}: {a} {b}");
        }
    }
}
