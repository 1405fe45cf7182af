//! Hard labels with bounds on the sizes of clusters: one cluster per row, with the largest possible sum of scores.
//!
//! maximise Σᵢ score\[i, labelᵢ\] subject to lowerₖ ≤ #{i : labelᵢ = k} ≤ upperₖ
//!
//! This is a transportation problem, and its dual has one price per cluster: every row takes the cluster with the
//! largest score minus price, and the prices make the sizes right. Prices are found on a sample of the rows, then on
//! larger samples, each four times the size of the last, and finally on all rows. Each problem is solved exactly, by
//! moving rows along shortest paths over the clusters. Because each starts from the prices of the one before, only
//! few rows are left to move.
//!
//! The result is optimal up to the rounding of scores to 2⁻⁴⁰ or so of the largest, and comes with its proof: the
//! prices bound the best sum from above, see [`Balanced::gap`].
//!
//! | file | what it holds |
//! |---|---|
//! | `bounds` | allowed sizes |
//! | `grid` | scores as whole numbers, and the best clusters at given prices |
//! | `flow` | the exact solver: shortest augmenting paths |
//! | `queue` | the best candidates for moves between two clusters |
//! | `members` | which rows each cluster has |

mod bounds;
mod flow;
mod grid;
mod members;
mod queue;

pub use bounds::Bounds;

use crate::error::{Error, Result};
use crate::rng::{Stream, stream};
use flow::Flow;
use grid::{Grid, PIECE};
use rand::RngExt;
use rayon::prelude::*;

/// How many times larger each sample is than the one before.
const GROWTH: usize = 4;

/// Minimum rows per cluster in a sample, and in all: the smallest sample starts without prices.
const SAMPLE_OF_CLUSTER: usize = 8;
const SAMPLE: usize = 64;

/// Labels within bounds, and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The cluster of each row.
    pub labels: Vec<u32>,
    /// Their sum of scores, and the proof that it is the largest.
    pub balanced: Balanced,
}

/// How good labels within bounds are.
///
/// ```
/// use partita::balance::{Bounds, assign};
/// let found = assign(&[-0.1, -2.4, -0.2, -1.7], 2, &Bounds::between(1, 1, 2)?)?.balanced;
/// assert!((found.score - -1.8).abs() < 1e-6); // the second row goes, it loses less
/// assert!(found.gap < 1e-9 && found.prices[0] - found.prices[1] >= 1.5 - 1e-6);
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Balanced {
    /// Sum of the scores of the labels.
    pub score: f64,
    /// No labels within the bounds have a sum above `score + gap`: the dual at `prices` proves it. Zero or nearly zero.
    pub gap: f64,
    /// A price for each cluster: every row's label has the largest score minus price. Prices are positive only in
    /// clusters of the maximum size, and negative only in clusters of the minimum size.
    pub prices: Vec<f64>,
}

/// Scratch space that the caller owns; reusing it makes many small problems cheap.
///
/// See [`assign_into`].
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    flow: Flow,
}

/// The labels with the largest sum of scores whose sizes are within `bounds`.
///
/// `scores` are logarithms of probabilities or any other numbers, shape `[n, k]`, row after row. Minus infinity
/// counts as −690 or as minus the largest magnitude of a finite score, whichever is lower, so that bounds can always
/// be satisfied. The result does not depend on the number of threads. Time grows with `n · k`, plus about k² for each
/// of roughly √(n k) moves.
///
/// ```
/// use partita::balance::{Bounds, assign};
/// // All three rows prefer cluster 0, which may have one; the last one would lose most.
/// let scores = [-0.1, -0.9, -0.2, -0.8, -0.1, -3.0];
/// let found = assign(&scores, 2, &Bounds { lower: vec![1, 0], upper: vec![1, 3] })?;
/// assert_eq!(found.labels, [1, 1, 0]);
/// assert!((found.balanced.score - -1.8).abs() < 1e-6 && found.balanced.gap < 1e-6);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// If `scores` are not complete rows of `k`, if they contain NaN or plus infinity, or if no labels of `n` rows
/// satisfy the bounds: see [`Bounds::check`].
pub fn assign(scores: &[f32], k: usize, bounds: &Bounds) -> Result<Assignment> {
    let mut labels = vec![0; scores.len() / k.max(1)];
    let balanced = assign_into(scores, k, bounds, &mut labels, &mut Workspace::default())?;
    Ok(Assignment { labels, balanced })
}

