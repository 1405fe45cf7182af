//! Where a row lies in the graph of nearest neighbours.
//!
//! Landmarks, a random sample of the rows, are joined with their nearest neighbours by edges of weight
//!
//! ```text
//! exp(−d²/(s_i s_j)) / (s_i s_j)^(b/2),    s_i the distance of landmark i to its 7th neighbour
//! ```
//!
//! The first factor is a scale of its own for every region (Zelnik-Manor and Perona, 2004). The second counts an edge as much as its
//! region is dense. A random walk on such a graph seldom crosses sparse regions: in m dimensions a cut costs
//! ∫p^(1 − 1/m + b/m) along itself and a cluster holds ∫p^(1 + b/m), so with b = m both are those of a graph of fixed
//! radius, which scattered noise does not mislead. b is at most 2, for densities in many dimensions are hardly known.
//!
//! The features of a row are the K slowest modes u of that walk, averaged over its nearest landmarks with the same weights, as a
//! vector of length one. A cluster that the walk hardly leaves is then nearly a point. New rows are lifted as all others are.
//!
//! How many neighbours: the number for which the K modes are slowest beside the next one, mean(1 − λ_1..K)/(1 − λ_K+1).

use super::landmarks::Landmarks;
use super::spectrum::{Graph, Spectrum};
use crate::centres::{Table, unit_rows};
use crate::error::{Error, Result};
use crate::numeric::vector;
use crate::prepare::Preparation;
use crate::rows::Rows;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Landmarks at most. More would resolve finer gaps, at a cost that grows faster than their number.
const LANDMARKS: usize = 1500;
/// Numbers of neighbours that are tried.
const NEIGHBOURS: [usize; 5] = [5, 7, 10, 15, 25];
/// The neighbour whose distance is the scale of a region.
const SCALE: usize = 7;
/// b at most.
const DENSITY: f64 = 2.0;
/// Scales below this part of the median count as if they were that large.
const LEAST_SCALE: f32 = 1e-3;
/// Weight of an edge between separate pieces, as a part of the degrees it joins: without one their modes mix freely.
const WEAK: f64 = 1e-4;
/// Landmarks for each cluster that `auto` asks for.
const LANDMARKS_PER_CLUSTER: usize = 25;
/// Slowness below which there are clusters: half of the least that rows of one Gaussian have.
const CLEAR: f64 = 0.15;
/// Pieces below this part of the equal share are no clusters, ...
const LEAST_PIECE: f64 = 0.05;
/// ... nor are those of so few landmarks: they are tied to what is next to them.
const LEAST_LANDMARKS: f64 = SCALE as f64;

/// The graph lift, fitted to rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphLift {
    /// What is done to raw rows before distances are measured.
    pub base: Preparation,
    /// Prepared rows that stand for all.
    pub landmarks: Landmarks,
    /// Scale of the region around each landmark.
    pub scales: Vec<f32>,
    /// Modes at each landmark, row-major `[landmarks, d]`.
    pub modes: Vec<f32>,
    /// Nearest landmarks that count.
    pub neighbours: usize,
    /// mean(1 − λ_1..K)/(1 − λ_K+1): how slow the modes are beside the next. Near 0 the clusters are well apart.
    pub slowness: f64,
}

impl GraphLift {
    /// A lift to `k` features, the modes of `k` clusters, of rows that `base` prepares.
    ///
    /// # Errors
    /// If the rows cannot be read, or if there are fewer different landmarks than clusters.
    pub fn fit(data: &dyn Rows, base: Preparation, k: usize, seed: u64) -> Result<Self> {
        let landmarks = Landmarks::in_cells(data, &base, LANDMARKS, seed)?;
        let n = landmarks.n();
        if n < k.max(2) {
            return Err(Error::TooFewDistinctRows { rows: data.n().min(LANDMARKS), distinct: n, k });
        }
        let most = NEIGHBOURS[NEIGHBOURS.len() - 1].min(n - 1);
        let near: Vec<Vec<(f32, u32)>> = (0..n)
            .into_par_iter()
            .map_init(Vec::new, |distances, i| {
                let mut near = landmarks.nearest(&landmarks.row(i), most + 1, distances);
                near.retain(|(_, j)| *j as usize != i);
                near.truncate(most);
                near
            })
            .collect();
        let mut tried: Vec<usize> = NEIGHBOURS.iter().map(|&count| count.min(n - 1)).collect();
        tried.dedup();
        let found: Vec<Found> =
            tried.par_iter().map(|&count| Found::new(&landmarks, &near, count, k)).collect();
        let best = found.into_iter().reduce(|a, b| if b.slowness < a.slowness { b } else { a });
        let Found { scales, modes, neighbours, slowness } = best.expect("at least one number is tried");
        Ok(Self { base, landmarks, scales, modes, neighbours, slowness })
    }

