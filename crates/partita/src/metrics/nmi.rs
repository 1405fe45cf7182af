//! Normalised mutual information of two labelings.

use super::contingency::{Contingency, Label};
use crate::error::Result;
use crate::simplex::xlnx;

/// Normalised mutual information (NMI): 2 I(T;P) / (H(T) + H(P)), from 0 to 1.
///
/// The arithmetic mean of the entropies normalises, as is scikit-learn's default. Two labelings of one cluster
/// each are the same partition and score 1; one cluster against several tells nothing and scores 0.
///
/// ```
/// assert_eq!(partita::metrics::nmi(&[0, 0, 1, 1], &[1, 1, 0, 0])?, 1.0);
/// assert_eq!(partita::metrics::nmi(&[0, 0, 1, 1], &[0, 1, 0, 1])?, 0.0);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// As [`Contingency::new`].
pub fn nmi<T: Label, P: Label>(truth: &[T], predicted: &[P]) -> Result<f64> {
    Ok(Contingency::new(truth, predicted)?.nmi())
}

impl Contingency {
    /// Normalised mutual information; see [`nmi()`].
    pub fn nmi(&self) -> f64 {
        let entropies = self.entropy(self.cluster_sizes()) + self.entropy(self.class_sizes());
        if entropies == 0.0 {
            return 1.0;
        }
        // Information that is only rounding would otherwise show as a tiny positive or negative score.
        let information = self.mutual_information();
        if information < f64::EPSILON { 0.0 } else { (2.0 * information / entropies).min(1.0) }
    }

    /// Mutual information of clusters and classes, in nats.
    pub fn mutual_information(&self) -> f64 {
        let n = self.total() as f64;
        let terms = self.cells().iter().map(|cell| {
            let share = cell.count as f64 / n;
            let independent =
                self.cluster_sizes()[cell.cluster] as f64 * self.class_sizes()[cell.class] as f64;
            share * (cell.count as f64 * n / independent).ln()
        });
        terms.sum()
    }

    fn entropy(&self, sizes: &[u64]) -> f64 {
        let n = self.total() as f64;
        // `0.0 -` rather than a minus sign, so that one cluster has entropy 0 and not -0.
        0.0 - sizes.iter().map(|&size| xlnx(size as f64 / n)).sum::<f64>()
    }
}
