//! Which Gaussian a row comes from.
//!
//! The features of a row are its responsibilities in a mixture of K Gaussians, whose shape suits the rows best. They depend on the row
//! through K quadratic forms, so that planes among them are quadrics among the rows. Where clusters overlap in many columns, as in
//! most tables, no gap parts them that neighbours would show, but their shapes do.

use super::cells::spread;
use crate::centres::Table;
use crate::error::Result;
use crate::mixture::{Covariance, Mixture, select};
use crate::prepare::Preparation;
use crate::prepare::reduce::draw;
use crate::rows::{Rows, bits};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Rows that the mixture is fitted to: this number at most, ...
const ROWS: usize = 4_000;
/// ... or this number for each cluster.
const ROWS_PER_CLUSTER: usize = 100;

/// Rows for each cluster that `auto` asks for.
const LEAST_ROWS_PER_CLUSTER: usize = 5;

/// The quadratic lift, fitted to rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuadraticLift {
    /// What is done to raw rows first.
    pub base: Preparation,
    /// The mixture of prepared rows.
    mixture: Mixture,
}

impl QuadraticLift {
    /// A lift to `k` features, one for each Gaussian, of rows that `base` prepares.
    ///
    /// # Errors
    /// If the rows cannot be read, or if no mixture can be fitted to them.
    pub fn fit(data: &dyn Rows, base: Preparation, k: usize, seed: u64) -> Result<Self> {
        let rows = draw(data.n(), ROWS.max(ROWS_PER_CLUSTER * k), seed, 6);
        let mut raw = vec![0.0; rows.len() * base.m()];
        data.gather(&rows, &mut raw)?;
        let mut prepared = vec![0.0; rows.len() * base.d()];
        base.apply(&mut raw, &mut prepared);
        spread(&mut prepared, base.d(), seed);
        let found = select(Table { x: &prepared, m: base.d() }, k, seed)?.mixture;
        // Single precision is what model files hold.
        let single = |values: &[f64]| -> Vec<f32> { values.iter().map(|&v| v as f32).collect() };
        let covariances: Vec<Vec<f32>> = found.covariances.iter().map(|c| single(c)).collect();
        Self::from_parts(base, found.shape, &single(&found.weights), &single(&found.means), &covariances)
    }

    /// From the parts of its mixture: shares `[k]`, means `[k, d]` and a covariance for each Gaussian, as the shape says.
    ///
    /// # Errors
    /// If a covariance is not positive definite.
    pub fn from_parts(
        base: Preparation,
        shape: Covariance,
        weights: &[f32],
        means: &[f32],
        covariances: &[Vec<f32>],
    ) -> Result<Self> {
        let double = |values: &[f32]| -> Vec<f64> { values.iter().map(|&v| f64::from(v)).collect() };
        let covariances = covariances.iter().map(|c| double(c)).collect();
        let mixture = Mixture::new(shape, double(weights), double(means), covariances)?;
        Ok(Self { base, mixture })
    }

    /// Whether the rows are enough to show the shapes of `k` clusters, and have densities at all: rows that are mostly copies of each
    /// other are made of a few values, which Gaussians without width explain best.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn suits(data: &dyn Rows, k: usize, seed: u64) -> Result<bool> {
        let rows = draw(data.n(), ROWS, seed, 6);
        let mut raw = vec![0.0; rows.len() * data.m()];
        data.gather(&rows, &mut raw)?;
        let distinct: HashSet<Vec<u32>> = raw.chunks_exact(data.m()).map(bits).collect();
        Ok(rows.len() >= LEAST_ROWS_PER_CLUSTER * k && 2 * distinct.len() >= rows.len())
    }

    /// The mixture of prepared rows.
    pub fn mixture(&self) -> &Mixture {
        &self.mixture
    }

    /// Number of lifted features.
    pub fn d(&self) -> usize {
        self.mixture.weights.len()
    }

    /// Whether all parts fit together and all numbers are finite.
    pub fn is_sound(&self) -> bool {
        let Mixture { weights, means, covariances, shape, .. } = &self.mixture;
        let (k, m) = (weights.len(), self.base.d());
        let size = shape.size(m);
        k > 0
            && self.base.is_sound()
            && means.len() == k * m
            && covariances.len() == k
            && covariances.iter().all(|c| c.len() == size)
            && weights.iter().all(|w| *w >= 0.0)
            && [weights, means].into_iter().chain(covariances).flatten().all(|v| v.is_finite())
    }

    /// Lift a block of raw rows, which is overwritten.
    pub fn apply(&self, block: &mut [f32], out: &mut [f32]) {
        let mut prepared = vec![0.0; block.len() / self.base.m() * self.base.d()];
        self.base.apply(block, &mut prepared);
        let prepared: Vec<f64> = prepared.iter().map(|&v| f64::from(v)).collect();
        let mut shares = vec![0.0; out.len()];
        self.mixture.responsibilities(&prepared, &mut shares);
        out.iter_mut().zip(shares).for_each(|(o, s)| *o = s as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Prepare;
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    /// A wide group around a narrow one, in turns.
    fn nested(n: usize) -> Array2<f32> {
        let mut rng = stream(6, Stream::Synthetic, 0);
        let mut normal = move || (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
        Array2::from_shape_fn((n, 3), |(i, _)| if i % 2 == 0 { 0.1 * normal() } else { 2.0 * normal() })
    }

    #[test]
    fn groups_of_one_centre_are_told_apart_by_their_spread() {
        let x = nested(1000);
        let base = Preparation::fit(&x, &[3], Prepare::Centre, &Silent).unwrap();
        let lift = QuadraticLift::fit(&x, base, 2, 0).unwrap();
        assert!(lift.is_sound() && lift.d() == 2);
        let rows = nested(400).into_raw_vec_and_offset().0;
        let mut out = vec![0.0; 800];
        lift.apply(&mut rows.clone(), &mut out);
        let narrow = usize::from(out[1] > out[0]);
        let right = out.chunks_exact(2).enumerate().filter(|(i, r)| (r[narrow] > 0.5) == (i % 2 == 0));
        assert!(right.count() > 390);
        // Far rows and rows that are not finite.
        let mut out = [0.0; 4];
        lift.apply(&mut [1e9, 0.0, 0.0, f32::NAN, 0.0, 0.0], &mut out);
        assert!((out[0] + out[1] - 1.0).abs() < 1e-6 && out[2].is_nan(), "{out:?}");
    }
}