    /// Whether `n` rows are enough to show `k` clusters.
    pub fn suits(n: usize, k: usize) -> bool {
        n.min(LANDMARKS) >= LANDMARKS_PER_CLUSTER * k
    }

    /// Whether it found clusters in `n` rows. In a plane and in space, neighbours show how dense rows are, and the lift is as good as any
    /// map even where clusters touch. In more dimensions they do only with many rows; otherwise the modes must be clearly slower
    /// than those of a single Gaussian, whose slowness is 0.29 or more (0.4 to 0.6 beyond two dimensions).
    pub fn finds_clusters(&self, n: usize) -> bool {
        let dense = (n as f64).log(4.0) >= self.base.d() as f64 + 1.0;
        dense || self.slowness < CLEAR
    }

    /// Number of lifted features.
    pub fn d(&self) -> usize {
        self.modes.len() / self.landmarks.n().max(1)
    }

    /// b, the power of the density in the weights of edges.
    pub fn density(&self) -> f64 {
        density(self.base.d())
    }

    /// Which of the `count` nearest landmarks, counted from 0, shows the scale of a row's region. A landmark is its own nearest; for other
    /// rows the nearest takes that place.
    pub fn own_rank(&self, count: usize) -> usize {
        SCALE.min(count - 1)
    }

    /// Whether all parts fit together and all numbers are finite.
    pub fn is_sound(&self) -> bool {
        let n = self.landmarks.n();
        let numbers = [self.landmarks.columns(), &self.scales, &self.modes];
        n > 0
            && self.base.is_sound()
            && self.base.d() == self.landmarks.m()
            && self.landmarks.columns().len() == n * self.landmarks.m()
            && self.scales.len() == n
            && self.d() > 0
            && self.modes.len() == n * self.d()
            && self.neighbours > 0
            && self.scales.iter().all(|s| *s > 0.0)
            && numbers.into_iter().flatten().all(|v| v.is_finite())
    }

    /// Lift a block of raw rows, which is overwritten.
    pub fn apply(&self, block: &mut [f32], out: &mut [f32]) {
        let mut prepared = vec![0.0; block.len() / self.base.m() * self.base.d()];
        self.base.apply(block, &mut prepared);
        let mut distances = Vec::new();
        for (x, out) in prepared.chunks_exact(self.base.d()).zip(out.chunks_exact_mut(self.d())) {
            self.lift(x, out, &mut distances);
        }
    }

    /// The modes at a prepared row.
    fn lift(&self, x: &[f32], out: &mut [f32], distances: &mut Vec<f32>) {
        let near = self.landmarks.nearest(x, self.neighbours + 1, distances);
        let own = near[self.own_rank(near.len())].0.sqrt().max(f32::MIN_POSITIVE);
        let b = self.density() as f32;
        let logs: Vec<f32> = near
            .iter()
            .map(|&(square, j)| {
                let scale = self.scales[j as usize];
                -square / (own * scale) - 0.5 * b * scale.ln()
            })
            .collect();
        // Only ratios count: far from all landmarks the nearest still have weight.
        let top = logs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let d = out.len();
        let mut sum = vec![0.0f64; d];
        for (log, &(_, j)) in logs.iter().zip(&near) {
            let weight = f64::from((log - top).exp());
            let modes = &self.modes[j as usize * d..][..d];
            sum.iter_mut().zip(modes).for_each(|(s, u)| *s += weight * f64::from(*u));
        }
        let norm = sum.iter().map(|s| s * s).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        // A row that is not finite is found by its features: they are not finite either.
        out.iter_mut().zip(sum).for_each(|(o, s)| *o = (s / norm) as f32);
        if x.iter().any(|v| !v.is_finite()) {
            out.fill(f32::NAN);
        }
    }
}

