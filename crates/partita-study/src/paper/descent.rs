//! The paper's Algorithm 1 and its rivals: a linear softmax of rows as they are, by plain stochastic gradient descent. Every
//! method of a run has the same start and sees the rows in the same order.

use crate::error::{Result, StudyError};
use crate::plain::{Plain, batches, gather};
use partita::compare::Contender;
use partita::linear::{Loss, Refresh};
use partita::objective::{Batch, BatchObjective, SelfLabelled, Workspace};
use partita::plain::{Dense, KMeans, Plain as PlainRows, Seeds};
use partita::pseudo::{Em, PseudoLabels};
use partita::report::Silent;
use partita::simplex::uniform;
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the paper trains on fixed features.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub epochs: usize,
    pub batch: usize,
    pub rate: f64,
    /// Weight of fairness in the paper's loss; the others have their own.
    pub lambda: f64,
    /// EM ends when no label changes by more than this ...
    pub tolerance: f64,
    /// ... or after this number of iterations.
    pub limit: usize,
}

/// Rows in memory `[n, m]` to be put into `k` clusters.
#[derive(Clone, Copy)]
pub struct Descent<'a> {
    pub recipe: Recipe,
    pub x: &'a [f32],
    pub m: usize,
    pub k: usize,
}

/// How many EM iterations batches took.
#[derive(Default)]
pub struct Effort {
    iterations: AtomicUsize,
    batches: AtomicUsize,
}

