//! K-means, also on the sphere: the best of several starts of [`crate::centres`].

use super::{Head, Method, Table, Trained};
use crate::centres::{Descent, Lloyd, NEVER_STOP, halves, plus_plus, unit_rows};
use crate::error::{Result, require};
use crate::numeric::product;
use crate::report::Observer;
use crate::rng::{Stream, stream};
use crate::simplex::largest;
use serde::{Deserialize, Serialize};

/// Options of K-means.
///
/// ```
/// use ndarray::Array2;
/// use partita::linear::{Dims, Input, Prepare};
/// use partita::report::Silent;
/// use partita::rivals::{self, Frame, kmeans::KMeans};
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| (i % 3 * (j + 1)) as f32 * 10.0 + (i / 3) as f32 * 0.01);
/// let (view, frame) = (rows.view(), Frame { prepare: Prepare::Auto, dims: Dims::Full, seed: 0 });
/// let found = rivals::fit(&Input::new(&view), &KMeans::new(3), frame, &Silent).unwrap();
/// assert_eq!(found.labels, found.model.predict(&view).unwrap());
/// assert_eq!(found.labels.iter().filter(|l| **l == found.labels[0]).count(), 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KMeans {
    /// Number of clusters.
    pub k: usize,
    /// Independent starts; the one with the lowest inertia is kept.
    pub restarts: usize,
    /// Lloyd's iterations at most.
    pub max_iterations: usize,
    /// Stop when the centres moved by less than this, squared and summed, in units of the mean variance of a feature.
    pub tolerance: f64,
    /// Whether rows and centres are held on the unit sphere.
    pub spherical: bool,
}

impl KMeans {
    /// Defaults for `k` clusters.
    pub fn new(k: usize) -> Self {
        let Descent { max_iterations, tolerance, spherical } = Descent::default();
        Self { k, restarts: 8, max_iterations, tolerance, spherical }
    }

    /// Lloyd's iterations from these centres.
    pub fn lloyd(&self, table: Table<'_>, centres: Vec<f32>) -> Lloyd {
        self.descent().run(table, centres, NEVER_STOP)
    }

    fn descent(&self) -> Descent {
        let Self { max_iterations, tolerance, spherical, .. } = *self;
        Descent { max_iterations, tolerance, spherical }
    }
}

/// The centres of the clusters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Centres {
    /// Row-major `[k, m]`.
    pub centres: Vec<f32>,
    /// −‖c‖²/2 of each.
    bias: Vec<f32>,
}

impl Centres {
    /// Rows go to the nearest of these, row-major `[k, m]`.
    pub fn new(centres: Vec<f32>, m: usize) -> Self {
        let bias = halves(&centres, m);
        Self { centres, bias }
    }
}

impl Head for Centres {
    fn assign(&self, x: &[f32], proba: &mut [f32]) {
        let (k, m) = (self.bias.len(), self.centres.len() / self.bias.len());
        product::logits_piece(x, &self.centres, &self.bias, m, proba);
        for row in proba.chunks_exact_mut(k) {
            let best = largest(row);
            row.fill(0.0);
            row[best] = 1.0;
        }
    }
}

impl Method for KMeans {
    type Head = Centres;

    fn k(&self) -> usize {
        self.k
    }

    fn check(&self, _: usize) -> Result<()> {
        super::at_least_one("restarts", self.restarts)?;
        super::at_least_one("iterations", self.max_iterations)?;
        let ok = self.tolerance >= 0.0 && self.tolerance.is_finite();
        require("the tolerance", self.tolerance, ok, "a finite number, 0 or more")
    }

    fn train(&self, table: Table<'_>, seed: u64, observer: &dyn Observer) -> Result<Trained<Centres>> {
        let normalised = self.spherical.then(|| unit_rows(table));
        let table = normalised.as_ref().map_or(table, |x| Table { x, ..table });
        super::best_of("K-means", self.restarts, observer, |restart, keep_going| {
            let seeds = plus_plus(table, self.k, &mut stream(seed, Stream::Seeds, restart as u64));
            let Lloyd { centres, inertia, iterations, stop, .. } =
                self.descent().run(table, seeds, keep_going);
            let head = Centres::new(centres, table.m);
            Ok(Trained { head, loss: inertia, losses: vec![inertia], iterations, stop })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Silent;

    #[test]
    fn on_the_sphere_only_the_angle_of_a_row_counts() {
        let ray = |angle: f32, length: f32| [angle.cos() * length, angle.sin() * length];
        let x: Vec<f32> = (0..60)
            .flat_map(|i| ray((i % 3) as f32 * 2.0 + i as f32 * 1e-3, 0.1 + (i * 7 % 13) as f32))
            .collect();
        let spherical = KMeans { spherical: true, ..KMeans::new(3) };
        let found = spherical.train(Table { x: &x, m: 2 }, 0, &Silent).unwrap();
        assert!(found.loss < 1.0, "{}", found.loss);
        let mut proba = vec![0.0; 180];
        found.head.assign(&x, &mut proba);
        for i in 3..60 {
            assert_eq!(proba[i * 3..i * 3 + 3], proba[(i % 3) * 3..(i % 3) * 3 + 3]);
        }
    }
}
