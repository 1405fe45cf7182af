//! The forward half of the tie between pseudo-labels and predictions.
//!
//! The reverse cross-entropy is H(σ) + KL(σ‖y). Strong fairness makes ȳ = u, but KL(σ‖y) lets a decided row ignore
//! its label at a finite price: a cluster that no image takes costs about −ln(1 − u) and no more, and its logits get the
//! gradient σ (−ln y − H(σ, y)), which vanishes with σ. So the labels of a dead cluster are as many as the prior asks
//! for, and no image follows them. KL(y‖σ) is infinite there, and its gradient is σ − y, however small σ is. Where
//! y = σ it adds nothing.

use partita::simplex::xlnx;

/// Add the gradient of `weight` · mean KL(y‖σ) in the logits, labels held fixed; returns the value of the term.
pub fn forward(log_sigma: &[f64], y: &[f64], k: usize, weight: f64, gradient: &mut [f64]) -> f64 {
    let n = (log_sigma.len() / k) as f64;
    let mut value = 0.0;
    for ((gradient, l), y) in gradient.iter_mut().zip(log_sigma).zip(y) {
        *gradient += weight * (l.exp() - y) / n;
        value += xlnx(*y) - y * l;
    }
    weight * value / n
}
