//! A linear softmax model trained by plain stochastic gradient descent, as in the paper: no annealing, no restarts, no
//! principal components. It shows what the losses do by themselves.

use partita::numeric::product;
use partita::prepare::{Preparation, Prepare};
use partita::report::Silent;
use partita::rng::{Stream, stream};
use partita::rows::Rows;
use partita::simplex::{largest, log_softmax_rows};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Rows `[n, m]`, each divided by its norm, centred, and scaled to E‖x‖² = 1.
pub fn prepared(rows: &dyn Rows) -> partita::Result<Vec<f32>> {
    Preparation::fit(rows, &[rows.m()], Prepare::L2, &Silent)?.load(rows)
}

/// Rows `[n, m]` as they are.
pub fn as_they_are(rows: &dyn Rows) -> partita::Result<Vec<f32>> {
    let mut x = vec![0.0; rows.n() * rows.m()];
    rows.read(0, &mut x)?;
    Ok(x)
}

/// These rows of `[n, m]`, one after the other.
pub fn gather(x: &[f32], m: usize, rows: &[usize]) -> Vec<f32> {
    rows.iter().flat_map(|&row| &x[row * m..][..m]).copied().collect()
}

/// The rows of each batch of an epoch, in random order; a last batch that is not full is left out.
pub fn batches(n: usize, size: usize, seed: u64, epoch: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut stream(seed, Stream::Order, epoch as u64));
    order.chunks_exact(size.min(n)).map(<[usize]>::to_vec).collect()
}

/// σ = softmax(Wx + b).
pub struct Plain {
    k: usize,
    m: usize,
    /// `[k, m]`.
    weight: Vec<f32>,
    bias: Vec<f32>,
    /// Biases learn at this share of the rate.
    bias_pace: f32,
    gradient: Vec<f32>,
}

/// Biases of prepared rows learn at this share of the rate: they have no prepared feature to keep them small.
const BIAS_PACE: f32 = 1e-3;

impl Plain {
    /// All predictions alike.
    pub fn zeros(k: usize, m: usize) -> Self {
        let (weight, bias, gradient) = (vec![0.0; k * m], vec![0.0; k], vec![0.0; k * m]);
        Self { k, m, weight, bias, bias_pace: BIAS_PACE, gradient }
    }

    /// Weights uniform in ±1/√m.
    pub fn random(k: usize, m: usize, seed: u64) -> Self {
        Self { weight: uniform(k * m, m, seed), ..Self::zeros(k, m) }
    }

    /// Weights and biases uniform in ±1/√m, as PyTorch's linear layer starts, all learning at the same rate.
    pub fn as_torch(k: usize, m: usize, seed: u64) -> Self {
        let mut weight = uniform(k * (m + 1), m, seed);
        let bias = weight.split_off(k * m);
        Self { weight, bias, bias_pace: 1.0, ..Self::zeros(k, m) }
    }

    fn logits(&self, x: &[f32]) -> Vec<f32> {
        let mut z = vec![0.0; x.len() / self.m * self.k];
        product::product(x, &self.weight, self.m, &mut z);
        for row in z.chunks_exact_mut(self.k) {
            row.iter_mut().zip(&self.bias).for_each(|(z, b)| *z += b);
        }
        z
    }

    /// ln σ of rows `[n, m]`, `[n, k]`.
    pub fn log_sigma(&self, x: &[f32]) -> Vec<f64> {
        let mut out = Vec::new();
        log_softmax_rows(self.logits(x).into_iter(), self.k, &mut out);
        out
    }

    /// The most probable label of each row.
    pub fn labels(&self, x: &[f32]) -> Vec<u32> {
        self.logits(x).chunks_exact(self.k).map(|z| largest(z) as u32).collect()
    }

    /// ‖W‖².
    pub fn squared_norm(&self) -> f64 {
        self.weight.iter().map(|w| f64::from(*w).powi(2)).sum()
    }

    /// One step against the gradient `[n, k]` by the logits of rows `[n, m]`, and against that of γ‖W‖².
    pub fn step(&mut self, x: &[f32], slope: &[f64], rate: f64, gamma: f64) {
        let slope: Vec<f32> = slope.iter().map(|s| *s as f32).collect();
        product::transposed_product(&slope, x, self.m, &mut self.gradient);
        let (rate, decay) = (rate as f32, (2.0 * gamma * rate) as f32);
        self.weight.iter_mut().zip(&self.gradient).for_each(|(w, g)| *w -= rate * g + decay * *w);
        for row in slope.chunks_exact(self.k) {
            self.bias.iter_mut().zip(row).for_each(|(b, s)| *b -= self.bias_pace * rate * s);
        }
    }
}

/// Numbers uniform in ±1/√m.
fn uniform(count: usize, m: usize, seed: u64) -> Vec<f32> {
    let mut rng = stream(seed, Stream::Init, 0);
    let reach = 1.0 / (m as f32).sqrt();
    (0..count).map(|_| reach * (2.0 * rng.random::<f32>() - 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::entropy::cross;

    #[test]
    fn it_learns_labels_that_a_line_can_tell_apart() {
        let bars =
            partita_data::synth::Bars { size: 50, length: 2.0, thickness: 0.2, gaps: vec![1.0], notch: 0.0 };
        let (x, truth) = bars.draw(3);
        let mut model = Plain::zeros(2, 2);
        for epoch in 0..40 {
            for rows in batches(100, 20, 0, epoch) {
                let batch = gather(&x, 2, &rows);
                let log_sigma = model.log_sigma(&batch);
                let mut slope = vec![0.0; 40];
                for ((row, s), out) in rows.iter().zip(log_sigma.chunks(2)).zip(slope.chunks_mut(2)) {
                    let y = [1.0 - truth[*row] as f64, truth[*row] as f64];
                    cross::forward_and_gradient(&y, s, out);
                }
                model.step(&batch, &slope, 0.1, 0.0);
            }
        }
        let found = model.labels(&x);
        assert!(found.iter().zip(&truth).all(|(f, t)| *f as usize == *t));
        assert!(model.squared_norm() > 1.0);
    }

    #[test]
    fn an_epoch_holds_every_row_once() {
        let mut all: Vec<usize> = batches(100, 20, 7, 3).concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100));
        assert_ne!(batches(100, 20, 7, 3), batches(100, 20, 7, 4));
    }
}