/// Roughly the `k` slowest modes of a walk among rows `[n, m]` of length one, whose nearest neighbours are `near` `[n, count]`, as rows of length one. In many
/// dimensions densities are hardly known, and b is 0.
pub fn modes(unit: Table<'_>, near: &[u32], k: usize) -> Vec<f32> {
    let (n, m) = (unit.n(), unit.m);
    let count = near.len() / n;
    let row = |i: usize| &unit.x[i * m..(i + 1) * m];
    let near: Vec<Vec<(f32, u32)>> = (0..n)
        .map(|i| {
            let near = near[i * count..(i + 1) * count].iter();
            near.map(|&j| (vector::squared_distance(row(i), row(j as usize)), j)).collect()
        })
        .collect();
    let scales = scales(&near, SCALE.min(count));
    let mut graph = connect(&near, &scales, count, 0.0);
    join_pieces(&mut graph, &Landmarks::new(unit.x, m), LEAST_LANDMARKS);
    let spectrum = Spectrum::rough(&graph, k);
    let modes: Vec<f32> = spectrum.vectors.iter().map(|&v| v as f32).collect();
    unit_rows(Table { x: &modes, m: spectrum.values.len() })
}

/// b in `m` dimensions.
fn density(m: usize) -> f64 {
    DENSITY.min(m as f64)
}

/// What a number of neighbours leads to.
struct Found {
    scales: Vec<f32>,
    modes: Vec<f32>,
    neighbours: usize,
    slowness: f64,
}

impl Found {
    fn new(landmarks: &Landmarks, near: &[Vec<(f32, u32)>], neighbours: usize, k: usize) -> Self {
        let scales = scales(near, SCALE.min(neighbours));
        let mut graph = connect(near, &scales, neighbours, density(landmarks.m()));
        let least = LEAST_PIECE * landmarks.n() as f64 / k as f64;
        join_pieces(&mut graph, landmarks, least.max(LEAST_LANDMARKS));
        let spectrum = Spectrum::new(&graph, k + 1);
        let count = spectrum.values.len();
        let d = k.min(count);
        let modes = spectrum.vectors.chunks_exact(count).flat_map(|row| &row[..d]).map(|&v| v as f32);
        Self { scales, modes: modes.collect(), neighbours, slowness: spectrum.slowness(k) }
    }
}

/// Distance of each landmark to its neighbour of this rank, counted from 1.
fn scales(near: &[Vec<(f32, u32)>], rank: usize) -> Vec<f32> {
    let scales: Vec<f32> = near.iter().map(|near| near[rank - 1].0.sqrt()).collect();
    let mut sorted = scales.clone();
    sorted.sort_by(f32::total_cmp);
    let least = (LEAST_SCALE * sorted[sorted.len() / 2]).max(f32::MIN_POSITIVE);
    scales.iter().map(|s| s.max(least)).collect()
}

/// Each landmark with its nearest neighbours.
fn connect(near: &[Vec<(f32, u32)>], scales: &[f32], neighbours: usize, b: f64) -> Graph {
    let mut graph = Graph { edges: vec![Vec::new(); near.len()] };
    let typical = f64::from(scales.iter().copied().fold(0.0, f32::max)).powi(2);
    for (i, near) in near.iter().enumerate() {
        for &(square, j) in &near[..neighbours] {
            let product = f64::from(scales[i]) * f64::from(scales[j as usize]);
            // Neighbours that are mutual get the same weight twice.
            graph.join(
                i,
                j as usize,
                (-f64::from(square) / product).exp() * (typical / product).powf(0.5 * b),
            );
        }
    }
    graph
}

/// Join the pieces of a graph: small ones firmly with what is next to them, then the others by weak edges.
fn join_pieces(graph: &mut Graph, landmarks: &Landmarks, least: f64) {
    loop {
        let (piece, count) = graph.pieces();
        if count == 1 {
            return;
        }
        let mut sizes = vec![0usize; count];
        piece.iter().for_each(|&p| sizes[p] += 1);
        let small: Vec<usize> = (0..count).filter(|&p| (sizes[p] as f64) < least).collect();
        let degrees = graph.degrees();
        let ties = ties(landmarks, &piece, if small.is_empty() { None } else { Some(&small) });
        for (inside, outside) in ties {
            let weight = if small.is_empty() {
                WEAK * degrees[inside].min(degrees[outside])
            } else {
                degrees[outside]
            };
            graph.join(inside, outside, weight);
        }
    }
}

