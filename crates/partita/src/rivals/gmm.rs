//! Gaussian mixtures by expectation-maximisation, in double precision.

use super::{Head, Method, Table, Trained};
use crate::centres::{Descent, KeepGoing, NEVER_STOP, plus_plus};
use crate::error::{Error, Result};
use crate::report::{Observer, StopReason};
use crate::rng::{Stream, stream};
use crate::simplex::log_sum_exp;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Rows of one piece of work, the same for any number of threads.
const PIECE: usize = 256;

/// The shape of each Gaussian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// One variance for all features.
    Spherical,
    /// A variance for each feature.
    Diagonal,
    /// A full matrix.
    Full,
}

/// Options of a Gaussian mixture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianMixture {
    /// Number of Gaussians.
    pub k: usize,
    /// Their shape.
    pub covariance: Covariance,
    /// Independent starts, each from a K-means run; the likeliest is kept.
    pub restarts: usize,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when the mean log-likelihood of a row rose by less than this.
    pub tolerance: f64,
    /// Added to every variance.
    pub floor: f64,
}

impl GaussianMixture {
    /// Defaults for `k` Gaussians of a shape.
    pub fn new(k: usize, covariance: Covariance) -> Self {
        Self { k, covariance, restarts: 1, max_iterations: 100, tolerance: 1e-3, floor: 1e-6 }
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
    shape: Covariance,
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

    fn m(&self) -> usize {
        self.means.len() / self.weights.len()
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
            Covariance::Full => product(
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

    /// ln density of each row, `[n]`.
    pub fn log_likelihood(&self, x: &[f32]) -> Vec<f64> {
        let (k, m) = (self.weights.len(), self.m());
        let piece = |x: &[f32]| {
            let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
            let mut joint = vec![0.0; x.len() / m * k];
            self.log_joint(&x, &mut joint);
            joint.chunks_exact(k).map(log_sum_exp).collect::<Vec<_>>()
        };
        x.par_chunks(PIECE * m).flat_map_iter(piece).collect()
    }

    /// Turn joint log-densities into responsibilities; returns the sum of the rows' log-likelihoods.
    fn responsibilities(&self, x: &[f64], out: &mut [f64]) -> f64 {
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
    if shape != Covariance::Full {
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

impl Head for Mixture {
    fn assign(&self, x: &[f32], proba: &mut [f32]) {
        let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        let mut out = vec![0.0; proba.len()];
        self.responsibilities(&x, &mut out);
        proba.iter_mut().zip(out).for_each(|(p, v)| *p = v as f32);
    }
}

impl Method for GaussianMixture {
    type Head = Mixture;

    fn k(&self) -> usize {
        self.k
    }

    fn check(&self, _: usize) -> Result<()> {
        super::at_least_one("restarts", self.restarts)?;
        super::at_least_one("iterations", self.max_iterations)
    }

    fn train(&self, table: Table<'_>, seed: u64, observer: &dyn Observer) -> Result<Trained<Mixture>> {
        let x: Vec<f64> = table.x.iter().map(|&v| f64::from(v)).collect();
        super::best_of("Gaussian mixture", self.restarts, observer, |restart, keep_going| {
            let seeds = plus_plus(table, self.k, &mut stream(seed, Stream::Seeds, restart as u64));
            let labels = Descent::default().run(table, seeds, &|_| keep_going(0.0)).labels;
            let mut hard = vec![0.0; labels.len() * self.k];
            labels.iter().enumerate().for_each(|(i, l)| hard[i * self.k + *l as usize] = 1.0);
            self.climb_while(&x, self.maximise(&x, table.m, &hard)?, keep_going)
        })
    }
}

impl GaussianMixture {
    /// Expectation-maximisation from a mixture, on rows `x`.
    pub fn climb(&self, x: &[f64], mixture: Mixture) -> Result<Trained<Mixture>> {
        self.climb_while(x, mixture, NEVER_STOP)
    }

    /// The same, as long as `keep_going` says so.
    fn climb_while(
        &self,
        x: &[f64],
        mut mixture: Mixture,
        keep_going: KeepGoing<'_>,
    ) -> Result<Trained<Mixture>> {
        let m = mixture.m();
        let mut responsibilities = vec![0.0; x.len() / m * self.k];
        let mut likelihood = f64::NEG_INFINITY;
        let mut stop = StopReason::Finished;
        let mut iterations = 0;
        while iterations < self.max_iterations && stop == StopReason::Finished {
            if !keep_going(iterations as f64 / self.max_iterations as f64) {
                stop = StopReason::Interrupted;
                break;
            }
            iterations += 1;
            let next = expect(&mixture, x, &mut responsibilities);
            mixture = self.maximise(x, m, &responsibilities)?;
            if (next - likelihood).abs() < self.tolerance {
                stop = StopReason::Converged;
            }
            likelihood = next;
        }
        let loss = -expect(&mixture, x, &mut responsibilities);
        Ok(Trained { head: mixture, loss, losses: vec![loss], iterations, stop })
    }

    /// The likeliest mixture for given responsibilities `[n, k]`.
    fn maximise(&self, x: &[f64], m: usize, responsibilities: &[f64]) -> Result<Mixture> {
        let n = x.len() / m;
        let parts: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..self.k)
            .into_par_iter()
            .map(|c| {
                let share: Vec<f64> = responsibilities.iter().skip(c).step_by(self.k).copied().collect();
                // As a share it can be nothing at all; the mean must still be a number.
                let mass = share.iter().sum::<f64>() + 10.0 * f64::EPSILON;
                let mut mean = vec![0.0; m];
                for (x, share) in x.chunks_exact(m).zip(&share) {
                    mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += share * x);
                }
                mean.iter_mut().for_each(|v| *v /= mass);
                let covariance = self.covariance_of(x, &mean, &share, mass);
                (mass, mean, covariance)
            })
            .collect();
        let weights = parts.iter().map(|p| p.0 / n as f64).collect();
        let means = parts.iter().flat_map(|p| p.1.iter().copied()).collect();
        Mixture::new(self.covariance, weights, means, parts.into_iter().map(|p| p.2).collect())
    }

    fn covariance_of(&self, x: &[f64], mean: &[f64], share: &[f64], mass: f64) -> Vec<f64> {
        let m = mean.len();
        if self.covariance == Covariance::Full {
            return self.full_covariance(x, mean, share, mass);
        }
        let mut variance = vec![0.0; m];
        for (x, share) in x.chunks_exact(m).zip(share) {
            for ((v, x), mean) in variance.iter_mut().zip(x).zip(mean) {
                *v += share * (x - mean) * (x - mean);
            }
        }
        variance.iter_mut().for_each(|v| *v = *v / mass + self.floor);
        match self.covariance {
            Covariance::Spherical => vec![variance.iter().sum::<f64>() / m as f64],
            _ => variance,
        }
    }

    fn full_covariance(&self, x: &[f64], mean: &[f64], share: &[f64], mass: f64) -> Vec<f64> {
        let m = mean.len();
        let mut out = vec![0.0; m * m];
        let mut rows = Vec::with_capacity(PIECE * m);
        for (x, share) in x.chunks(PIECE * m).zip(share.chunks(PIECE)) {
            rows.clear();
            for (x, share) in x.chunks_exact(m).zip(share) {
                let root = share.sqrt();
                rows.extend(x.iter().zip(mean).map(|(x, mean)| root * (x - mean)));
            }
            let rows = MatRef::from_row_major_slice(&rows, share.len(), m);
            let out = MatMut::from_row_major_slice_mut(&mut out, m, m);
            matmul(out, Accum::Add, rows.transpose(), rows, 1.0, Par::Seq);
        }
        out.iter_mut().for_each(|v| *v /= mass);
        (0..m).for_each(|j| out[j * m + j] += self.floor);
        out
    }
}

/// Responsibilities of all rows; returns the mean log-likelihood.
fn expect(mixture: &Mixture, x: &[f64], responsibilities: &mut [f64]) -> f64 {
    let (k, m) = (mixture.weights.len(), mixture.m());
    let sums: Vec<f64> = responsibilities
        .par_chunks_mut(PIECE * k)
        .zip(x.par_chunks(PIECE * m))
        .map(|(out, x)| mixture.responsibilities(x, out))
        .collect();
    sums.iter().sum::<f64>() / (x.len() / m) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Flow, Progress, Silent};
    use rand::RngExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const SHAPES: [Covariance; 3] = [Covariance::Spherical, Covariance::Diagonal, Covariance::Full];

    /// Two long, slanted, parallel groups.
    fn stripes() -> Vec<f32> {
        let mut rng = stream(5, Stream::Synthetic, 0);
        (0..600)
            .flat_map(|i| {
                let along = 3.0 * (rng.random::<f32>() - 0.5);
                [along, 1.3 * (i % 2) as f32 + 0.2 * (rng.random::<f32>() - 0.5) + along]
            })
            .collect()
    }

    #[test]
    fn the_likelihood_never_falls() {
        let x: Vec<f64> = stripes().iter().map(|&v| f64::from(v)).collect();
        for shape in SHAPES {
            let mut last = f64::INFINITY;
            for max_iterations in 1..15 {
                let gmm =
                    GaussianMixture { max_iterations, tolerance: 0.0, ..GaussianMixture::new(2, shape) };
                let mut hard = vec![0.0; 1200];
                (0..600).for_each(|i| hard[i * 2 + usize::from(x[i * 2] > 0.3)] = 1.0);
                let loss = gmm.climb(&x, gmm.maximise(&x, 2, &hard).unwrap()).unwrap().loss;
                assert!(loss <= last + 1e-9, "{shape:?}: {loss} {last}");
                last = loss;
            }
        }
    }

    #[test]
    fn every_shape_finds_separated_groups_and_the_full_one_is_likeliest() {
        let mut x = stripes();
        (0..600).filter(|i| i % 2 == 1).for_each(|i| x[i * 2] += 40.0);
        let table = Table { x: &x, m: 2 };
        let losses = SHAPES.map(|shape| {
            let found = GaussianMixture::new(2, shape).train(table, 0, &Silent).unwrap();
            let mut proba = vec![0.0; 1200];
            found.head.assign(&x, &mut proba);
            let same = (0..600).filter(|i| (proba[i * 2] > 0.5) == (i % 2 == 0)).count();
            assert_eq!(same.max(600 - same), 600, "{shape:?}");
            found.loss
        });
        assert!(losses[2] < losses[1] - 0.1 && losses[1] <= losses[0] + 1e-9, "{losses:?}");
    }

    #[test]
    fn it_stops_within_a_restart_when_it_is_told_to() {
        struct After(AtomicUsize);
        impl Observer for After {
            fn progress(&self, _: Progress) -> Flow {
                if self.0.fetch_add(1, Ordering::Relaxed) < 20 { Flow::Continue } else { Flow::Stop }
            }
        }
        let x = stripes();
        let endless = GaussianMixture {
            max_iterations: usize::MAX,
            tolerance: -1.0,
            ..GaussianMixture::new(2, Covariance::Full)
        };
        let found = endless.train(Table { x: &x, m: 2 }, 0, &After(AtomicUsize::new(0))).unwrap();
        assert_eq!((found.stop, found.losses.len()), (StopReason::Interrupted, 1));
        assert!(found.iterations < 20, "{}", found.iterations);
    }

    #[test]
    fn a_covariance_that_is_not_one_is_refused() {
        let bad = Mixture::new(Covariance::Full, vec![1.0], vec![0.0; 2], vec![vec![1.0, 2.0, 2.0, 1.0]]);
        assert!(bad.unwrap_err().to_string().contains("positive definite"));
        assert!(Mixture::new(Covariance::Diagonal, vec![1.0], vec![0.0; 2], vec![vec![1.0, 0.0]]).is_err());
    }
}
