//! Centres of rows: k-means++ seeds and Lloyd's iterations, by matrix products. They serve K-means and the starts of other methods.
//!
//! The nearest centre c of x is where x·c − ‖c‖²/2 is largest, one product for all rows and centres. Sums of the clusters
//! are kept from iteration to iteration and only the rows that moved change them, so that late iterations cost
//! the product alone.

use crate::numeric::{product, vector};
use crate::report::StopReason;
use crate::simplex::largest;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Rows assigned by one thread at a time: they stay in its cache.
const PIECE: usize = 64;

/// Prepared rows, row-major `[n, m]`.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// The values.
    pub x: &'a [f32],
    /// Dimensions of a row.
    pub m: usize,
}

impl Table<'_> {
    /// Number of rows.
    pub fn n(&self) -> usize {
        self.x.len() / self.m
    }
}

/// The rows at unit length; rows of zeros stay.
pub fn unit_rows(table: Table<'_>) -> Vec<f32> {
    let mut x = table.x.to_vec();
    x.par_chunks_mut(table.m).for_each(|row| {
        let scale = vector::inverse_norm(row);
        row.iter_mut().for_each(|v| *v *= scale);
    });
    x
}

/// Is called with the share of the iterations that is done, and answers whether to go on.
pub type KeepGoing<'a> = &'a dyn Fn(f64) -> bool;

/// Never stops the iterations early.
pub const NEVER_STOP: KeepGoing<'static> = &|_| true;

/// Where Lloyd's iterations ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Lloyd {
    /// Centres, row-major `[k, m]`.
    pub centres: Vec<f32>,
    /// The nearest centre of each row.
    pub labels: Vec<u32>,
    /// Sum of the squared distances to the nearest centre.
    pub inertia: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Why they stopped.
    pub stop: StopReason,
}

impl Lloyd {
    /// Mean squared distance of a row to its centre.
    pub fn tightness(&self) -> f64 {
        self.inertia / self.labels.len() as f64
    }
}

/// When Lloyd's iterations end, and where they move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when the centres moved by less than this, squared and summed, in units of the mean variance of a feature.
    pub tolerance: f64,
    /// Whether centres are held on the unit sphere, as the rows are then.
    pub spherical: bool,
}

impl Default for Descent {
    fn default() -> Self {
        Self { max_iterations: 300, tolerance: 1e-4, spherical: false }
    }
}

impl Descent {
    /// Lloyd's iterations from these centres, as long as `keep_going` says so. A centre that loses all rows moves to the row that is
    /// farthest from its own.
    pub fn run(&self, table: Table<'_>, centres: Vec<f32>, keep_going: KeepGoing<'_>) -> Lloyd {
        let mut state = State::new(table, centres, self.spherical);
        let enough = self.tolerance * mean_variance(table);
        let mut stop = StopReason::Finished;
        let mut iterations = 0;
        while iterations < self.max_iterations && stop == StopReason::Finished {
            if !keep_going(iterations as f64 / self.max_iterations as f64) {
                stop = StopReason::Interrupted;
                break;
            }
            iterations += 1;
            let moved = state.move_centres();
            if state.assign() == 0 || (enough > 0.0 && moved <= enough) {
                stop = StopReason::Converged;
            }
        }
        let inertia = state.inertia();
        Lloyd { centres: state.centres, labels: state.labels, inertia, iterations, stop }
    }
}

/// Lloyd's iterations at work.
struct State<'a> {
    table: Table<'a>,
    spherical: bool,
    centres: Vec<f32>,
    labels: Vec<u32>,
    /// Sum of the rows of each cluster, `[k, m]`.
    sums: Vec<f64>,
    counts: Vec<usize>,
}

impl<'a> State<'a> {
    fn new(table: Table<'a>, centres: Vec<f32>, spherical: bool) -> Self {
        let (k, n) = (centres.len() / table.m, table.n());
        // No row has a label yet: the first assignment moves all of them.
        let mut state = Self {
            table,
            spherical,
            labels: vec![u32::MAX; n],
            sums: vec![0.0; k * table.m],
            counts: vec![0; k],
            centres,
        };
        state.assign();
        state
    }

    /// Send every row to its nearest centre; returns how many moved.
    fn assign(&mut self) -> usize {
        let next = nearest(self.table, &self.centres);
        let m = self.table.m;
        let mut moved = 0;
        for (i, (old, new)) in self.labels.iter_mut().zip(next).enumerate() {
            if *old != new {
                moved += 1;
                let x = &self.table.x[i * m..(i + 1) * m];
                if let Some(count) = self.counts.get_mut(*old as usize) {
                    *count -= 1;
                    add(&mut self.sums[*old as usize * m..][..m], x, -1.0);
                }
                self.counts[new as usize] += 1;
                add(&mut self.sums[new as usize * m..][..m], x, 1.0);
                *old = new;
            }
        }
        moved
    }

