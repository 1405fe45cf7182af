//! Rényi's entropy R_α(σ) = ln Σ σ^α / (1 − α) for every order α ≥ 0.
//!
//! The formula is 0/0 at α = 1 and ∞/∞ at α = ∞, so three orders and one neighbourhood have their own:
//! R_0 = ln of the number of classes with σ > 0 (K where logits are finite), R_1 = H, R_∞ = −ln max σ, and near 1,
//! with ε = α − 1, R_α = −ln(1 + ε m)/ε where m = Σ σ (σ^ε − 1)/ε tends to −H.

use super::shannon;
use crate::simplex::NEAR_SHANNON;

/// R_α(σ) of one row.
///
/// # Panics
/// If α is negative or NaN.
///
/// ```
/// use partita::entropy::renyi::value;
/// let row = [0.9f64.ln(), 0.1f64.ln()];
/// assert!(value(f64::INFINITY, &row) < value(2.0, &row) && value(2.0, &row) < value(1.0, &row));
/// ```
pub fn value(alpha: f64, log_sigma: &[f64]) -> f64 {
    assert!(alpha >= 0.0, "the order of Rényi's entropy must be at least 0, not {alpha}");
    let epsilon = alpha - 1.0;
    if alpha == 0.0 {
        (log_sigma.iter().filter(|l| **l > f64::NEG_INFINITY).count() as f64).ln()
    } else if epsilon == 0.0 {
        shannon::value(log_sigma)
    } else if alpha.is_infinite() {
        -max(log_sigma)
    } else if epsilon.abs() < NEAR_SHANNON {
        -(epsilon * mean_power(epsilon, log_sigma)).ln_1p() / epsilon
    } else {
        log_power_sum(alpha, log_sigma) / -epsilon
    }
}

/// R_α(σ), and dR_α/dz into `out`: α (π − σ)/(1 − α) with π ∝ σ^α.
///
/// At α = ∞ the clusters that tie for the maximum share the subgradient, as they do in the limit.
pub fn value_and_gradient(alpha: f64, log_sigma: &[f64], out: &mut [f64]) -> f64 {
    let epsilon = alpha - 1.0;
    if alpha == 0.0 {
        out.fill(0.0);
    } else if epsilon == 0.0 {
        return shannon::value_and_gradient(log_sigma, out);
    } else if alpha.is_infinite() {
        gradient_at_infinity(log_sigma, out);
    } else if epsilon.abs() < NEAR_SHANNON {
        gradient_near_shannon(epsilon, log_sigma, out);
    } else {
        let lse = log_power_sum(alpha, log_sigma);
        for (o, l) in out.iter_mut().zip(log_sigma) {
            *o = -alpha / epsilon * ((alpha * l - lse).exp() - l.exp());
        }
    }
    value(alpha, log_sigma)
}

