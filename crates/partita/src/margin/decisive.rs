//! ln mean R_α(σ) and its gradient, even where R_α itself underflows.
//!
//! With δ_k = max z − z_k, and sums over all clusters but the top one, let L(a) = ln(1 + Σ e^{−aδ_k}). Then
//!
//! > R_α = [L(α) − α L(1)]/(1 − α),  R_1 = L(1) + Σ σ_k δ_k,  R_∞ = L(1),
//!
//! and each term has a logarithm that does not underflow: ln ln(1 + e^u) is u itself where e^u is negligible beside 1.
//! Neither difference suffers from cancellation, as the smaller term is at most α or 1/α times the larger.

use super::points::Centred;
use super::{add, dot, scale};
use crate::simplex::{largest, log_sum_exp};
use rayon::prelude::*;

/// Rows per task. Fixed, so that the result does not depend on the number of threads.
const PIECE: usize = 512;

/// Below this exponent, e^u is less than half of the precision of 1.
const NOTHING_BESIDE_ONE: f64 = -37.0;

/// ln ln(1 + e^u).
fn log_log1p_exp(u: f64) -> f64 {
    if u < NOTHING_BESIDE_ONE { u } else { u.exp().ln_1p().ln() }
}

/// ln Σ e^{−aδ_k} over all clusters but the top one.
fn log_rest(z: &[f64], top: usize, a: f64) -> f64 {
    let rest: Vec<f64> =
        z.iter().enumerate().filter(|(c, _)| *c != top).map(|(_, v)| a * (v - z[top])).collect();
    log_sum_exp(&rest)
}

/// ln R_α(softmax(z)) of one row; writes its gradient with respect to z to `out`.
pub(super) fn log_renyi(alpha: f64, z: &[f64], out: &mut [f64]) -> f64 {
    if alpha == 0.0 {
        out.fill(0.0);
        return (z.len() as f64).ln().ln();
    }
    let top = largest(z);
    let u = log_rest(z, top, 1.0);
    let row = Row { z, top, excess: u.exp().ln_1p(), log_excess: log_log1p_exp(u) };
    let value = if alpha.is_infinite() {
        row.infinite(out)
    } else if alpha == 1.0 {
        row.shannon(out)
    } else {
        row.general(alpha, out)
    };
    // Only differences of logits matter, so the gradient sums to zero.
    out[top] = 0.0;
    out[top] = -out.iter().sum::<f64>();
    value
}

/// What all orders α need to know about a row; L(1) is `excess`. The caller fills in the gradient of the top cluster.
struct Row<'a> {
    z: &'a [f64],
    top: usize,
    excess: f64,
    log_excess: f64,
}

impl Row<'_> {
    fn delta(&self, c: usize) -> f64 {
        self.z[self.top] - self.z[c]
    }

    fn log_sigma(&self, c: usize) -> f64 {
        -self.delta(c) - self.excess
    }

    fn infinite(&self, out: &mut [f64]) -> f64 {
        out.iter_mut().enumerate().for_each(|(c, o)| *o = (self.log_sigma(c) - self.log_excess).exp());
        self.log_excess
    }

    fn shannon(&self, out: &mut [f64]) -> f64 {
        let term = |c| if c == self.top { self.log_excess } else { self.log_sigma(c) + self.delta(c).ln() };
        let terms: Vec<f64> = (0..self.z.len()).map(term).collect();
        let value = log_sum_exp(&terms);
        for (c, o) in out.iter_mut().enumerate() {
            *o = (self.log_sigma(c) - value).exp() * (self.delta(c) + self.excess - value.exp());
        }
        value
    }

    fn general(&self, alpha: f64, out: &mut [f64]) -> f64 {
        let u = log_rest(self.z, self.top, alpha);
        let (power, linear) = (log_log1p_exp(u), alpha.ln() + self.log_excess);
        let (large, small) = if alpha < 1.0 { (power, linear) } else { (linear, power) };
        let value = large + (-(small - large).exp_m1()).ln() - (1.0 - alpha).abs().ln();
        let excess = u.exp().ln_1p();
        for (c, o) in out.iter_mut().enumerate() {
            let (log_pi, log_sigma) = (-alpha * self.delta(c) - excess, self.log_sigma(c));
            *o = alpha / (1.0 - alpha) * ((log_pi - value).exp() - (log_sigma - value).exp());
        }
        value
    }
}

/// ln mean R_α and its gradient with respect to the weights and biases of the logits.
pub(super) struct LogLoss {
    pub value: f64,
    /// Shape `[k, m]`.
    pub weights: Vec<f64>,
    /// Shape `[k]`.
    pub biases: Vec<f64>,
}

