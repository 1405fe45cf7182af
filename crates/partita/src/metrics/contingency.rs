//! How often each cluster meets each class: the table that every comparison of two labelings starts from.

use crate::error::{Error, Result};
use std::ops::Range;

/// A label of a row. Any non-negative value names a cluster; values need not be consecutive. A negative
/// value means "unknown", and its row is left out of every metric.
pub trait Label: Copy + Sync {
    /// The cluster's name, or `None` if the label is unknown.
    fn name(self) -> Option<u64>;
}

macro_rules! label {
    ($($t:ty),*) => {$(
        impl Label for $t {
            fn name(self) -> Option<u64> {
                u64::try_from(self).ok()
            }
        }
    )*};
}
label!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

/// Number of rows that two clusters of different labelings share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Index into [`Contingency::clusters`].
    pub cluster: usize,
    /// Index into [`Contingency::classes`].
    pub class: usize,
    /// Rows in both; never 0.
    pub count: u64,
}

/// The contingency table of a labeling against the truth (or of any two labelings).
///
/// Only the pairs that occur are kept, so two labelings of a million singletons cost a million cells and
/// not a million squared.
///
/// ```
/// use partita::metrics::Contingency;
/// let truth = [0i64, 0, 1, 1, -1]; // the last row is unknown and ignored
/// let predicted = [7usize, 7, 7, 3, 3];
/// let table = Contingency::new(&truth, &predicted)?;
/// assert_eq!((table.total(), table.clusters(), table.classes()), (4, &[3, 7][..], &[0, 1][..]));
/// assert_eq!(table.cluster_sizes(), [1, 3]);
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    clusters: Vec<u64>,
    classes: Vec<u64>,
    cells: Vec<Cell>,
    cluster_sizes: Vec<u64>,
    class_sizes: Vec<u64>,
    total: u64,
}

impl Contingency {
    /// Count the pairs of labels, leaving out rows where either is negative.
    ///
    /// # Errors
    /// [`Error::Length`] if the labelings differ in length, [`Error::NoLabels`] if no row is left.
    pub fn new<T: Label, P: Label>(truth: &[T], predicted: &[P]) -> Result<Self> {
        if truth.len() != predicted.len() {
            let (found, expected) = (predicted.len(), truth.len());
            return Err(Error::Length { what: "the predicted labeling", found, expected });
        }
        let mut pairs: Vec<(u64, u64)> =
            predicted.iter().zip(truth).filter_map(|(p, t)| Some((p.name()?, t.name()?))).collect();
        if pairs.is_empty() {
            return Err(Error::NoLabels { rows: truth.len() });
        }
        pairs.sort_unstable();
        Ok(Self::from_sorted(&pairs))
    }

    fn from_sorted(pairs: &[(u64, u64)]) -> Self {
        let runs: Vec<_> = pairs.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect();
        let clusters = distinct(runs.iter().map(|run| run.0.0).collect());
        let classes = distinct(runs.iter().map(|run| run.0.1).collect());
        let index = |names: &[u64], name: u64| names.partition_point(|&n| n < name);
        let cells: Vec<Cell> = runs
            .iter()
            .map(|&((p, t), count)| Cell { cluster: index(&clusters, p), class: index(&classes, t), count })
            .collect();
        let (mut cluster_sizes, mut class_sizes) = (vec![0; clusters.len()], vec![0; classes.len()]);
        for cell in &cells {
            cluster_sizes[cell.cluster] += cell.count;
            class_sizes[cell.class] += cell.count;
        }
        Self { clusters, classes, cells, cluster_sizes, class_sizes, total: pairs.len() as u64 }
    }

    /// Names of the predicted clusters that occur, ascending.
    pub fn clusters(&self) -> &[u64] {
        &self.clusters
    }

    /// Names of the true classes that occur, ascending.
    pub fn classes(&self) -> &[u64] {
        &self.classes
    }

    /// The pairs that occur, ordered by cluster and then by class.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Rows of each cluster.
    pub fn cluster_sizes(&self) -> &[u64] {
        &self.cluster_sizes
    }

    /// Rows of each class.
    pub fn class_sizes(&self) -> &[u64] {
        &self.class_sizes
    }

    /// Rows that have both labels.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Where the cells of each cluster are in [`Self::cells`].
    pub(super) fn cluster_ranges(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let ranges = self.cells.chunk_by(|a, b| a.cluster == b.cluster).map(|run| {
            let start = end;
            end += run.len();
            start..end
        });
        ranges.collect()
    }
}

fn distinct(mut names: Vec<u64>) -> Vec<u64> {
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_add_up_to_the_sizes_and_the_total() {
        let truth = [5u8, 5, 0, 0, 0, 9];
        let predicted = [1i32, 1, 1, -1, 2, 1 << 30];
        let table = Contingency::new(&truth, &predicted).unwrap();
        assert_eq!(table.clusters(), [1, 2, 1 << 30]);
        assert_eq!(table.classes(), [0, 5, 9]);
        let cells: Vec<_> = table.cells().iter().map(|c| (c.cluster, c.class, c.count)).collect();
        assert_eq!(cells, [(0, 0, 1), (0, 1, 2), (1, 0, 1), (2, 2, 1)]);
        assert_eq!((table.cluster_sizes(), table.class_sizes()), (&[3, 1, 1][..], &[2, 2, 1][..]));
        assert_eq!((table.total(), table.cluster_ranges()), (5, vec![0..2, 2..3, 3..4]));
    }

    #[test]
    fn labelings_of_different_lengths_are_refused_with_both_lengths() {
        let error = Contingency::new(&[0usize, 1, 2], &[0usize, 1]).unwrap_err();
        assert!(matches!(error, Error::Length { found: 2, expected: 3, .. }), "{error}");
    }

    #[test]
    fn labelings_without_a_common_row_are_refused() {
        let nothing: [usize; 0] = [];
        assert!(matches!(Contingency::new(&nothing, &nothing).unwrap_err(), Error::NoLabels { rows: 0 }));
        assert!(matches!(Contingency::new(&[-1, 0], &[0, -1]).unwrap_err(), Error::NoLabels { rows: 2 }));
    }
}