fn max(log_sigma: &[f64]) -> f64 {
    log_sigma.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// ln Σ σ^α. The largest term stays out of the sum, which keeps the precision of decided rows.
fn log_power_sum(alpha: f64, log_sigma: &[f64]) -> f64 {
    let top = max(log_sigma);
    let at = log_sigma.iter().position(|l| *l == top);
    let others = log_sigma.iter().enumerate().filter(|(i, _)| Some(*i) != at);
    alpha * top + others.map(|(_, l)| (alpha * (l - top)).exp()).sum::<f64>().ln_1p()
}

/// (σ^ε − 1)/ε, which tends to ln σ.
fn power(epsilon: f64, l: f64) -> f64 {
    (epsilon * l).exp_m1() / epsilon
}

/// m = Σ σ (σ^ε − 1)/ε; an underflowed σ adds nothing.
fn mean_power(epsilon: f64, log_sigma: &[f64]) -> f64 {
    let term = |l: &f64| match l.exp() {
        sigma if sigma > 0.0 => sigma * power(epsilon, *l),
        _ => 0.0,
    };
    log_sigma.iter().map(term).sum()
}

fn gradient_near_shannon(epsilon: f64, log_sigma: &[f64], out: &mut [f64]) {
    let m = mean_power(epsilon, log_sigma);
    let scale = -(1.0 + epsilon) / (1.0 + epsilon * m);
    for (o, l) in out.iter_mut().zip(log_sigma) {
        let sigma = l.exp();
        *o = if sigma > 0.0 { scale * sigma * (power(epsilon, *l) - m) } else { 0.0 };
    }
}

fn gradient_at_infinity(log_sigma: &[f64], out: &mut [f64]) {
    let top = max(log_sigma);
    let ties = log_sigma.iter().filter(|l| **l == top).count() as f64;
    for (o, l) in out.iter_mut().zip(log_sigma) {
        *o = l.exp() - if *l == top { 1.0 / ties } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, differences, extremes, log_sigma, logits};
    use super::*;
    use proptest::prelude::*;

    fn orders() -> impl Strategy<Value = f64> {
        prop_oneof![0.0..8.0, Just(0.0), Just(1.0), 0.9985..1.0015, Just(2.0), 20.0..60.0]
    }

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(z in logits(), alpha in orders()) {
            let mut out = vec![0.0; z.len()];
            let r = value_and_gradient(alpha, &log_sigma(&z, z.len()), &mut out);
            prop_assert!(r >= 0.0 && r <= (z.len() as f64).ln() + 1e-12);
            // Central differences of a function that bends on the scale 1/α err by (αh)².
            assert_close(&out, &differences(&z, z.len(), |l| value(alpha, l)), 1e-8 * (1.0 + alpha * alpha));
        }

        #[test]
        fn entropy_falls_with_its_order(z in logits(), alpha in 0.0..5.0, more in 0.0..5.0) {
            let l = log_sigma(&z, z.len());
            prop_assert!(value(alpha + more, &l) <= value(alpha, &l) + 1e-12);
            prop_assert!(value(f64::INFINITY, &l) <= value(alpha + more, &l) + 1e-12);
        }

        #[test]
        fn orders_next_to_the_special_ones_agree_with_them(z in logits(), side in prop_oneof![Just(-1.0), Just(1.0)]) {
            let l = log_sigma(&z, z.len());
            let (mut near, mut at) = (vec![0.0; z.len()], vec![0.0; z.len()]);
            for step in [1e-15, 1e-9] {
                let r = value_and_gradient(1.0 + side * step, &l, &mut near);
                let h = value_and_gradient(1.0, &l, &mut at);
                // The slope in α is minus half the variance of ln σ, below 20 for these logits.
                prop_assert!((r - h).abs() < 20.0 * step + 1e-13, "{} {}", r, h);
                assert_close(&near, &at, 1e-6);
            }
            // Both sides of the border between the two formulas.
            for alpha in [1.0 + side * NEAR_SHANNON * 0.999_999, 1.0 + side * NEAR_SHANNON * 1.000_001] {
                let far = log_power_sum(alpha, &l) / (1.0 - alpha);
                prop_assert!((value(alpha, &l) - far).abs() < 1e-11);
            }
            prop_assert!((value(1e-12, &l) - value(0.0, &l)).abs() < 1e-9);
            prop_assert!((value(1e7, &l) - value(f64::INFINITY, &l)).abs() < 1e-5);
        }
    }

    #[test]
    fn a_one_hot_row_has_no_entropy_of_any_order() {
        for alpha in [0.0, 0.5, 1.0, 1.0 + 1e-4, 2.0, f64::INFINITY] {
            for row in
                [[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY], [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0]]
            {
                assert_eq!(value(alpha, &row).abs(), 0.0, "{alpha}");
            }
        }
        let pair = [0.5f64.ln(), f64::NEG_INFINITY, 0.5f64.ln()];
        assert_eq!(value(0.0, &pair), 2f64.ln(), "order 0 counts the classes that are possible");
    }

    #[test]
    fn extreme_logits_give_finite_numbers() {
        for z in extremes() {
            let l = log_sigma(&z, z.len());
            for alpha in [0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0, 1.0 + 1e-4, 2.0, 1e6, f64::INFINITY] {
                let mut out = vec![0.0; z.len()];
                let r = value_and_gradient(alpha, &l, &mut out);
                assert!(r.is_finite() && r >= 0.0 && out.iter().all(|v| v.is_finite()), "{alpha} {z:?}: {r}");
            }
        }
    }

    #[test]
    fn a_decided_row_keeps_its_relative_precision() {
        // For α > 1 and logits (m, 0): R_α ~ α/(α − 1) exp(−m).
        let r = value(2.0, &log_sigma(&[50.0, 0.0], 2));
        assert!((r / (2.0 * (-50f64).exp()) - 1.0).abs() < 1e-12, "{r}");
    }
}