/// The loss at logits Wx + b; `None` if `allowed` refuses the labels of these logits.
pub(super) fn log_loss(
    rows: &Centred,
    weights: &[f64],
    biases: &[f64],
    alpha: f64,
    allowed: impl FnOnce(&[u32]) -> bool,
) -> Option<LogLoss> {
    let pieces: Vec<Piece> =
        rows.x.par_chunks(PIECE * rows.m).map(|x| Piece::new(x, rows.m, weights, biases, alpha)).collect();
    let labels: Vec<u32> = pieces.iter().flat_map(|p| p.labels.iter().copied()).collect();
    if !allowed(&labels) {
        return None;
    }
    let logs: Vec<f64> = pieces.iter().flat_map(|p| p.logs.iter().copied()).collect();
    let total = log_sum_exp(&logs);
    let parts: Vec<_> = pieces
        .into_par_iter()
        .zip(rows.x.par_chunks(PIECE * rows.m))
        .map(|(p, x)| p.gradient(x, rows.m, total))
        .collect();
    let mut loss = LogLoss {
        value: total - (labels.len() as f64).ln(),
        weights: vec![0.0; weights.len()],
        biases: vec![0.0; biases.len()],
    };
    for (w, b) in parts {
        add(&mut loss.weights, 1.0, &w);
        add(&mut loss.biases, 1.0, &b);
    }
    Some(loss)
}

/// Some of the rows: their labels, ln R_α, and its gradient with respect to the logits.
struct Piece {
    labels: Vec<u32>,
    logs: Vec<f64>,
    by_logits: Vec<f64>,
}

impl Piece {
    fn new(x: &[f64], m: usize, weights: &[f64], biases: &[f64], alpha: f64) -> Self {
        let (n, k) = (x.len() / m, biases.len());
        let mut piece =
            Self { labels: Vec::with_capacity(n), logs: Vec::with_capacity(n), by_logits: vec![0.0; n * k] };
        let mut z = vec![0.0; k];
        for (x, out) in x.chunks_exact(m).zip(piece.by_logits.chunks_exact_mut(k)) {
            for ((z, w), b) in z.iter_mut().zip(weights.chunks_exact(m)).zip(biases) {
                *z = dot(w, x) + b;
            }
            piece.labels.push(largest(&z) as u32);
            piece.logs.push(log_renyi(alpha, &z, out));
        }
        piece
    }

    /// The gradient of `total` = ln Σ R with respect to weights and biases.
    fn gradient(mut self, x: &[f64], m: usize, total: f64) -> (Vec<f64>, Vec<f64>) {
        let k = self.by_logits.len() / self.logs.len();
        let (mut weights, mut biases) = (vec![0.0; k * m], vec![0.0; k]);
        let rows = self.by_logits.chunks_exact_mut(k).zip(&self.logs).zip(x.chunks_exact(m));
        for ((by_logits, log), x) in rows {
            scale(by_logits, (log - total).exp());
            add(&mut biases, 1.0, by_logits);
            weights.chunks_exact_mut(m).zip(by_logits).for_each(|(w, g)| add(w, *g, x));
        }
        (weights, biases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::renyi;
    use crate::simplex::log_softmax;
    use proptest::prelude::*;

    const ORDERS: [f64; 9] = [0.0, 0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, f64::INFINITY];

    proptest! {
        #[test]
        fn the_logarithm_is_that_of_the_entropy_and_so_is_its_gradient(z in prop::collection::vec(-8.0..8.0f64, 2..6)) {
            let k = z.len();
            let (mut log_sigma, mut gradient, mut of_log) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
            log_softmax(&z, &mut log_sigma);
            for alpha in ORDERS {
                let value = renyi::value_and_gradient(alpha, &log_sigma, &mut gradient);
                let log = log_renyi(alpha, &z, &mut of_log);
                prop_assert!((log.exp() / value - 1.0).abs() < 1e-9, "{alpha}: {} {value}", log.exp());
                for (a, b) in of_log.iter().zip(&gradient) {
                    prop_assert!((a * value - b).abs() <= 1e-9 * (1e-3 + b.abs()), "{alpha}: {} {b}", a * value);
                }
            }
        }

        #[test]
        fn far_beyond_underflow_the_loss_is_an_exponential(gap in 1e3..1e5f64) {
            for (alpha, factor) in [(0.1, 1.0f64 / 0.9), (0.5, 2.0), (2.0, 2.0), (5.0, 1.25), (f64::INFINITY, 1.0)] {
                let mut gradient = [0.0; 2];
                let value = log_renyi(alpha, &[gap, 0.0], &mut gradient);
                let rate = alpha.min(1.0);
                prop_assert!((value - (factor.ln() - rate * gap)).abs() < 1e-9 * gap, "{alpha}: {value}");
                prop_assert!((gradient[0] + rate).abs() < 1e-9 && (gradient[1] - rate).abs() < 1e-9);
            }
            let mut gradient = [0.0; 2];
            let value = log_renyi(1.0, &[gap, 0.0], &mut gradient);
            prop_assert!((value - ((1.0 + gap).ln() - gap)).abs() < 1e-9 * gap);
            prop_assert!((gradient[1] - gap / (1.0 + gap)).abs() < 1e-9);
        }
    }
}
