//! Decisiveness: the mean entropy of the predictions, Shannon's or Rényi's.

use super::{Batch, known_label};
use crate::entropy::{renyi, shannon};

/// Which entropy measures how undecided a prediction is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decisiveness {
    /// H(σ).
    Shannon,
    /// R_α(σ) of this order α ≥ 0.
    Renyi(f64),
}

impl Decisiveness {
    /// The entropy of one row.
    pub fn value(self, log_sigma: &[f64]) -> f64 {
        match self {
            Self::Shannon => shannon::value(log_sigma),
            Self::Renyi(alpha) => renyi::value(alpha, log_sigma),
        }
    }

    /// The entropy of one row, and d/dz into `out`.
    pub fn value_and_gradient(self, log_sigma: &[f64], out: &mut [f64]) -> f64 {
        match self {
            Self::Shannon => shannon::value_and_gradient(log_sigma, out),
            Self::Renyi(alpha) => renyi::value_and_gradient(alpha, log_sigma, out),
        }
    }

    /// The weighted mean entropy of a batch, known rows counting with their cross-entropy; d/dz into `gradient`.
    pub fn mean_and_gradient(self, batch: Batch<'_>, gradient: &mut [f64]) -> f64 {
        let mut mean = 0.0;
        for (row, out) in batch.rows().zip(gradient.chunks_exact_mut(batch.k)) {
            let value = match row.known {
                Some(label) => known_label(row.log_sigma, label, out),
                None => self.value_and_gradient(row.log_sigma, out),
            };
            mean += row.share * value;
            out.iter_mut().for_each(|o| *o *= row.share);
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sample, sample};
    use super::*;
    use crate::entropy::testing::{assert_close, differences};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(s in sample(), alpha in 0.0..4.0) {
            for measure in [Decisiveness::Shannon, Decisiveness::Renyi(alpha)] {
                let mut gradient = vec![0.0; s.z.len()];
                measure.mean_and_gradient(s.batch(&s.log_sigma()), &mut gradient);
                let value = |l: &[f64]| measure.mean_and_gradient(s.batch(l), &mut vec![0.0; l.len()]);
                assert_close(&gradient, &differences(&s.z, s.k, value), 1e-7);
            }
        }

        #[test]
        fn a_weight_is_a_repetition(s in sample()) {
            let (once, twice) = (s.clone().with_integer_weights(), s.repeated());
            let value = |s: &Sample| {
                Decisiveness::Shannon.mean_and_gradient(s.batch(&s.log_sigma()), &mut vec![0.0; s.z.len()])
            };
            prop_assert!((value(&once) - value(&twice)).abs() < 1e-12);
        }
    }

    #[test]
    fn order_one_is_shannons() {
        let l = crate::entropy::testing::log_sigma(&[1.0, -2.0, 0.5], 3);
        assert_eq!(Decisiveness::Shannon.value(&l), Decisiveness::Renyi(1.0).value(&l));
    }
}
