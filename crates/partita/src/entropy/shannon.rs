//! Shannon's entropy H(σ) = −Σ σ ln σ.

use super::through_softmax;

/// H(σ) of one row.
///
/// ```
/// let half = 0.5f64.ln();
/// assert!((partita::entropy::shannon::value(&[half, half]) - 2f64.ln()).abs() < 1e-15);
/// ```
pub fn value(log_sigma: &[f64]) -> f64 {
    let term = |l: &f64| match l.exp() {
        sigma if sigma > 0.0 => -sigma * l,
        _ => 0.0,
    };
    log_sigma.iter().map(term).sum()
}

/// H(σ), and dH/dz = −σ (ln σ + H) into `out`.
pub fn value_and_gradient(log_sigma: &[f64], out: &mut [f64]) -> f64 {
    through_softmax(log_sigma, |k| -log_sigma[k], out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, differences, extremes, log_sigma, logits};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(z in logits()) {
            let l = log_sigma(&z, z.len());
            let mut out = vec![0.0; z.len()];
            let h = value_and_gradient(&l, &mut out);
            prop_assert!((h - value(&l)).abs() < 1e-13 && h >= 0.0 && h <= (z.len() as f64).ln() + 1e-12);
            assert_close(&out, &differences(&z, z.len(), value), 1e-8);
        }
    }

    #[test]
    fn extreme_logits_give_finite_numbers() {
        for z in extremes() {
            let mut out = vec![0.0; z.len()];
            let h = value_and_gradient(&log_sigma(&z, z.len()), &mut out);
            assert!(h.is_finite() && h >= 0.0 && out.iter().all(|v| v.is_finite()), "{z:?}");
        }
        assert_eq!(value(&[0.0, f64::NEG_INFINITY]), 0.0);
    }

    #[test]
    fn a_decided_row_keeps_its_relative_precision() {
        // For K = 2 and logits (m, 0): H ~ (m + 1) exp(-m).
        let h = value(&log_sigma(&[60.0, 0.0], 2));
        assert!((h / (61.0 * (-60f64).exp()) - 1.0).abs() < 1e-12);
    }
}
