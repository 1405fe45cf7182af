//! Where the clusters lie, before training: what K-means or a mixture of Gaussians sees in rows of few dimensions.
//!
//! Many features give every cluster a direction of its own, and random weights find them. In few dimensions clusters lie beside each other,
//! and three things follow from how they lie.
//!
//! **Where to start.** More than d + 1 centres in d dimensions have no directions of their own, and random weights find poor minima there.
//! Centres do better, and have the lower loss.
//!
//! **How large they are.** K-means finds clusters of any sizes where planes part them, and so their shares are the estimate of the prior.
//!
//! **The unit of γ.** Centres μ that lie δ apart are parted by weights w = t μ, with t = 2L/δ² for a lead of L logits at the centres. So
//! ‖W‖² = 4 L² K E‖μ‖²/δ⁴, and the same γ‖W‖² for all layouts asks for γ ∝ δ⁴/(K E‖μ‖²). Clusters of an embedding have δ² ≈ 2E‖μ‖², and E‖μ‖²
//! of about one half, where that ratio is 2; it is not raised beyond. Besides, the norm is there to choose among the many ways in which
//! weights of many dimensions can part the same rows. In d dimensions there are fewer: γ ∝ d.

use super::source::{RowBatch, Source};
use crate::centres::{Descent, Lloyd, NEVER_STOP, Table, neighbour_distance, plus_plus};
use crate::numeric::vector;
use crate::prepare::{Lift, MANY_FEATURES};
use crate::rng::{Stream, stream};
use rayon::prelude::*;

/// K-means runs of which the tightest is kept.
const RUNS: usize = 10;
/// δ⁴/E‖μ‖² of clusters in many dimensions.
const MANY_DIMENSIONS: f64 = 2.0;

/// Centres and sizes of the clusters, the largest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Centres, row-major `[k, d]`.
    pub centres: Vec<f32>,
    /// Share of the rows of each.
    pub shares: Vec<f64>,
    /// Mean squared distance of a row to its centre.
    pub tightness: f64,
    /// What γ is multiplied by.
    pub gamma: f64,
}

impl Layout {
    /// Whether it can be seen: in few dimensions, or where a lift has brought clusters apart.
    pub fn is_seen(source: &Source<'_>) -> bool {
        source.lift().is_some() || source.m() < MANY_FEATURES
    }

    /// What `sample` shows.
    pub fn of(source: &Source<'_>, sample: &RowBatch, k: usize, seed: u64) -> Self {
        let table = Table { x: &sample.x, m: source.m() };
        if let Some(Lift::Quadratic(lift)) = source.lift() {
            return Self::of_mixture(source, &lift.mixture().weights, table);
        }
        let layout = Self::of_centres(table, sample.marks().weights, k, seed);
        if source.lift().is_some() { layout } else { Self { gamma: layout.unit(table.m), ..layout } }
    }

    /// The corners that rows of one Gaussian alone would be lifted to.
    fn of_mixture(source: &Source<'_>, weights: &[f64], table: Table<'_>) -> Self {
        let k = weights.len();
        let mut corners: Vec<f32> = (0..k * k).map(|i| f32::from(i % (k + 1) == 0)).collect();
        let mut centres = vec![0.0; k * table.m];
        source.preparation().apply(&mut corners, &mut centres);
        let nearest = Descent { max_iterations: 0, ..Descent::default() }.run(table, centres, NEVER_STOP);
        Self::sorted(&nearest.centres, weights, nearest.tightness())
    }

    fn of_centres(table: Table<'_>, weights: Option<&[f32]>, k: usize, seed: u64) -> Self {
        Self::of_lloyd(&tightest(table, k, seed), weights, k)
    }

    /// Clusters as K-means left them.
    pub fn of_lloyd(fitted: &Lloyd, weights: Option<&[f32]>, k: usize) -> Self {
        Self::sorted(&fitted.centres, &shares(&fitted.labels, weights, k), fitted.tightness())
    }

    /// Clusters of rows with these labels.
    pub fn of_labels(table: Table<'_>, weights: Option<&[f32]>, labels: &[u32], k: usize) -> Self {
        let m = table.m;
        let (mut sums, mut counts) = (vec![0.0f64; k * m], vec![0usize; k]);
        for (x, &label) in table.x.chunks_exact(m).zip(labels) {
            let label = label as usize;
            counts[label] += 1;
            sums[label * m..(label + 1) * m].iter_mut().zip(x).for_each(|(s, x)| *s += f64::from(*x));
        }
        let share = |i: usize| 1.0 / counts[i / m].max(1) as f64;
        let centres: Vec<f32> = sums.iter().enumerate().map(|(i, s)| (s * share(i)) as f32).collect();
        let spread = table.x.chunks_exact(m).zip(labels);
        let spread = spread.map(|(x, &l)| vector::squared_distance(x, &centres[l as usize * m..][..m]));
        let tightness = spread.map(f64::from).sum::<f64>() / labels.len() as f64;
        Self::sorted(&centres, &shares(labels, weights, k), tightness)
    }

    fn sorted(centres: &[f32], shares: &[f64], tightness: f64) -> Self {
        let m = centres.len() / shares.len();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        Self {
            centres: order.iter().flat_map(|&c| &centres[c * m..(c + 1) * m]).copied().collect(),
            shares: order.iter().map(|&c| shares[c]).collect(),
            tightness,
            gamma: 1.0,
        }
    }

    /// γ in `d` dimensions, as a part of what it is in many.
    fn unit(&self, d: usize) -> f64 {
        let squares: f64 = self.centres.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
        let spread = (squares / self.shares.len() as f64).max(f64::MIN_POSITIVE);
        let spacing = neighbour_distance(&self.centres, d);
        let crowding = spacing * spacing / spread / MANY_DIMENSIONS;
        crowding.min(1.0) * d as f64 / MANY_FEATURES as f64
    }
}

/// Share of each cluster.
fn shares(labels: &[u32], weights: Option<&[f32]>, k: usize) -> Vec<f64> {
    let mut shares = vec![0.0; k];
    for (i, &label) in labels.iter().enumerate() {
        shares[label as usize] += weights.map_or(1.0, |weights| f64::from(weights[i]));
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}

/// The best of several runs of K-means.
pub fn tightest(table: Table<'_>, k: usize, seed: u64) -> Lloyd {
    let run = |run: usize| -> Lloyd {
        let seeds = plus_plus(table, k, &mut stream(seed, Stream::Seeds, run as u64));
        Descent::default().run(table, seeds, NEVER_STOP)
    };
    let runs: Vec<Lloyd> = (0..RUNS).into_par_iter().map(run).collect();
    let best = runs.into_iter().reduce(|a, b| if b.inertia < a.inertia { b } else { a });
    best.expect("at least one run")
}
