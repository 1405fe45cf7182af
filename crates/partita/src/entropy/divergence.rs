//! Kullback–Leibler divergences.

use super::through_softmax;
use crate::simplex::ln_floor;

/// KL(p‖q) = Σ p ln(p/q) of two distributions. A vanished q has the logarithm of [`crate::simplex::TINY`].
///
/// ```
/// assert_eq!(partita::entropy::divergence::kl(&[0.5, 0.5], &[0.5, 0.5]), 0.0);
/// ```
pub fn kl(p: &[f64], q: &[f64]) -> f64 {
    let term = |(p, q): (&f64, &f64)| if *p > 0.0 { p * (p.ln() - ln_floor(*q)) } else { 0.0 };
    p.iter().zip(q).map(term).sum()
}

/// KL(y‖σ) = Σ y (ln y − ln σ), zero-avoiding for σ.
pub fn forward(y: &[f64], log_sigma: &[f64]) -> f64 {
    let term = |(y, l): (&f64, &f64)| if *y > 0.0 { y * (y.ln() - l) } else { 0.0 };
    y.iter().zip(log_sigma).map(term).sum()
}

/// KL(y‖σ), and its gradient σ Σy − y into `out`.
pub fn forward_and_gradient(y: &[f64], log_sigma: &[f64], out: &mut [f64]) -> f64 {
    super::cross::forward_and_gradient(y, log_sigma, out);
    forward(y, log_sigma)
}

/// KL(σ‖y) = Σ σ (ln σ − ln y), zero-forcing for σ.
pub fn reverse(log_sigma: &[f64], log_y: &[f64]) -> f64 {
    let term = |(l, log_y): (&f64, &f64)| match l.exp() {
        sigma if sigma > 0.0 => sigma * (l - log_y),
        _ => 0.0,
    };
    log_sigma.iter().zip(log_y).map(term).sum()
}

/// KL(σ‖y), and its gradient σ (d − Σ σ d), d = ln σ − ln y, into `out`. Takes finite `log_y`.
pub fn reverse_and_gradient(log_sigma: &[f64], log_y: &[f64], out: &mut [f64]) -> f64 {
    through_softmax(log_sigma, |k| log_sigma[k] - log_y[k], out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, differences, extremes, log_sigma, logits};
    use super::super::{cross, shannon};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradients_are_those_of_finite_differences(z in logits(), seed in 0.1..2.0f64) {
            let k = z.len();
            let labels: Vec<f64> = (0..k).map(|i| (seed * (i * i) as f64).cos() * 3.0).collect();
            let log_y = log_sigma(&labels, k);
            let y: Vec<f64> = log_y.iter().map(|v| v.exp()).collect();
            let (l, mut out) = (log_sigma(&z, k), vec![0.0; k]);
            let value = forward_and_gradient(&y, &l, &mut out);
            let sigma: Vec<f64> = l.iter().map(|v| v.exp()).collect();
            prop_assert!((value - kl(&y, &sigma)).abs() < 1e-12 && value >= -1e-12);
            prop_assert!((value - cross::forward(&y, &l) + shannon::value(&log_y)).abs() < 1e-12);
            assert_close(&out, &differences(&z, k, |l| forward(&y, l)), 1e-8);
            let value = reverse_and_gradient(&l, &log_y, &mut out);
            prop_assert!((value - cross::reverse(&l, &log_y) + shannon::value(&l)).abs() < 1e-12);
            prop_assert!((value - reverse(&l, &log_y)).abs() < 1e-12);
            assert_close(&out, &differences(&z, k, |l| reverse(l, &log_y)), 1e-8);
        }
    }

    #[test]
    fn extreme_logits_give_finite_numbers() {
        for z in extremes() {
            let k = z.len();
            let (l, mut out) = (log_sigma(&z, k), vec![0.0; k]);
            let mut y = vec![0.0; k];
            y[0] = 1.0;
            assert!(forward_and_gradient(&y, &l, &mut out).is_finite() && out.iter().all(|v| v.is_finite()));
            let flat = vec![-(k as f64).ln(); k];
            assert!(
                reverse_and_gradient(&l, &flat, &mut out).is_finite() && out.iter().all(|v| v.is_finite())
            );
        }
        assert!(kl(&[0.5, 0.5], &[1.0, 0.0]).is_finite());
    }
}