impl Effort {
    fn add(&self, iterations: usize) {
        self.iterations.fetch_add(iterations, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    /// Iterations of a batch, on average.
    pub fn mean(&self) -> f64 {
        self.iterations.load(Ordering::Relaxed) as f64 / self.batches.load(Ordering::Relaxed).max(1) as f64
    }
}

/// What gives the gradient of a batch.
enum Teacher {
    /// Labels found in every batch.
    Batch(SelfLabelled),
    /// Labels found for all rows before every epoch.
    Epoch(SelfLabelled),
    /// A loss of the predictions alone.
    Alone(Box<dyn BatchObjective>),
}

impl Descent<'_> {
    fn n(&self) -> usize {
        self.x.len() / self.m
    }

    fn teacher(&self, loss: Loss, refresh: Refresh) -> Teacher {
        let Recipe { tolerance, limit, .. } = self.recipe;
        let (prior, em) = (uniform(self.k), Em { max_iterations: limit, tolerance });
        let lambda = if loss == Loss::Strong { self.recipe.lambda } else { loss.default_lambda() };
        let of_loss = partita::linear::Solver::Exact;
        let solver: Box<dyn PseudoLabels> =
            if loss == Loss::Strong { Box::new(em) } else { loss.solver(of_loss, lambda) };
        match refresh {
            _ if !loss.has_labels() => Teacher::Alone(loss.objective(solver, prior, lambda)),
            Refresh::Batch => Teacher::Batch(loss.self_labelled(solver, prior, lambda)),
            Refresh::Epoch => Teacher::Epoch(loss.self_labelled(solver, prior, lambda)),
        }
    }

    /// The clusters of one run.
    pub fn run(&self, method: Contender, gamma: f64, seed: u64, effort: &Effort) -> Result<Vec<u32>> {
        match method {
            Contender::KMeans { spherical: false } => self.kmeans(1, seed),
            Contender::Linear { loss, refresh, norm, .. } => {
                let gamma = if norm { gamma } else { 0.0 };
                Ok(self.train(&self.teacher(loss, refresh), gamma, seed, effort).labels(self.x))
            }
            other => Err(StudyError::Spec {
                name: other.to_string(),
                why: "it has no plain form; give K-means or a loss of the linear model".to_owned(),
            }),
        }
    }

    fn train(&self, teacher: &Teacher, gamma: f64, seed: u64, effort: &Effort) -> Plain {
        let Recipe { epochs, batch: size, rate, .. } = self.recipe;
        let mut model = Plain::as_torch(self.k, self.m, seed);
        let mut ws = Workspace::default();
        for epoch in 0..epochs {
            let all = self.labels_of_all(teacher, &model);
            for rows in batches(self.n(), size, seed, epoch) {
                let x = gather(self.x, self.m, &rows);
                let log_sigma = model.log_sigma(&x);
                let batch = Batch { log_sigma: &log_sigma, k: self.k, weights: None, known: None };
                let mut slope = vec![0.0; log_sigma.len()];
                match teacher {
                    Teacher::Alone(objective) => {
                        objective.value_and_gradient(batch, &mut slope, &mut ws);
                    }
                    Teacher::Batch(objective) => {
                        effort.add(objective.label(batch, &mut ws).iterations);
                        objective.with_labels(batch, &mut slope, &mut ws);
                    }
                    Teacher::Epoch(objective) => {
                        ws.y.clear();
                        ws.y.extend(rows.iter().flat_map(|row| &all[row * self.k..][..self.k]));
                        objective.with_labels(batch, &mut slope, &mut ws);
                    }
                }
                model.step(&x, &slope, rate, gamma);
            }
        }
        model
    }

    /// Labels that hold for an epoch, if the teacher has such.
    fn labels_of_all(&self, teacher: &Teacher, model: &Plain) -> Vec<f64> {
        let Teacher::Epoch(objective) = teacher else { return Vec::new() };
        let (log_sigma, mut ws) = (model.log_sigma(self.x), Workspace::default());
        objective.label(Batch { log_sigma: &log_sigma, k: self.k, weights: None, known: None }, &mut ws);
        ws.y
    }

    /// K-means as scikit-learn has it; of several starts the one of lowest inertia.
    pub fn kmeans(&self, starts: usize, seed: u64) -> Result<Vec<u32>> {
        let (seeds, max_iterations, tolerance) = (Seeds::PlusPlus, 300, 1e-4);
        let options = KMeans {
            k: self.k,
            seeds,
            starts,
            max_iterations,
            tolerance,
            spherical: false,
            single: true,
            seed,
        };
        Ok(options.fit(PlainRows::dense(self)?, None, None, &Silent)?.labels)
    }
}

impl Dense for Descent<'_> {
    fn n(&self) -> usize {
        self.n()
    }
    fn m(&self) -> usize {
        self.m
    }
    fn read(&self, start: usize, out: &mut [f64]) -> partita::Result<()> {
        let from = &self.x[start * self.m..][..out.len()];
        out.iter_mut().zip(from).for_each(|(o, v)| *o = f64::from(*v));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::rng::{Stream, stream};
    use rand::RngExt;

    #[test]
    fn every_method_of_the_paper_finds_clusters_far_apart_and_the_same_seed_the_same_ones() {
        let mut rng = stream(0, Stream::Synthetic, 0);
        let x: Vec<f32> = (0..900)
            .map(|at| f32::from(u8::from(at / 3 % 3 == at % 3)) * 20.0 + rng.random::<f32>())
            .collect();
        let truth: Vec<i64> = (0..300).map(|row| row % 3).collect();
        let recipe = Recipe { epochs: 20, batch: 50, rate: 0.1, lambda: 100.0, tolerance: 1e-3, limit: 200 };
        let descent = Descent { recipe, x: &x, m: 3, k: 3 };
        let effort = Effort::default();
        for name in ["kmeans", "rim", "sela", "ours"] {
            let method: Contender = name.parse().unwrap();
            let run = |seed| descent.run(method, 0.001, seed, &effort).unwrap();
            let found: Vec<f64> =
                (0..3).map(|seed| partita::metrics::accuracy(&truth, &run(seed)).unwrap()).collect();
            assert!(found.contains(&1.0), "{name}: {found:?}");
            assert_eq!(run(1), run(1), "{name}");
        }
        assert!(effort.mean() > 1.0);
        assert!(descent.run("gmm-full".parse().unwrap(), 0.0, 0, &effort).is_err());
    }
}
