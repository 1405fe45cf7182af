//! The shape of the Gaussians, chosen by the Bayesian information criterion.

use super::climb::{Climbed, GaussianMixture, one_hot};
use super::density::{Covariance, Mixture};
use crate::centres::{Descent, NEVER_STOP, Table, plus_plus};
use crate::error::Result;
use crate::rng::{Stream, stream};
use rayon::prelude::*;

/// Shapes that are tried, the simplest first.
const SHAPES: [Covariance; 4] =
    [Covariance::Spherical, Covariance::Diagonal, Covariance::Tied, Covariance::Full];
/// K-means runs that the mixtures start from.
const STARTS: usize = 5;
/// Added to every variance, as a part of the mean variance of a feature. Columns of whole numbers would otherwise be explained
/// best by Gaussians without width.
const FLOOR: f64 = 1e-2;

/// The mixture that explains rows best for the number of its parameters.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The mixture.
    pub mixture: Mixture,
    /// Its Bayesian information criterion for each row: the lower, the better.
    pub criterion: f64,
}

/// The best of all shapes for `k` Gaussians, each from several K-means runs, by the likelihood among its starts and by
/// parameters · ln n/n − 2 · mean log-likelihood among shapes. A shape that cannot be fitted is left out.
///
/// # Errors
/// If no shape can be fitted.
pub fn select(table: Table<'_>, k: usize, seed: u64) -> Result<Selected> {
    let x: Vec<f64> = table.x.iter().map(|&v| f64::from(v)).collect();
    let (n, m) = (table.n(), table.m);
    let starts: Vec<Vec<f64>> = (0..STARTS)
        .map(|start| {
            let seeds = plus_plus(table, k, &mut stream(seed, Stream::Seeds, start as u64));
            one_hot(&Descent::default().run(table, seeds, NEVER_STOP).labels, k)
        })
        .collect();
    let floor = FLOOR * mean_variance(&x, m);
    let climb = |&(shape, start): &(Covariance, usize)| -> Result<(Covariance, Climbed)> {
        let options = GaussianMixture { floor, ..GaussianMixture::new(k, shape) };
        let first = options.maximise(&x, m, &starts[start])?;
        Ok((shape, options.climb(&x, first)?))
    };
    let tried: Vec<(Covariance, usize)> =
        SHAPES.iter().flat_map(|&shape| (0..STARTS).map(move |start| (shape, start))).collect();
    let climbed: Vec<Result<(Covariance, Climbed)>> = tried.par_iter().map(climb).collect();
    let mut best: Option<Selected> = None;
    let mut failure = None;
    for found in climbed {
        match found {
            Ok((shape, Climbed { mixture, loss, .. })) => {
                let criterion = 2.0 * loss + parameters(shape, k, m) as f64 * (n as f64).ln() / n as f64;
                if best.as_ref().is_none_or(|best| criterion < best.criterion) {
                    best = Some(Selected { mixture, criterion });
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    best.ok_or_else(|| failure.expect("something was tried"))
}

/// Free parameters of a mixture.
fn parameters(shape: Covariance, k: usize, m: usize) -> usize {
    let covariances = match shape {
        Covariance::Spherical => k,
        Covariance::Diagonal => k * m,
        Covariance::Tied => m * (m + 1) / 2,
        Covariance::Full => k * m * (m + 1) / 2,
    };
    k - 1 + k * m + covariances
}

/// Mean variance of a feature.
fn mean_variance(x: &[f64], m: usize) -> f64 {
    let n = (x.len() / m) as f64;
    let mut total = 0.0;
    for j in 0..m {
        let column = || x.iter().skip(j).step_by(m);
        let mean = column().sum::<f64>() / n;
        total += column().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    }
    total / m as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Two groups stretched by these factors, 9 apart.
    fn groups(stretch: [[f32; 2]; 2], slant: f32) -> Vec<f32> {
        let mut rng = stream(4, Stream::Synthetic, 0);
        let mut normal = move || (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
        (0..800)
            .flat_map(|i| {
                let [a, b] = stretch[i % 2];
                let (u, v) = (a * normal(), b * normal());
                [u + 9.0 * (i % 2) as f32, v + slant * u]
            })
            .collect()
    }

    #[test]
    fn the_shape_that_made_the_rows_is_chosen() {
        for (stretch, slant, shape) in [
            ([[1.0, 1.0], [0.5, 0.5]], 0.0, Covariance::Spherical),
            ([[1.0, 0.2], [0.3, 1.0]], 0.0, Covariance::Diagonal),
            ([[1.0, 0.3], [1.0, 0.3]], 1.0, Covariance::Tied),
            ([[1.0, 0.3], [0.3, 1.0]], 1.0, Covariance::Full),
        ] {
            let x = groups(stretch, slant);
            let found = select(Table { x: &x, m: 2 }, 2, 0).unwrap();
            assert_eq!(found.mixture.shape, shape, "{}", found.criterion);
        }
    }

    #[test]
    fn copies_of_a_few_rows_do_no_harm() {
        let x: Vec<f32> = (0..60).flat_map(|i| [(i % 3) as f32, 5.0]).collect();
        let found = select(Table { x: &x, m: 2 }, 3, 0).unwrap();
        assert!(found.criterion.is_finite());
    }
}
