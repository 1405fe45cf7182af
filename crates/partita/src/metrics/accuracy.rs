//! Clustering accuracy: the share of rows that are right under the best one-to-one matching of clusters to classes.

use super::assignment::assign;
use super::contingency::{Contingency, Label};
use crate::error::Result;

/// The best one-to-one matching of predicted clusters to true classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// Cluster and class, for every predicted cluster in ascending order. A cluster is left without a class
    /// when there are more clusters than classes, or when every class it meets is better used elsewhere.
    pub pairs: Vec<(u64, Option<u64>)>,
    /// Rows whose class is the one their cluster is matched to.
    pub correct: u64,
    /// Rows compared.
    pub total: u64,
}

impl Matching {
    /// Share of the rows that are right, from 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.total as f64
    }

    /// The class that a cluster is matched to.
    pub fn class_of(&self, cluster: u64) -> Option<u64> {
        let at = self.pairs.binary_search_by_key(&cluster, |pair| pair.0).ok()?;
        self.pairs[at].1
    }
}

/// Match clusters to classes so that as many rows as possible are right. The numbers of clusters and classes may
/// differ.
///
/// ```
/// let truth = [0, 0, 0, 1, 1, 2];
/// let predicted = [5, 5, 8, 8, 8, 8];
/// let matching = partita::metrics::matching(&truth, &predicted)?;
/// assert_eq!(matching.pairs, [(5, Some(0)), (8, Some(1))]);
/// assert_eq!((matching.correct, matching.total), (4, 6));
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// As [`Contingency::new`].
pub fn matching<T: Label, P: Label>(truth: &[T], predicted: &[P]) -> Result<Matching> {
    Ok(Contingency::new(truth, predicted)?.matching())
}

/// Clustering accuracy (ACC), from 0 to 1, under the best one-to-one matching of clusters to classes.
///
/// ```
/// assert_eq!(partita::metrics::accuracy(&[0, 0, 1, 1], &[1, 1, 0, 0])?, 1.0);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// As [`Contingency::new`].
pub fn accuracy<T: Label, P: Label>(truth: &[T], predicted: &[P]) -> Result<f64> {
    Ok(matching(truth, predicted)?.accuracy())
}

impl Contingency {
    /// The best one-to-one matching of clusters to classes; see [`matching()`].
    pub fn matching(&self) -> Matching {
        let class_of = assign(self);
        let right = self.cells().iter().filter(|cell| class_of[cell.cluster] == Some(cell.class));
        let correct = right.map(|cell| cell.count).sum();
        let name = |class: usize| self.classes()[class];
        let pairs = self.clusters().iter().zip(class_of).map(|(&k, class)| (k, class.map(name))).collect();
        Matching { pairs, correct, total: self.total() }
    }
}
