//! Adjusted Rand index of two labelings, and agreement among many.

use super::contingency::{Contingency, Label};
use crate::error::{Error, Result};
use rayon::prelude::*;

/// Adjusted Rand index (ARI): agreement on pairs of rows beyond chance. 1 for equal partitions, about 0 for
/// unrelated ones, at worst -0.5.
///
/// ```
/// assert_eq!(partita::metrics::ari(&[0, 0, 1, 1], &[1, 1, 0, 0])?, 1.0);
/// assert_eq!(partita::metrics::ari(&[0, 0, 1, 1], &[0, 1, 0, 1])?, -0.5);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// As [`Contingency::new`].
pub fn ari<T: Label, P: Label>(truth: &[T], predicted: &[P]) -> Result<f64> {
    Ok(Contingency::new(truth, predicted)?.ari())
}

/// Mean ARI over all pairs of labelings: do restarts find the same clusters? No ground truth is needed.
///
/// ```
/// let restarts = [vec![0usize, 0, 1, 1], vec![1, 1, 0, 0], vec![0, 0, 1, 1]];
/// assert_eq!(partita::metrics::mean_pairwise_ari(&restarts)?, 1.0);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for fewer than two labelings; otherwise as [`Contingency::new`].
pub fn mean_pairwise_ari<L: Label, V: AsRef<[L]> + Sync>(labelings: &[V]) -> Result<f64> {
    let count = labelings.len();
    if count < 2 {
        return Err(Error::Parameter { name: "labelings", value: count.to_string(), must: "at least 2" });
    }
    let pairs: Vec<(usize, usize)> = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))).collect();
    // Collected in order before they are added, so that the sum has the same bits for any number of threads.
    let scores: Vec<f64> = pairs
        .par_iter()
        .map(|&(i, j)| ari(labelings[i].as_ref(), labelings[j].as_ref()))
        .collect::<Result<_>>()?;
    Ok(scores.iter().sum::<f64>() / scores.len() as f64)
}

impl Contingency {
    /// Adjusted Rand index; see [`ari()`].
    pub fn ari(&self) -> f64 {
        let squares = |sizes: &[u64]| sizes.iter().map(|&s| i128::from(s) * i128::from(s)).sum::<i128>();
        let n = i128::from(self.total());
        let both: i128 = self.cells().iter().map(|c| i128::from(c.count) * i128::from(c.count)).sum();
        adjusted(n, both, squares(self.cluster_sizes()), squares(self.class_sizes()))
    }
}

/// The index of two labelings of `n` rows from the sums of squares of the cells of their table, and of both kinds of sizes.
pub(super) fn adjusted(n: i128, both: i128, clusters: i128, classes: i128) -> f64 {
    // Ordered pairs of rows: together in both, only in the prediction, only in the truth, in neither.
    let (together, predicted, truth) = (both - n, clusters - both, classes - both);
    let apart = n * n - clusters - classes + both;
    if predicted == 0 && truth == 0 {
        return 1.0;
    }
    // Exact in integers up to a billion rows; only the last division rounds.
    let agreement = 2 * (together * apart - predicted * truth);
    let chance = (together + truth) * (truth + apart) + (together + predicted) * (predicted + apart);
    agreement as f64 / chance as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_among_restarts_is_the_mean_over_pairs() {
        let (a, b, c) = ([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 0, 1]);
        let by_hand = (ari(&a, &b).unwrap() + ari(&a, &c).unwrap() + ari(&b, &c).unwrap()) / 3.0;
        assert_eq!(mean_pairwise_ari(&[a, b, c]).unwrap(), by_hand);
    }

    #[test]
    fn one_labeling_agrees_with_nothing() {
        let error = mean_pairwise_ari(&[[0usize, 1]]).unwrap_err();
        assert!(error.to_string().contains("at least 2"), "{error}");
    }
}