    /// Put centres at the means; returns by how much they moved, squared and summed.
    fn move_centres(&mut self) -> f64 {
        let m = self.table.m;
        let mut moved = 0.0;
        for (c, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let sum = &self.sums[c * m..(c + 1) * m];
            let norm = sum.iter().map(|s| s * s).sum::<f64>().sqrt();
            let scale = if self.spherical { 1.0 / norm.max(f64::MIN_POSITIVE) } else { 1.0 / count as f64 };
            for (centre, sum) in self.centres[c * m..(c + 1) * m].iter_mut().zip(sum) {
                let next = (sum * scale) as f32;
                moved += f64::from(next - *centre).powi(2);
                *centre = next;
            }
        }
        let empty: Vec<usize> = (0..self.counts.len()).filter(|&c| self.counts[c] == 0).collect();
        for (&c, far) in empty.iter().zip(self.farthest(empty.len())) {
            self.centres[c * m..(c + 1) * m].copy_from_slice(&self.table.x[far * m..(far + 1) * m]);
            moved = f64::INFINITY;
        }
        moved
    }

    fn distance(&self, i: usize) -> f64 {
        let m = self.table.m;
        let centre = &self.centres[self.labels[i] as usize * m..];
        let x = &self.table.x[i * m..(i + 1) * m];
        x.iter().zip(centre).map(|(x, c)| f64::from(x - c).powi(2)).sum()
    }

    fn inertia(&self) -> f64 {
        (0..self.labels.len()).into_par_iter().map(|i| self.distance(i)).collect::<Vec<_>>().iter().sum()
    }

    /// The `count` rows farthest from their centres.
    fn farthest(&self, count: usize) -> Vec<usize> {
        if count == 0 {
            return Vec::new();
        }
        let mut rows: Vec<(f64, usize)> = (0..self.labels.len()).map(|i| (self.distance(i), i)).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        rows.into_iter().take(count).map(|(_, i)| i).collect()
    }
}

/// sum += sign · x.
fn add(sum: &mut [f64], x: &[f32], sign: f64) {
    sum.iter_mut().zip(x).for_each(|(s, x)| *s += sign * f64::from(*x));
}

/// The nearest centre of each row.
fn nearest(table: Table<'_>, centres: &[f32]) -> Vec<u32> {
    let bias = halves(centres, table.m);
    let k = bias.len();
    let mut labels = vec![0; table.n()];
    labels.par_chunks_mut(PIECE).zip(table.x.par_chunks(PIECE * table.m)).for_each_init(
        Vec::new,
        |z: &mut Vec<f32>, (labels, x)| {
            z.resize(labels.len() * k, 0.0);
            product::logits_piece(x, centres, &bias, table.m, z);
            labels.iter_mut().zip(z.chunks_exact(k)).for_each(|(label, z)| *label = largest(z) as u32);
        },
    );
    labels
}

/// −‖c‖²/2 of each centre.
pub(crate) fn halves(centres: &[f32], m: usize) -> Vec<f32> {
    centres.chunks_exact(m).map(|c| -0.5 * vector::sum_squares(c)).collect()
}

/// Mean over the features of their variance, from a sum of squares around the mean row.
fn mean_variance(table: Table<'_>) -> f64 {
    let (n, m) = (table.n() as f64, table.m);
    let (mut sum, mut squares) = (vec![0.0; m], 0.0);
    for x in table.x.chunks_exact(m) {
        add(&mut sum, x, 1.0);
        squares += f64::from(vector::sum_squares(x));
    }
    let mean: f64 = sum.iter().map(|s| (s / n).powi(2)).sum();
    (squares / n - mean).max(0.0) / m as f64
}

/// `k` rows spread out by greedy k-means++: each is the best of a few candidates, which are drawn with probability
/// proportional to their squared distance from the rows chosen before.
pub fn plus_plus(table: Table<'_>, k: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let Table { x, m } = table;
    let n = table.n();
    let candidates = 2 + (k as f64).ln() as usize;
    let squares: Vec<f32> = x.par_chunks(m).map(vector::sum_squares).collect();
    let mut centres = Vec::with_capacity(k * m);
    let mut nearest = vec![f32::MAX; n];
    for chosen in 0..k {
        let tries: Vec<usize> = match chosen {
            0 => vec![rng.random_range(0..n)],
            _ => (0..candidates).map(|_| draw(&nearest, rng)).collect(),
        };
        let rows: Vec<f32> = tries.iter().flat_map(|&i| x[i * m..(i + 1) * m].iter().copied()).collect();
        let distances = distances(x, m, &squares, &rows);
        let (best, next) = best_candidate(&distances, &nearest, tries.len());
        nearest = next;
        centres.extend_from_slice(&rows[best * m..(best + 1) * m]);
    }
    centres
}

