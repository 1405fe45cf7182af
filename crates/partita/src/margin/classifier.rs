//! Linear classifiers and their margins.

use super::{Points, dot, norm};
use crate::error::{Error, Result};
use crate::simplex::largest;

/// A linear classifier: a row goes to the cluster with the largest W_kᵀx + b_k.
#[derive(Debug, Clone, PartialEq)]
pub struct Classifier {
    /// W, shape `[k, m]`.
    pub weights: Vec<f64>,
    /// b, shape `[k]`.
    pub biases: Vec<f64>,
}

/// The boundary between two clusters, as one unit vector and an offset.
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperplane {
    /// The unit vector u, shape `[m]`. It points to cluster 0.
    pub normal: Vec<f64>,
    /// The bias b of uᵀx + b.
    pub offset: f64,
}

impl Hyperplane {
    /// uᵀx + b: the distance of a row, positive on the side of cluster 0.
    pub fn distance(&self, row: &[f64]) -> f64 {
        dot(&self.normal, row) + self.offset
    }
}

impl Classifier {
    /// A classifier of rows of `m` features.
    ///
    /// ```
    /// use partita::margin::{Classifier, Points};
    /// let classifier = Classifier::new(vec![1.0, -1.0], vec![0.0, 1.0], 1)?;
    /// let points = Points::new(&[2.0, -2.0], 1)?;
    /// assert_eq!(classifier.labels(points), [0, 1]);
    /// // Two logits that differ by 2x - 1, over the norm √2.
    /// assert!((classifier.margin(points) - 3.0 / 2f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are fewer than two clusters, or if the lengths do not fit together.
    pub fn new(weights: Vec<f64>, biases: Vec<f64>, m: usize) -> Result<Self> {
        let k = biases.len();
        if k < 2 {
            return Err(Error::Parameter { name: "k", value: k.to_string(), must: "at least 2" });
        }
        if weights.len() != k * m {
            return Err(Error::Length { what: "the weight matrix", found: weights.len(), expected: k * m });
        }
        Ok(Self { weights, biases })
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.biases.len()
    }

    /// Number of features of a row.
    pub fn m(&self) -> usize {
        self.weights.len() / self.k()
    }

    /// ‖W‖_F, without the biases.
    pub fn norm(&self) -> f64 {
        norm(&self.weights)
    }

    /// The logits of a row.
    ///
    /// # Panics
    /// Here and below, if the rows and the classifier differ in width.
    pub fn logits(&self, row: &[f64]) -> Vec<f64> {
        assert_eq!(row.len(), self.m(), "the rows must be as wide as the classifier");
        let weights = self.weights.chunks_exact(row.len());
        weights.zip(&self.biases).map(|(w, b)| dot(w, row) + b).collect()
    }

    /// The cluster of each row; the first of tied clusters.
    pub fn labels(&self, points: Points<'_>) -> Vec<u32> {
        points.rows().map(|row| largest(&self.logits(row)) as u32).collect()
    }

    /// Signed margins: how far each row is inside the cluster that `labels` gives it, negative outside.
    ///
    /// min_{k ≠ y} [(W_y − W_k)ᵀx + b_y − b_k] / ‖W‖_F. For two opposite rows of W this is √2 times the distance to the
    /// boundary.
    ///
    /// ```
    /// # use partita::margin::{Classifier, Points};
    /// let classifier = Classifier::new(vec![1.0, 0.0], vec![0.0, 0.0], 1)?;
    /// let points = Points::new(&[2.0, -3.0, 1.0], 1)?;
    /// assert_eq!(classifier.signed_margins(points, &[0, 1, 1])?, [2.0, 3.0, -1.0]);
    /// assert_eq!(classifier.unsigned_margins(points), [2.0, 3.0, 1.0]);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one label for each row, or if a label names a cluster that does not exist.
    pub fn signed_margins(&self, points: Points<'_>, labels: &[u32]) -> Result<Vec<f64>> {
        let (n, k) = (points.n(), self.k());
        if labels.len() != n {
            return Err(Error::Length { what: "the labelling", found: labels.len(), expected: n });
        }
        if let Some(row) = labels.iter().position(|&l| l as usize >= k) {
            return Err(Error::LabelOutOfRange { row, label: labels[row].into(), k });
        }
        let lead = |(row, &label): (&[f64], &u32)| lead(&self.logits(row), label as usize) / self.norm();
        Ok(points.rows().zip(labels).map(lead).collect())
    }

    /// Unsigned margins: the signed margins for the classifier's own labels. Never negative.
    pub fn unsigned_margins(&self, points: Points<'_>) -> Vec<f64> {
        let own = |row: &[f64]| {
            let z = self.logits(row);
            lead(&z, largest(&z)) / self.norm()
        };
        points.rows().map(own).collect()
    }

    /// The smallest unsigned margin.
    pub fn margin(&self, points: Points<'_>) -> f64 {
        self.unsigned_margins(points).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The angle between two weight matrices, in radians.
    ///
    /// ```
    /// # use partita::margin::Classifier;
    /// let a = Classifier::new(vec![1.0, 0.0], vec![0.0, 0.0], 1)?;
    /// let b = Classifier::new(vec![0.0, 7.0], vec![3.0, 0.0], 1)?;
    /// assert!((a.angle(&b) - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn angle(&self, other: &Self) -> f64 {
        let (a, b) = (self.norm(), other.norm());
        let pairs = || self.weights.iter().zip(&other.weights);
        let apart: f64 = pairs().map(|(x, y)| (x / a - y / b).powi(2)).sum();
        let along: f64 = pairs().map(|(x, y)| (x / a + y / b).powi(2)).sum();
        // The cosine is flat at small angles, so it is not used here.
        2.0 * apart.sqrt().atan2(along.sqrt())
    }

    /// The boundary, if there are two clusters with different weights.
    ///
    /// ```
    /// # use partita::margin::Classifier;
    /// let plane = Classifier::new(vec![3.0, -1.0], vec![2.0, 0.0], 1)?.hyperplane().expect("two clusters");
    /// assert_eq!((plane.normal[0], plane.offset, plane.distance(&[1.0])), (1.0, 0.5, 1.5));
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn hyperplane(&self) -> Option<Hyperplane> {
        let [b0, b1] = *self.biases else { return None };
        let (w0, w1) = self.weights.split_at(self.m());
        let difference: Vec<f64> = w0.iter().zip(w1).map(|(a, b)| a - b).collect();
        let length = norm(&difference);
        let normal = difference.into_iter().map(|v| v / length).collect();
        (length > 0.0).then(|| Hyperplane { normal, offset: (b0 - b1) / length })
    }
}

/// By how much `z[label]` exceeds the largest of the others.
fn lead(z: &[f64], label: usize) -> f64 {
    let others = z.iter().enumerate().filter(|(c, _)| *c != label);
    others.map(|(_, v)| z[label] - v).fold(f64::INFINITY, f64::min)
}
