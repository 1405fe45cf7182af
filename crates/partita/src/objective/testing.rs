//! Random batches for the tests of this room.

use super::{Batch, BatchObjective, Workspace};
use crate::entropy::testing::{assert_close, differences, log_sigma};
use proptest::prelude::*;

/// A batch of logits with weights, some known labels and a prior.
#[derive(Debug, Clone)]
pub struct Sample {
    pub z: Vec<f64>,
    pub k: usize,
    pub weights: Vec<f64>,
    pub known: Vec<i32>,
    pub prior: Vec<f64>,
}

impl Sample {
    pub fn log_sigma(&self) -> Vec<f64> {
        log_sigma(&self.z, self.k)
    }

    pub fn batch<'a>(&'a self, log_sigma: &'a [f64]) -> Batch<'a> {
        Batch { log_sigma, k: self.k, weights: Some(&self.weights), known: Some(&self.known) }
    }

    pub fn without_known(mut self) -> Self {
        self.known.fill(-1);
        self
    }

    /// Weights rounded up to 1, 2 or 3.
    pub fn with_integer_weights(mut self) -> Self {
        self.weights.iter_mut().for_each(|w| *w = w.ceil());
        self
    }

    /// Every row as often as its rounded weight says, each with weight one.
    pub fn repeated(&self) -> Self {
        let mut out = Self { z: vec![], weights: vec![], known: vec![], ..self.clone() };
        for (i, w) in self.weights.iter().enumerate() {
            for _ in 0..w.ceil() as usize {
                out.z.extend_from_slice(&self.z[i * self.k..(i + 1) * self.k]);
                out.weights.push(1.0);
                out.known.push(self.known[i]);
            }
        }
        out
    }
}

/// 2 to 5 clusters, 1 to 12 rows, weights up to 3, about a fifth of the rows known.
pub fn sample() -> impl Strategy<Value = Sample> {
    (2usize..6, 1usize..13).prop_flat_map(|(k, n)| {
        let known = prop_oneof![4 => Just(-1), 1 => 0..k as i32];
        (
            prop::collection::vec(-4.0..4.0, n * k),
            prop::collection::vec(0.1..3.0, n),
            prop::collection::vec(known, n),
            prop::collection::vec(0.2..1.0, k),
        )
            .prop_map(move |(z, weights, known, prior)| {
                let sum: f64 = prior.iter().sum();
                Sample { z, k, weights, known, prior: prior.iter().map(|u| u / sum).collect() }
            })
    })
}

/// Compare the gradient of an objective with finite differences of its value.
pub fn check_gradient(objective: &dyn BatchObjective, s: &Sample, tolerance: f64) {
    let mut ws = Workspace::default();
    let mut gradient = vec![f64::NAN; s.z.len()];
    objective.value_and_gradient(s.batch(&s.log_sigma()), &mut gradient, &mut ws);
    let value = |l: &[f64]| {
        objective.value_and_gradient(s.batch(l), &mut vec![0.0; l.len()], &mut Workspace::default())
    };
    assert_close(&gradient, &differences(&s.z, s.k, value), tolerance);
}
