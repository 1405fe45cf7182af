//! How near a row is to each of a few landmarks.
//!
//! Nyström features of the kernel exp(−d²/w²): products of two of them are nearly the kernel of their rows, so that planes among them are
//! what a kernel machine would part rows by. The width w is the one for which the walk among the landmarks has the K slowest modes
//! beside the next, the criterion by which the graph lift chooses its neighbours.

use super::landmarks::Landmarks;
use super::spectrum::{Graph, Spectrum};
use crate::error::{Error, Result};
use crate::prepare::Preparation;
use crate::rows::Rows;
use faer::{Mat, Side};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Landmarks at most, and so features.
const LANDMARKS: usize = 200;
/// Widths that are tried: squares, as parts of the median squared distance between landmarks.
const WIDTHS: [f64; 7] = [1.0 / 64.0, 1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 1.0];
/// Directions of the kernel below this part of the first are left out.
const NEGLIGIBLE: f64 = 1e-6;

/// The lift by radial basis functions, fitted to rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RbfLift {
    /// What is done to raw rows first.
    pub base: Preparation,
    /// Prepared rows that stand for all.
    pub landmarks: Landmarks,
    /// From nearness to features, row-major `[landmarks, d]`.
    pub whiten: Vec<f32>,
    /// w².
    pub squared_width: f32,
    /// mean(1 − λ_1..K)/(1 − λ_K+1) of the walk among the landmarks.
    pub slowness: f64,
}

impl RbfLift {
    /// A lift for `k` clusters of rows that `base` prepares.
    ///
    /// # Errors
    /// If the rows cannot be read, or if there are fewer different landmarks than clusters.
    pub fn fit(data: &dyn Rows, base: Preparation, k: usize, seed: u64) -> Result<Self> {
        let landmarks = Landmarks::in_cells(data, &base, LANDMARKS, seed)?;
        let n = landmarks.n();
        if n < k.max(2) {
            return Err(Error::TooFewDistinctRows { rows: data.n().min(LANDMARKS), distinct: n, k });
        }
        let mut squares = vec![0.0; n * n];
        squares.par_chunks_mut(n).enumerate().for_each_init(Vec::new, |distances, (i, out)| {
            landmarks.distances(&landmarks.row(i), distances);
            out.copy_from_slice(distances);
        });
        let mut sorted: Vec<f32> = (0..n * n).filter(|at| at % n < at / n).map(|at| squares[at]).collect();
        sorted.sort_by(f32::total_cmp);
        let median = sorted[sorted.len() / 2].max(f32::MIN_POSITIVE);
        let tried = WIDTHS.par_iter().map(|part| {
            let width = (f64::from(median) * part) as f32;
            (slowness(&squares, n, width, k), width)
        });
        let tried: Vec<(f64, f32)> = tried.collect();
        let (slowness, squared_width) =
            tried.into_iter().reduce(|a, b| if b.0 < a.0 { b } else { a }).expect("widths");
        let kernel = Mat::from_fn(n, n, |i, j| nearness(squares[i * n + j], squared_width));
        let eigen = kernel.self_adjoint_eigen(Side::Lower).expect("a kernel is finite");
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let kept: Vec<usize> = (0..n).rev().filter(|&c| values[c] > NEGLIGIBLE * values[n - 1]).collect();
        let entry = |i: usize, c: usize| (vectors[(i, c)] / values[c].sqrt()) as f32;
        let whiten = (0..n).flat_map(|i| kept.iter().map(move |&c| (i, c))).map(|(i, c)| entry(i, c));
        Ok(Self { base, whiten: whiten.collect(), landmarks, squared_width, slowness })
    }

    /// Number of lifted features.
    pub fn d(&self) -> usize {
        self.whiten.len() / self.landmarks.n().max(1)
    }

    /// Whether all parts fit together and all numbers are finite.
    pub fn is_sound(&self) -> bool {
        let n = self.landmarks.n();
        n > 0
            && self.base.is_sound()
            && self.landmarks.m() == self.base.d()
            && self.landmarks.columns().len() == n * self.landmarks.m()
            && self.d() > 0
            && self.whiten.len() == n * self.d()
            && self.squared_width > 0.0
            && self.squared_width.is_finite()
            && [self.landmarks.columns(), &self.whiten].into_iter().flatten().all(|v| v.is_finite())
    }

    /// Lift a block of raw rows, which is overwritten.
    pub fn apply(&self, block: &mut [f32], out: &mut [f32]) {
        let mut prepared = vec![0.0; block.len() / self.base.m() * self.base.d()];
        self.base.apply(block, &mut prepared);
        let d = self.d();
        let mut distances = Vec::new();
        let mut sum = vec![0.0f64; d];
        for (x, out) in prepared.chunks_exact(self.base.d()).zip(out.chunks_exact_mut(d)) {
            self.landmarks.distances(x, &mut distances);
            sum.fill(0.0);
            for (&square, whiten) in distances.iter().zip(self.whiten.chunks_exact(d)) {
                let near = nearness(square, self.squared_width);
                sum.iter_mut().zip(whiten).for_each(|(s, w)| *s += near * f64::from(*w));
            }
            out.iter_mut().zip(&sum).for_each(|(o, s)| *o = *s as f32);
        }
    }
}

/// exp(−d²/w²).
fn nearness(square: f32, squared_width: f32) -> f64 {
    (-f64::from(square) / f64::from(squared_width)).exp()
}

/// How slow the walk by this width is.
fn slowness(squares: &[f32], n: usize, squared_width: f32, k: usize) -> f64 {
    let edges = |i: usize| -> Vec<(u32, f64)> {
        let near = squares[i * n..(i + 1) * n].iter().zip(0..);
        near.map(|(&square, j)| (j, nearness(square, squared_width))).collect()
    };
    let graph = Graph { edges: (0..n).map(edges).collect() };
    Spectrum::new(&graph, k + 1).slowness(k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Prepare;
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    #[test]
    fn products_of_features_are_the_kernel() {
        let mut rng = stream(2, Stream::Synthetic, 0);
        let x = Array2::from_shape_fn((150, 2), |_| rng.random::<f32>());
        let base = Preparation::fit(&x, &[2], Prepare::Centre, &Silent).unwrap();
        let lift = RbfLift::fit(&x, base.clone(), 3, 0).unwrap();
        assert!(lift.is_sound());
        let mut out = vec![0.0; 150 * lift.d()];
        lift.apply(&mut x.clone().into_raw_vec_and_offset().0, &mut out);
        let mut prepared = vec![0.0; 300];
        base.apply(&mut x.into_raw_vec_and_offset().0, &mut prepared);
        let row = |i: usize| &out[i * lift.d()..(i + 1) * lift.d()];
        for (i, j) in [(0, 0), (3, 99), (42, 7), (149, 20)] {
            let product: f32 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
            let square = (0..2).map(|f| (prepared[2 * i + f] - prepared[2 * j + f]).powi(2)).sum();
            let expected = nearness(square, lift.squared_width) as f32;
            assert!((product - expected).abs() < 1e-2, "{i} {j}: {product} {expected}");
        }
    }
}