/// For each of these pieces, or for all: its landmark that is nearest to another piece, and the one there.
fn ties(landmarks: &Landmarks, piece: &[usize], which: Option<&[usize]>) -> Vec<(usize, usize)> {
    let count = piece.iter().max().map_or(0, |last| last + 1);
    let wanted = |p: usize| which.is_none_or(|which| which.contains(&p));
    let rows: Vec<usize> = (0..piece.len()).filter(|&i| wanted(piece[i])).collect();
    let nearest: Vec<(f32, usize, usize)> = rows
        .par_iter()
        .map_init(Vec::new, |distances, &i| {
            landmarks.distances(&landmarks.row(i), distances);
            let others = (0..piece.len()).filter(|&j| piece[j] != piece[i]);
            let j = others.min_by(|&a, &b| distances[a].total_cmp(&distances[b])).expect("another piece");
            (distances[j], i, j)
        })
        .collect();
    let mut best: Vec<Option<(f32, usize, usize)>> = vec![None; count];
    for tie in nearest {
        let place = &mut best[piece[tie.1]];
        if place.is_none_or(|best| tie.0 < best.0) {
            *place = Some(tie);
        }
    }
    best.into_iter().flatten().map(|(_, i, j)| (i, j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::{Lift, Lifted, Prepare};
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    /// Two rings, one inside the other, in turns.
    fn rings(n: usize) -> Array2<f32> {
        let mut rng = stream(2, Stream::Synthetic, 0);
        let angles: Vec<f32> = (0..n).map(|_| rng.random::<f32>() * 6.3).collect();
        Array2::from_shape_fn((n, 2), |(i, j)| {
            let radius = if i % 2 == 0 { 1.0 } else { 3.0 };
            radius * if j == 0 { angles[i].cos() } else { angles[i].sin() } + 0.1 * rng.random::<f32>()
        })
    }

    fn fitted(x: &Array2<f32>, k: usize) -> GraphLift {
        let base = Preparation::fit(x, &[2], Prepare::Centre, &Silent).unwrap();
        GraphLift::fit(x, base, k, 0).unwrap()
    }

    fn lifted(lift: &Lift, x: &Array2<f32>) -> Vec<f32> {
        let mut out = vec![0.0; x.nrows() * lift.d()];
        Lifted::new(x, lift).read(0, &mut out).unwrap();
        out
    }

    #[test]
    fn rings_become_points_also_for_rows_that_it_never_saw() {
        let graph = fitted(&rings(600), 2);
        assert!(graph.is_sound() && graph.slowness < 1e-3, "{}", graph.slowness);
        let lift = Lift::Graph(graph);
        let points = lifted(&lift, &rings(2000));
        for (i, point) in points.chunks_exact(2).enumerate() {
            let own = &points[i % 2 * 2..][..2];
            let cosine: f32 = own.iter().zip(point).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.99, "row {i}: {point:?} {own:?}");
        }
        let across: f32 = points[..2].iter().zip(&points[2..4]).map(|(a, b)| a * b).sum();
        assert!(across < 0.1, "{across}");
    }

    #[test]
    fn neither_threads_nor_the_unit_of_the_features_matter() {
        let x = rings(400);
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let one = pool(1).install(|| fitted(&x, 3));
        assert!(pool(3).install(|| fitted(&x, 3)) == one);
        let large = fitted(&x.mapv(|v| v * 1024.0), 3);
        assert!(large.modes == one.modes);
    }

    #[test]
    fn a_row_alone_is_lifted_as_among_others_and_far_ones_too() {
        let lift = Lift::Graph(fitted(&rings(300), 2));
        let mut x = rings(40);
        x[[5, 0]] = 1e6;
        x[[6, 1]] = f32::NAN;
        let all = lifted(&lift, &x);
        for i in 0..40 {
            let one = lifted(&lift, &x.slice(ndarray::s![i..=i, ..]).to_owned());
            assert!(one.iter().zip(&all[2 * i..]).all(|(a, b)| a.to_bits() == b.to_bits()), "row {i}");
        }
        assert!(all[10..12].iter().all(|v| v.is_finite()) && all[12..14].iter().all(|v| v.is_nan()));
    }

    #[test]
    fn copies_and_few_rows_do_no_harm() {
        let few = Array2::from_shape_fn((12, 2), |(i, j)| [0.0f32, 1.0, 7.0][i % 3] + j as f32);
        let graph = fitted(&few, 3);
        assert_eq!((graph.landmarks.n(), graph.d(), graph.is_sound()), (3, 3, true));
        let base = Preparation::fit(&few, &[2], Prepare::Centre, &Silent).unwrap();
        let error = GraphLift::fit(&few, base, 4, 0).unwrap_err();
        assert!(matches!(error, Error::TooFewDistinctRows { distinct: 3, k: 4, .. }), "{error}");
    }
}
