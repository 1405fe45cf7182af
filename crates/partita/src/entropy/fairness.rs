//! Fairness: how far the cluster shares are from the prior, in either order of the divergence.

use super::divergence::kl;
use crate::simplex::{TINY, ln_floor};
use serde::{Deserialize, Serialize};

/// Which divergence holds the mean ȳ (of pseudo-labels or predictions) near the prior u.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fairness {
    /// KL(u‖ȳ): infinite for an empty cluster.
    #[default]
    Strong,
    /// KL(ȳ‖u): tolerates empty clusters, as RIM's and mutual information's −H(ȳ) do.
    Weak,
}

impl Fairness {
    /// The divergence, 0 when `mean` is the prior.
    ///
    /// ```
    /// use partita::objective::Fairness;
    /// let (u, empty) = ([0.5, 0.5], [1.0, 0.0]);
    /// assert!(Fairness::Strong.value(&empty, &u) > 100.0);
    /// assert!((Fairness::Weak.value(&empty, &u) - 2f64.ln()).abs() < 1e-15);
    /// ```
    pub fn value(self, mean: &[f64], prior: &[f64]) -> f64 {
        match self {
            Self::Strong => kl(prior, mean),
            Self::Weak => kl(mean, prior),
        }
    }

    /// d/dȳ_k for a mean and a prior of this cluster.
    #[inline]
    pub fn slope(self, mean: f64, prior: f64) -> f64 {
        match self {
            Self::Strong => -prior / mean.max(TINY),
            Self::Weak => ln_floor(mean) - prior.ln() + 1.0,
        }
    }

    /// d²/dȳ_k².
    #[inline]
    pub fn curvature(self, mean: f64, prior: f64) -> f64 {
        let mean = mean.max(TINY);
        match self {
            Self::Strong => prior / mean / mean,
            Self::Weak => 1.0 / mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slope_and_curvature_are_those_of_finite_differences(m in 0.05..0.95, u in 0.05..0.95) {
            for fairness in [Fairness::Strong, Fairness::Weak] {
                let h = 1e-5;
                let value = |m: f64| fairness.value(&[m], &[u]);
                let slope = |m: f64| fairness.slope(m, u);
                let (first, second) = (value(m + h) - value(m - h), slope(m + h) - slope(m - h));
                prop_assert!((first / (2.0 * h) - slope(m)).abs() < 1e-5 * (1.0 + slope(m).abs()));
                let curvature = fairness.curvature(m, u);
                prop_assert!((second / (2.0 * h) - curvature).abs() < 1e-5 * (1.0 + curvature));
            }
        }
    }

    #[test]
    fn only_strong_fairness_forbids_an_empty_cluster() {
        let u = [0.25; 4];
        let nearly_empty = [1e-200, 0.4, 0.3, 0.3];
        assert!(Fairness::Strong.value(&nearly_empty, &u) > 100.0);
        assert!(Fairness::Weak.value(&nearly_empty, &u) < 0.4);
        for fairness in [Fairness::Strong, Fairness::Weak] {
            assert_eq!(fairness.value(&u, &u), 0.0);
            assert!(fairness.slope(0.0, 0.25).is_finite());
        }
    }
}
