//! Rows in double precision, and the coordinates the solvers work in.

use super::{add, norm, scale};
use crate::error::{Error, Result};

/// Rows of `m` features, one after the other. Margins are small differences of large numbers, so the rows are `f64`.
///
/// ```
/// use partita::margin::Points;
/// let points = Points::new(&[0.0, 1.0, 2.0, 3.0], 2)?;
/// assert_eq!((points.n(), points.row(1)), (2, &[2.0, 3.0][..]));
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    x: &'a [f64],
    m: usize,
}

impl<'a> Points<'a> {
    /// Rows of `m` features.
    ///
    /// # Errors
    /// If there are no rows or features, if the last row is incomplete, or if a value is not finite.
    pub fn new(x: &'a [f64], m: usize) -> Result<Self> {
        if x.is_empty() || m == 0 {
            return Err(Error::Empty { rows: x.len() / m.max(1), columns: m });
        }
        if !x.len().is_multiple_of(m) {
            return Err(Error::Length { what: "the last row", found: x.len() % m, expected: m });
        }
        if let Some(at) = x.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { row: at / m, column: at % m, value: x[at] as f32 });
        }
        Ok(Self { x, m })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.x.len() / self.m
    }

    /// Number of features of a row.
    pub fn m(&self) -> usize {
        self.m
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.x[i * self.m..][..self.m]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.x.chunks_exact(self.m)
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [f64] {
        self.x
    }

    /// Check that `labels` has a label below `k` for every row, and a row for every label.
    pub(super) fn check_labels(&self, labels: &[u32], k: usize) -> Result<()> {
        if labels.len() != self.n() {
            return Err(Error::Length { what: "the labelling", found: labels.len(), expected: self.n() });
        }
        if k < 2 {
            return Err(Error::Parameter { name: "k", value: k.to_string(), must: "at least 2" });
        }
        if let Some(row) = labels.iter().position(|&l| l as usize >= k) {
            return Err(Error::LabelOutOfRange { row, label: labels[row].into(), k });
        }
        // With an empty cluster the margin would be unbounded; the paper excludes such labellings.
        if let Some(empty) = (0..k).find(|&c| labels.iter().all(|&l| l as usize != c)) {
            let value = format!("no row in cluster {empty}");
            return Err(Error::Parameter {
                name: "labels",
                value,
                must: "a labelling without empty clusters",
            });
        }
        Ok(())
    }
}

/// Rows moved and scaled into the unit ball. With free biases the move changes no margin, and it reduces rounding.
pub(super) struct Centred {
    pub x: Vec<f64>,
    pub m: usize,
    pub mean: Vec<f64>,
    pub radius: f64,
}

impl Centred {
    pub fn new(points: Points<'_>) -> Self {
        let (n, m) = (points.n() as f64, points.m());
        let mut mean = vec![0.0; m];
        points.rows().for_each(|row| add(&mut mean, 1.0 / n, row));
        let mut x = points.values().to_vec();
        x.chunks_exact_mut(m).for_each(|row| add(row, -1.0, &mean));
        let radius = x.chunks_exact(m).map(norm).fold(0.0, f64::max);
        // If all rows are equal, they stay at zero whatever they are divided by.
        let radius = if radius > 0.0 { radius } else { 1.0 };
        scale(&mut x, 1.0 / radius);
        Self { x, m, mean, radius }
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.m..][..self.m]
    }

    /// The biases with which the original rows have the logits of these rows, times the radius.
    pub fn biases_outside(&self, weights: &[f64], biases: &[f64]) -> Vec<f64> {
        let rows = weights.chunks_exact(self.m).zip(biases);
        rows.map(|(w, b)| self.radius * b - super::dot(w, &self.mean)).collect()
    }

    /// The inverse of [`Self::biases_outside`].
    pub fn biases_inside(&self, weights: &[f64], biases: &[f64]) -> Vec<f64> {
        let rows = weights.chunks_exact(self.m).zip(biases);
        rows.map(|(w, b)| (b + super::dot(w, &self.mean)) / self.radius).collect()
    }
}
