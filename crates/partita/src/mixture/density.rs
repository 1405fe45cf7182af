//! The density of a mixture: its parameters, and what follows from them.

use crate::error::{Error, Result};
use crate::simplex::log_sum_exp;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Rows of one piece of work, the same for any number of threads.
pub(super) const PIECE: usize = 256;

/// The shape of each Gaussian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// One variance for all features.
    Spherical,
    /// A variance for each feature.
    Diagonal,
    /// A full matrix, the same for all Gaussians.
    Tied,
    /// A full matrix.
    Full,
}

impl Covariance {
    /// Numbers that describe one Gaussian in `m` dimensions.
    pub fn size(self, m: usize) -> usize {
        match self {
            Self::Spherical => 1,
            Self::Diagonal => m,
            Self::Tied | Self::Full => m * m,
        }
    }
}

/// A mixture of Gaussians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// Share of each Gaussian, `[k]`.
    pub weights: Vec<f64>,
    /// Means, row-major `[k, m]`.
    pub means: Vec<f64>,
    /// For each Gaussian its variance, its `m` variances or its `m × m` covariance, as the shape says.
    pub covariances: Vec<Vec<f64>>,
    /// Their shape.
    pub shape: Covariance,
    /// For each Gaussian, what turns x − μ into units of standard deviations: 1/sd, or the inverse of the Cholesky factor.
    whiten: Vec<Vec<f64>>,
    /// ln weight + ln det of that − (m/2) ln 2π.
    constant: Vec<f64>,
}

impl Mixture {
    /// A mixture of these parameters; an error if a covariance is not positive definite.
    pub fn new(
        shape: Covariance,
        weights: Vec<f64>,
        means: Vec<f64>,
        covariances: Vec<Vec<f64>>,
    ) -> Result<Self> {
        let m = means.len() / weights.len();
        let mut mixture =
            Self { weights, means, covariances, shape, whiten: Vec::new(), constant: Vec::new() };
        let parts: Vec<(Vec<f64>, f64)> =
            mixture.covariances.par_iter().map(|c| whitening(shape, c, m)).collect::<Result<_>>()?;
        for ((whiten, log_det), weight) in parts.into_iter().zip(&mixture.weights) {
            mixture.whiten.push(whiten);
            mixture.constant.push(weight.ln() + log_det - 0.5 * m as f64 * (2.0 * PI).ln());
        }
        Ok(mixture)
    }

    /// Dimensions of a row.
    pub fn m(&self) -> usize {
        self.means.len() / self.weights.len()
    }

    /// What turns x − μ into units of standard deviations: 1/sd, once or for each feature, or the inverse of the Cholesky factor, row-major `[m, m]`.
    pub fn whitening(&self, c: usize) -> &[f64] {
        &self.whiten[c]
    }

    /// ln of weight × density of each Gaussian at its mean.
    pub fn constants(&self) -> &[f64] {
        &self.constant
    }

    /// ln of weight × density of each Gaussian for the rows `x`, `[rows, k]`.
    fn log_joint(&self, x: &[f64], out: &mut [f64]) {
        let (k, m) = (self.weights.len(), self.m());
        let n = x.len() / m;
        let mut centred = vec![0.0; x.len()];
        let mut white = vec![0.0; x.len()];
        for c in 0..k {
            let mean = &self.means[c * m..(c + 1) * m];
            for (row, x) in centred.chunks_exact_mut(m).zip(x.chunks_exact(m)) {
                row.iter_mut().zip(x).zip(mean).for_each(|((o, x), mean)| *o = x - mean);
            }
            self.whiten_rows(c, &centred, &mut white);
            for i in 0..n {
                let square: f64 = white[i * m..(i + 1) * m].iter().map(|v| v * v).sum();
                out[i * k + c] = self.constant[c] - 0.5 * square;
            }
        }
    }

    fn whiten_rows(&self, c: usize, centred: &[f64], white: &mut [f64]) {
        let (m, whiten) = (self.m(), &self.whiten[c]);
        match self.shape {
            Covariance::Full | Covariance::Tied => product(
                MatRef::from_row_major_slice(centred, centred.len() / m, m),
                MatRef::from_row_major_slice(whiten, m, m).transpose(),
                MatMut::from_row_major_slice_mut(white, centred.len() / m, m),
            ),
            Covariance::Diagonal => {
                for (white, row) in white.chunks_exact_mut(m).zip(centred.chunks_exact(m)) {
                    white.iter_mut().zip(row).zip(whiten).for_each(|((o, x), w)| *o = x * w);
                }
            }
            Covariance::Spherical => white.iter_mut().zip(centred).for_each(|(o, x)| *o = x * whiten[0]),
        }
    }

    /// Responsibilities of the Gaussians for the rows `x`, `[rows, k]`; returns ln density of each row.
    pub fn judge(&self, x: &[f64], out: &mut [f64]) -> Vec<f64> {
        self.log_joint(x, out);
        let normalise = |row: &mut [f64]| {
            let norm = log_sum_exp(row);
            row.iter_mut().for_each(|v| *v = (*v - norm).exp());
            norm
        };
        out.chunks_exact_mut(self.weights.len()).map(normalise).collect()
    }

    /// Responsibilities of the Gaussians for the rows `x`, `[rows, k]`; returns the sum of the rows' log-likelihoods.
    pub fn responsibilities(&self, x: &[f64], out: &mut [f64]) -> f64 {
        self.log_joint(x, out);
        let mut total = 0.0;
        for row in out.chunks_exact_mut(self.weights.len()) {
            let norm = log_sum_exp(row);
            row.iter_mut().for_each(|v| *v = (*v - norm).exp());
            total += norm;
        }
        total
    }
}

/// out = a b, on the calling thread.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// What whitens rows of this covariance, and the logarithm of its determinant.
fn whitening(shape: Covariance, covariance: &[f64], m: usize) -> Result<(Vec<f64>, f64)> {
    let singular = || Error::Parameter {
        name: "the covariance of a Gaussian",
        value: "not positive definite".to_owned(),
        must: "positive definite; use fewer clusters, a simpler covariance or a larger floor",
    };
    if matches!(shape, Covariance::Spherical | Covariance::Diagonal) {
        if covariance.iter().any(|v| !v.is_finite() || *v <= 0.0) {
            return Err(singular());
        }
        let whiten: Vec<f64> = covariance.iter().map(|v| 1.0 / v.sqrt()).collect();
        let log_det: f64 = whiten.iter().map(|w| w.ln()).sum();
        return Ok((whiten, if shape == Covariance::Spherical { m as f64 * log_det } else { log_det }));
    }
    let factor = MatRef::from_row_major_slice(covariance, m, m).llt(Side::Lower).map_err(|_| singular())?;
    let lower = factor.L();
    let mut inverse = Mat::<f64>::identity(m, m);
    lower.solve_lower_triangular_in_place(inverse.as_mut());
    let log_det = -(0..m).map(|j| lower[(j, j)].ln()).sum::<f64>();
    let rows = (0..m).flat_map(|i| (0..m).map(move |j| (i, j))).map(|at| inverse[at]).collect();
    Ok((rows, log_det))
}
