//! The rivals, compared with scikit-learn's from the same starts.

use partita::rivals::Table;
use partita::rivals::gmm::{Covariance, GaussianMixture, Mixture};
use partita::rivals::kmeans::KMeans;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    m: usize,
    x: Vec<f64>,
    variances: Vec<f64>,
    weights: Vec<f64>,
    mixtures: Vec<Climb>,
    kmeans: Vec<Descent>,
}

#[derive(Deserialize)]
struct Climb {
    kind: String,
    iterations: usize,
    log_likelihood: f64,
}

#[derive(Deserialize)]
struct Descent {
    iterations: usize,
    inertia: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/rivals.json")).expect("the file is well-formed")
}

#[test]
fn mixtures_are_as_likely_as_scikit_learns_after_as_many_iterations() {
    let g = golden();
    let k = g.weights.len();
    for climb in &g.mixtures {
        let (shape, covariance): (_, fn(f64, usize) -> Vec<f64>) = match &*climb.kind {
            "spherical" => (Covariance::Spherical, |v, _| vec![v]),
            "diag" => (Covariance::Diagonal, |v, m| vec![v; m]),
            _ => (Covariance::Full, |v, m| {
                (0..m * m).map(|i| if i % (m + 1) == 0 { v } else { 0.0 }).collect()
            }),
        };
        let covariances = g.variances.iter().map(|&v| covariance(v, g.m)).collect();
        let start = Mixture::new(shape, g.weights.clone(), g.x[..k * g.m].to_vec(), covariances).unwrap();
        let gmm = GaussianMixture {
            max_iterations: climb.iterations,
            tolerance: 0.0,
            ..GaussianMixture::new(k, shape)
        };
        let found = gmm.climb(&g.x, start).unwrap();
        let difference = (-found.loss - climb.log_likelihood).abs();
        assert!(difference < 1e-6, "{} {}: {difference}", climb.kind, climb.iterations);
    }
}

#[test]
fn k_means_reaches_scikit_learns_inertia_after_as_many_iterations() {
    let g = golden();
    let x: Vec<f32> = g.x.iter().map(|&v| v as f32).collect();
    let table = Table { x: &x, m: g.m };
    for descent in &g.kmeans {
        let lloyd = KMeans { max_iterations: descent.iterations, tolerance: 0.0, ..KMeans::new(3) };
        let found = lloyd.lloyd(table, x[..3 * g.m].to_vec());
        let difference = (found.inertia / descent.inertia - 1.0).abs();
        assert!(difference < 1e-5, "{}: {} {}", descent.iterations, found.inertia, descent.inertia);
    }
}