/// Squared distances `[n, t]` of all rows to `t` others.
fn distances(x: &[f32], m: usize, squares: &[f32], rows: &[f32]) -> Vec<f32> {
    let halves = halves(rows, m);
    let mut out = vec![0.0; squares.len() * halves.len()];
    product::logits(x, rows, &halves, m, &mut out);
    for (out, square) in out.chunks_exact_mut(halves.len()).zip(squares) {
        out.iter_mut().for_each(|v| *v = (square - 2.0 * *v).max(0.0));
    }
    out
}

/// The candidate that leaves the smallest sum of distances, and those distances.
fn best_candidate(distances: &[f32], nearest: &[f32], tries: usize) -> (usize, Vec<f32>) {
    let mut sums = vec![0.0f64; tries];
    for (row, near) in distances.chunks_exact(tries).zip(nearest) {
        sums.iter_mut().zip(row).for_each(|(sum, d)| *sum += f64::from(d.min(*near)));
    }
    let best = (0..tries).min_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or(0);
    let next = distances.chunks_exact(tries).zip(nearest).map(|(row, near)| row[best].min(*near)).collect();
    (best, next)
}

/// Draw an index with probability proportional to its entry; any index if all are zero.
fn draw(weights: &[f32], rng: &mut ChaCha8Rng) -> usize {
    let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let mut left = rng.random::<f64>() * total;
    for (i, &w) in weights.iter().enumerate() {
        left -= f64::from(w);
        if left < 0.0 && w > 0.0 {
            return i;
        }
    }
    rng.random_range(0..weights.len())
}

/// Mean squared distance of a centre to the nearest other one.
pub fn neighbour_distance(centres: &[f32], m: usize) -> f64 {
    let k = centres.len() / m;
    let centre = |c: usize| &centres[c * m..(c + 1) * m];
    let nearest = |c: usize| {
        let others = (0..k).filter(|&other| other != c);
        let distance = |other: usize| f64::from(vector::squared_distance(centre(c), centre(other)));
        others.map(distance).fold(f64::INFINITY, f64::min)
    };
    (0..k).map(nearest).sum::<f64>() / k as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};

    /// `k` tight groups at the corners of a long zigzag.
    fn groups(k: usize, each: usize) -> Vec<f32> {
        let mut rng = stream(2, Stream::Synthetic, 0);
        let corner = |g: usize| [10.0 * g as f32, if g.is_multiple_of(2) { 0.0 } else { 7.0 }];
        (0..k * each).flat_map(|i| corner(i % k).map(|c| c + rng.random::<f32>() - 0.5)).collect()
    }

    fn lloyd(x: &[f32], centres: Vec<f32>, max_iterations: usize) -> Lloyd {
        Descent { max_iterations, tolerance: 0.0, ..Descent::default() }.run(
            Table { x, m: 2 },
            centres,
            NEVER_STOP,
        )
    }

    #[test]
    fn greedy_seeds_land_in_every_separated_group() {
        let x = groups(20, 15);
        let seeds = plus_plus(Table { x: &x, m: 2 }, 20, &mut stream(0, Stream::Seeds, 0));
        let mut hit: Vec<i32> = seeds.chunks_exact(2).map(|s| (s[0] / 10.0).round() as i32).collect();
        hit.sort_unstable();
        assert_eq!(hit, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn lloyd_never_raises_the_inertia_and_stops_at_the_means() {
        let x = groups(5, 40);
        let start = x[..10].to_vec();
        let mut last = f64::INFINITY;
        for iterations in 0..8 {
            let inertia = lloyd(&x, start.clone(), iterations).inertia;
            assert!(inertia <= last * (1.0 + 1e-6), "{inertia} {last}");
            last = inertia;
        }
        let found = lloyd(&x, start, 100);
        assert_eq!(found.stop, StopReason::Converged);
        let labels = nearest(Table { x: &x, m: 2 }, &found.centres);
        for c in 0..5 {
            let own: Vec<&[f32]> =
                x.chunks(2).zip(&labels).filter(|(_, l)| **l == c).map(|(x, _)| x).collect();
            for j in 0..2 {
                let mean = own.iter().map(|x| x[j]).sum::<f32>() / own.len() as f32;
                assert!((mean - found.centres[c as usize * 2 + j]).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_centre_without_rows_moves_to_a_far_row() {
        let x = groups(3, 20);
        let found = lloyd(&x, vec![0.0, 0.0, 10.0, 7.0, -900.0, 0.0], 20);
        assert!(found.inertia < 60.0, "{}", found.inertia);
    }
}