/// Like [`assign`], but into the caller's `labels` and with the caller's scratch space: for many small batches.
///
/// ```
/// use partita::balance::{Bounds, Workspace, assign_into};
/// let bounds = Bounds::exact(&[0.5, 0.5], 2)?;
/// let (mut labels, mut space) = ([0; 2], Workspace::default());
/// for scores in [[-0.1, -2.0, -0.1, -1.0], [-3.0, -0.1, -2.0, -0.2]] {
///     assign_into(&scores, 2, &bounds, &mut labels, &mut space)?;
///     let sizes = [0, 1].map(|c| labels.iter().filter(|l| **l == c).count());
///     assert_eq!(sizes, [1, 1]);
/// }
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// Like [`assign`], and if the length of `labels` is not the number of rows.
pub fn assign_into(
    scores: &[f32],
    k: usize,
    bounds: &Bounds,
    labels: &mut [u32],
    space: &mut Workspace,
) -> Result<Balanced> {
    let n = scores.len() / k.max(1);
    check(scores, k, bounds, labels.len())?;
    let grid = Grid::new(scores, k)?;
    let flow = &mut space.flow;
    flow.prices.clear();
    flow.prices.resize(k, 0);
    for size in sample_sizes(n, k) {
        let rows = sample(n, size);
        scale_bounds(bounds, n, size, flow);
        flow.solve(&grid.sample(&rows));
    }
    scale_bounds(bounds, n, n, flow);
    flow.solve(&grid);
    labels.copy_from_slice(&flow.members.labels);
    Ok(certify(&grid, flow))
}

fn check(scores: &[f32], k: usize, bounds: &Bounds, labels: usize) -> Result<()> {
    let n = scores.len() / k.max(1);
    bounds.check(n, k)?;
    if scores.len() != n * k {
        return Err(Error::Length { what: "the last row of scores", found: scores.len() % k, expected: k });
    }
    if labels != n {
        return Err(Error::Length { what: "labels", found: labels, expected: n });
    }
    if n >= u32::MAX as usize {
        return Err(Error::Parameter { name: "rows", value: n.to_string(), must: "below 4,294,967,295" });
    }
    Ok(())
}

/// Sizes of the samples, smallest first; empty if there are few rows.
fn sample_sizes(n: usize, k: usize) -> Vec<usize> {
    let larger = std::iter::successors(Some(n / GROWTH), |size| Some(size / GROWTH));
    let mut sizes: Vec<usize> =
        larger.take_while(|size| *size >= (SAMPLE_OF_CLUSTER * k).max(SAMPLE)).collect();
    sizes.reverse();
    sizes
}

/// One random row from each of `size` equal stretches: whatever the order of the rows, they are well mixed, and
/// memory is read forwards.
fn sample(n: usize, size: usize) -> Vec<u32> {
    let mut rng = stream(0, Stream::Sample, size as u64);
    let start = |i: usize| i * n / size;
    (0..size).map(|i| rng.random_range(start(i)..start(i + 1)) as u32).collect()
}

/// The bounds for a sample, wide enough that they can be satisfied.
fn scale_bounds(bounds: &Bounds, n: usize, size: usize, flow: &mut Flow) {
    let share = |bound: &usize| (*bound).min(n) as u128 * size as u128;
    let n = n.max(1) as u128;
    flow.lower.clear();
    flow.lower.extend(bounds.lower.iter().map(|b| (share(b) / n) as usize));
    flow.upper.clear();
    flow.upper.extend(bounds.upper.iter().map(|b| share(b).div_ceil(n) as usize));
}

/// Sum the scores, and how far each row and each cluster is from the best choice at the prices. This uses nothing but
/// labels and prices, so it holds whatever the solver did.
fn certify(grid: &Grid<'_>, flow: &Flow) -> Balanced {
    let prices: Vec<f64> = flow.prices.iter().map(|p| *p as f64 / grid.scale).collect();
    let labels = &flow.members.labels;
    let piece = |values: &mut Vec<f64>, (piece, labels): (usize, &[u32])| {
        let (mut score, mut gap) = (0.0, 0.0);
        for (i, &label) in labels.iter().enumerate() {
            let scores = grid.row(piece * PIECE + i);
            values.clear();
            values.extend(scores.iter().zip(&prices).map(|(s, p)| grid.score(*s) - p));
            gap += grid::largest(values) - values[label as usize];
            score += grid.score(scores[label as usize]);
        }
        (score, gap)
    };
    let sums: Vec<(f64, f64)> = if grid.is_large() {
        labels.par_chunks(PIECE).enumerate().map_init(Vec::new, piece).collect()
    } else {
        let mut values = Vec::new();
        labels.chunks(PIECE).enumerate().map(|part| piece(&mut values, part)).collect()
    };
    let score = sums.iter().map(|s| s.0).sum();
    let gap = sums.iter().map(|s| s.1).sum::<f64>() + unused(flow, &prices);
    Balanced { score, gap, prices }
}

/// What it costs that clusters with a price miss the sizes that the price asks for.
fn unused(flow: &Flow, prices: &[f64]) -> f64 {
    let miss = |(c, price): (usize, &f64)| {
        let size = flow.members.of(c).len() as f64;
        let wanted = if *price > 0.0 { flow.upper[c] } else { flow.lower[c] };
        price * (wanted as f64 - size)
    };
    prices.iter().enumerate().map(miss).sum()
}

#[cfg(test)]
mod tests;
