//! Cross-entropy in both orders: H(y, σ) mimics uncertain labels, the reverse H(σ, y) ignores them.

use super::through_softmax;

/// H(y, σ) = −Σ y ln σ, the standard order: y is the target.
pub fn forward(y: &[f64], log_sigma: &[f64]) -> f64 {
    let term = |(y, l): (&f64, &f64)| if *y > 0.0 { -y * l } else { 0.0 };
    y.iter().zip(log_sigma).map(term).sum()
}

/// H(y, σ), and its gradient σ Σy − y into `out`.
pub fn forward_and_gradient(y: &[f64], log_sigma: &[f64], out: &mut [f64]) -> f64 {
    let total: f64 = y.iter().sum();
    for ((o, y), l) in out.iter_mut().zip(y).zip(log_sigma) {
        *o = l.exp() * total - y;
    }
    forward(y, log_sigma)
}

/// H(σ, y) = −Σ σ ln y, the reverse order: y is the estimate. Infinite if y vanishes where σ does not.
///
/// ```
/// // Uncertain labels cost every prediction the same, so they teach nothing.
/// let log_y = [0.5f64.ln(); 2];
/// let cost = |p: f64| partita::entropy::cross::reverse(&[p.ln(), (1.0 - p).ln()], &log_y);
/// assert!((cost(0.1) - cost(0.8)).abs() < 1e-15);
/// ```
pub fn reverse(log_sigma: &[f64], log_y: &[f64]) -> f64 {
    let term = |(l, log_y): (&f64, &f64)| match l.exp() {
        sigma if sigma > 0.0 => -sigma * log_y,
        _ => 0.0,
    };
    log_sigma.iter().zip(log_y).map(term).sum()
}

/// H(σ, y), and its gradient σ (g − Σ σ g), g = −ln y, into `out`. Takes finite `log_y`.
pub fn reverse_and_gradient(log_sigma: &[f64], log_y: &[f64], out: &mut [f64]) -> f64 {
    through_softmax(log_sigma, |k| -log_y[k], out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, differences, extremes, log_sigma, logits};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradients_are_those_of_finite_differences(z in logits(), seed in 0.1..2.0f64) {
            let k = z.len();
            let labels: Vec<f64> = (0..k).map(|i| (seed * (i * i) as f64).sin() * 3.0).collect();
            let log_y = log_sigma(&labels, k);
            let y: Vec<f64> = log_y.iter().map(|v| v.exp()).collect();
            let (l, mut out) = (log_sigma(&z, k), vec![0.0; k]);
            let value = forward_and_gradient(&y, &l, &mut out);
            prop_assert!((value - forward(&y, &l)).abs() < 1e-12);
            assert_close(&out, &differences(&z, k, |l| forward(&y, l)), 1e-8);
            let value = reverse_and_gradient(&l, &log_y, &mut out);
            prop_assert!((value - reverse(&l, &log_y)).abs() < 1e-12);
            assert_close(&out, &differences(&z, k, |l| reverse(l, &log_y)), 1e-8);
        }
    }

    #[test]
    fn reverse_cross_entropy_ignores_uncertain_labels() {
        let log_y = [0.25f64.ln(); 4];
        let mut out = [1.0; 4];
        reverse_and_gradient(&log_sigma(&[3.0, 1.0, -2.0, 0.0], 4), &log_y, &mut out);
        assert_close(&out, &[0.0; 4], 1e-15);
    }

    #[test]
    fn extreme_logits_give_finite_numbers() {
        for z in extremes() {
            let k = z.len();
            let (l, mut out) = (log_sigma(&z, k), vec![0.0; k]);
            let mut y = vec![0.0; k];
            y[k - 1] = 1.0;
            assert!(forward_and_gradient(&y, &l, &mut out).is_finite() && out.iter().all(|v| v.is_finite()));
            assert!(reverse_and_gradient(&l, &l, &mut out).is_finite() && out.iter().all(|v| v.is_finite()));
        }
    }
}
