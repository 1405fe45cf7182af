//! Cross-entropies with soft labels that are given and stay as they are.

use super::{Term, log_sigma, with_gradient};
use burn::tensor::Tensor;
use partita::entropy::cross;

/// Which of the two cross-entropies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The ordinary H(y, σ): predictions learn to be as unsure as their labels.
    Forward,
    /// The reverse H(σ, y): the less sure a label is, the less is learned from it.
    Reverse,
}

impl Direction {
    /// Both, the ordinary one first.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The loss of a row with the labels `log_y` = ln y, and its gradient by the logits into `out`.
    ///
    /// ```
    /// use partita_deep::losses::Direction;
    /// let (log_sigma, unsure) = ([0.9f64.ln(), 0.1f64.ln()], [0.5f64.ln(); 2]);
    /// let mut slope = [0.0; 2];
    /// Direction::Reverse.value_and_gradient(&log_sigma, &unsure, &mut slope);
    /// assert!(slope[0].abs() < 1e-15);
    /// Direction::Forward.value_and_gradient(&log_sigma, &unsure, &mut slope);
    /// assert!((slope[0] - 0.4).abs() < 1e-12);
    /// ```
    pub fn value_and_gradient(self, log_sigma: &[f64], log_y: &[f64], out: &mut [f64]) -> f64 {
        match self {
            Self::Reverse => cross::reverse_and_gradient(log_sigma, log_y, out),
            Self::Forward => {
                let y: Vec<f64> = log_y.iter().map(|l| l.exp()).collect();
                cross::forward_and_gradient(&y, log_sigma, out)
            }
        }
    }
}

/// mean H(y, σ) or mean H(σ, y) of logits `z`, shape `[n, K]`, with fixed labels `log_y` = ln y of the same shape.
pub fn fixed(z: Tensor<2>, log_y: &[f64], direction: Direction) -> Term {
    let ([n, k], log_sigma) = (z.dims(), log_sigma(&z));
    let mut gradient = vec![0.0; log_sigma.len()];
    let mut value = 0.0;
    let rows = log_sigma.chunks_exact(k).zip(log_y.chunks_exact(k)).zip(gradient.chunks_exact_mut(k));
    for ((sigma, y), out) in rows {
        value += direction.value_and_gradient(sigma, y, out) / n as f64;
        out.iter_mut().for_each(|o| *o /= n as f64);
    }
    Term { value, tensor: with_gradient(z, &gradient), log_sigma }
}
