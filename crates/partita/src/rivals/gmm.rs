//! Gaussian mixtures as a rival: [`crate::mixture`], started from K-means.

pub use crate::mixture::{Covariance, GaussianMixture, Mixture};

use super::{Head, Method, Table, Trained};
use crate::centres::{Descent, plus_plus};
use crate::error::Result;
use crate::mixture::one_hot;
use crate::report::Observer;
use crate::rng::{Stream, stream};

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
            let start = self.maximise(&x, table.m, &one_hot(&labels, self.k))?;
            let found = self.climb_while(&x, start, keep_going)?;
            Ok(Trained {
                head: found.mixture,
                loss: found.loss,
                losses: vec![found.loss],
                iterations: found.iterations,
                stop: found.stop,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Flow, Progress, Silent, StopReason};
    use rand::RngExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const SHAPES: [Covariance; 4] =
        [Covariance::Spherical, Covariance::Diagonal, Covariance::Tied, Covariance::Full];

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
        assert!(losses[3] < losses[1] - 0.1 && losses[1] <= losses[0] + 1e-9, "{losses:?}");
        assert!(losses[3] <= losses[2] + 1e-9, "{losses:?}");
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
