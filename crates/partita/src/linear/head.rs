//! Weights and biases of one restart.

use crate::numeric::product;
use serde::{Deserialize, Serialize};

/// Weights `[k, m]` and biases `[k]` of one restart, for prepared rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Weights.
    pub weight: Vec<f32>,
    /// Biases.
    pub bias: Vec<f32>,
}

impl Head {
    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.bias.len()
    }

    /// Logits `[n, k]` of prepared rows `x` `[n, m]`.
    pub fn logits(&self, x: &[f32]) -> Vec<f32> {
        let m = self.weight.len() / self.k();
        let mut z = vec![0.0; x.len() / m * self.k()];
        product::logits(x, &self.weight, &self.bias, m, &mut z);
        z
    }

    /// ‖W‖².
    pub fn squared_norm(&self) -> f64 {
        self.weight.iter().map(|&w| f64::from(w).powi(2)).sum()
    }
}
