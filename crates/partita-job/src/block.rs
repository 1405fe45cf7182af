//! A model's predictions for some rows.

use partita::outliers::Outliers;

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
    /// What tells outliers from other rows, if the model knows them, with the score of each row.
    pub outliers: Option<(&'a Outliers, &'a [f32])>,
}

impl<'a> Block<'a> {
    /// The cluster of each row, −1 for outliers.
    pub fn assigned(self) -> Vec<i32> {
        match self.outliers {
            Some((outliers, scores)) => outliers.mark(self.labels, scores),
            None => self.labels.iter().map(|&label| label as i32).collect(),
        }
    }

    /// The outlier score of each row, if the model knows outliers.
    pub fn outlier_scores(self) -> Option<&'a [f32]> {
        self.outliers.map(|(_, scores)| scores)
    }

    /// The probability of each row's cluster.
    pub fn confidence(self) -> impl Iterator<Item = f32> + 'a {
        self.proba.chunks_exact(self.k).zip(self.labels).map(|(p, &label)| p[label as usize])
    }
}
