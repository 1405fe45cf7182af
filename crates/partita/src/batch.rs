//! Predictions of a batch of rows, with weights and known labels: what losses and pseudo-labels are made from.

/// Predictions of a batch of rows.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// ln σ, row after row, shape `[n, k]`; finite.
    pub log_sigma: &'a [f64],
    /// Number of clusters.
    pub k: usize,
    /// Weight of each row, shape `[n]`, not negative; all alike if absent.
    pub weights: Option<&'a [f64]>,
    /// Known label of each row, shape `[n]`, −1 where unknown; none known if absent.
    pub known: Option<&'a [i32]>,
}

impl Batch<'_> {
    /// Number of rows.
    pub fn n(&self) -> usize {
        self.log_sigma.len() / self.k
    }

    /// Sum of the weights.
    pub fn total(&self) -> f64 {
        self.weights.map_or(self.n() as f64, |w| w.iter().sum())
    }

    /// The rows: (index, w_i/Σw, known label, ln σ_i).
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let total = self.total();
        self.log_sigma.chunks_exact(self.k).enumerate().map(move |(i, log_sigma)| Row {
            share: self.weights.map_or(1.0, |w| w[i]) / total,
            known: self.known.and_then(|known| usize::try_from(known[i]).ok()),
            log_sigma,
        })
    }

    /// The weighted mean prediction σ̄ into `mean`, shape `[k]`.
    pub fn mean_prediction(&self, mean: &mut Vec<f64>) {
        mean.clear();
        mean.resize(self.k, 0.0);
        for row in self.rows() {
            for (m, l) in mean.iter_mut().zip(row.log_sigma) {
                *m += row.share * l.exp();
            }
        }
    }
}

/// One row of a [`Batch`].
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// w_i/Σw.
    pub share: f64,
    /// Its label, if known.
    pub known: Option<usize>,
    /// ln σ_i, shape `[k]`.
    pub log_sigma: &'a [f64],
}
