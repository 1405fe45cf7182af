//! A model's predictions for some rows.

/// Predictions for some rows that follow each other.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The first row.
    pub start: usize,
    /// Clusters.
    pub k: usize,
    /// The cluster of each row.
    pub labels: &'a [u32],
    /// Probabilities of all clusters, row after row.
    pub proba: &'a [f32],
}

impl<'a> Block<'a> {
    /// The probability of each row's cluster.
    pub fn confidence(self) -> impl Iterator<Item = f32> + 'a {
        self.proba.chunks_exact(self.k).zip(self.labels).map(|(p, &label)| p[label as usize])
    }
}
