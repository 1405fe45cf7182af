//! How well each cluster of a labeling is found again in another, every cluster counted the same.

use super::ari::adjusted;
use super::contingency::{Contingency, Label};
use crate::error::Result;

/// Mean over `k` clusters of how well each agrees with the one it is matched with: the adjusted Rand index of being in the cluster or not.
/// 1 if all are found again, about 0 if the labelings are unrelated. A cluster that either labeling lacks counts 0.
///
/// The adjusted Rand index of whole labelings counts pairs of rows, so that two large clusters hide ten small ones; here a small cluster
/// that is not found again counts as much as a large one. For two clusters both are the same.
///
/// ```
/// use partita::metrics::clusterwise;
/// assert_eq!(clusterwise(&[0, 0, 1, 1], &[1, 1, 0, 0], 2)?, 1.0);
/// assert_eq!(clusterwise(&[0, 0, 1, 1], &[0, 0, 1, 1], 4)?, 0.5);
/// assert!(clusterwise(&[0, 0, 1, 1], &[0, 1, 0, 1], 2)? <= 0.0);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// As [`Contingency::new`].
pub fn clusterwise<T: Label, P: Label>(first: &[T], second: &[P], k: usize) -> Result<f64> {
    let table = Contingency::new(first, second)?;
    let sum: f64 = table.cells_of_matching().map(|(both, a, b)| found_again(both, a, b, table.total())).sum();
    Ok(sum / k.max(table.clusters().len()).max(table.classes().len()) as f64)
}

/// Adjusted Rand index of being in clusters of `a` and `b` rows, of which both hold `both`, or not, among `n` rows.
fn found_again(both: u64, a: u64, b: u64, n: u64) -> f64 {
    let [both, a, b, n] = [both, a, b, n].map(i128::from);
    // A cluster of all rows agrees with another whatever the rows are.
    if a == n || b == n {
        return 0.0;
    }
    let squares = |cells: &[i128]| cells.iter().map(|c| c * c).sum();
    adjusted(
        n,
        squares(&[both, a - both, b - both, n - a - b + both]),
        squares(&[a, n - a]),
        squares(&[b, n - b]),
    )
}

impl Contingency {
    /// Rows in both, in the cluster and in the class, of each pair that the best matching joins.
    fn cells_of_matching(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let matching = self.matching();
        let matched = move |cluster: u64, class: u64| matching.class_of(cluster) == Some(class);
        self.cells().iter().filter_map(move |cell| {
            let joined = matched(self.clusters()[cell.cluster], self.classes()[cell.class]);
            joined.then(|| (cell.count, self.cluster_sizes()[cell.cluster], self.class_sizes()[cell.class]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    #[test]
    fn a_small_cluster_counts_as_much_as_a_large_one() {
        let first: Vec<u32> = (0..100).map(|i| if i < 90 { 0 } else { 1 + i % 2 }).collect();
        let second: Vec<u32> = (0..100).map(|i| if i < 90 { 0 } else { 1 + u32::from(i < 95) }).collect();
        let found = clusterwise(&first, &second, 3).unwrap();
        assert!(found < 0.75 && crate::metrics::ari(&first, &second).unwrap() > 0.9, "{found}");
    }

    #[test]
    fn unrelated_labels_agree_by_chance_alone_whatever_their_number() {
        let mut rng = stream(4, Stream::Synthetic, 0);
        for k in [2u32, 5, 20] {
            let mut draw = || -> Vec<u32> { (0..4000).map(|_| rng.random_range(0..k)).collect() };
            let found = clusterwise(&draw(), &draw(), k as usize).unwrap();
            assert!(found.abs() < 0.03, "{k}: {found}");
        }
    }

    #[test]
    fn of_two_clusters_it_is_the_adjusted_rand_index() {
        let (first, second) = ([0, 0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0, 1]);
        let found = clusterwise(&first, &second, 2).unwrap();
        assert!((found - crate::metrics::ari(&first, &second).unwrap()).abs() < 1e-12, "{found}");
    }

    #[test]
    fn one_cluster_for_all_rows_is_no_agreement() {
        assert_eq!(clusterwise(&[0, 0, 0], &[1, 1, 1], 2).unwrap(), 0.0);
    }
}
