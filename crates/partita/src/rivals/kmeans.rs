//! K-means: k-means++ seeds and Lloyd's iterations, by matrix products.

use crate::linear::{kernel, vector};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Rows assigned by one thread at a time.
const PIECE: usize = 256;

/// Centres and how well they fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Centres {
    /// Centres, row-major `[k, m]`.
    pub centres: Vec<f32>,
    /// Sum of the squared distances to the nearest centre.
    pub inertia: f64,
    /// Lloyd's iterations made.
    pub iterations: usize,
}

/// `k` rows spread out by greedy k-means++: each is the best of a few candidates, which are drawn with probability
/// proportional to their squared distance from the rows chosen before.
pub fn plus_plus(x: &[f32], m: usize, k: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let n = x.len() / m;
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
    let halves: Vec<f32> = rows.chunks_exact(m).map(|r| -0.5 * vector::sum_squares(r)).collect();
    let mut out = vec![0.0; squares.len() * halves.len()];
    kernel::logits(x, rows, &halves, m, &mut out);
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

/// At most `iterations` of Lloyd's from these centres; stops when no row moves. A centre that loses all rows moves to
/// the row that is farthest from its own.
pub fn lloyd(x: &[f32], m: usize, mut centres: Vec<f32>, iterations: usize) -> Centres {
    let k = centres.len() / m;
    let (mut labels, mut inertia) = assign(x, m, &centres);
    for done in 0..iterations {
        move_centres(x, m, &labels, k, &mut centres);
        let (next, next_inertia) = assign(x, m, &centres);
        inertia = next_inertia;
        if next == labels {
            return Centres { centres, inertia, iterations: done + 1 };
        }
        labels = next;
    }
    Centres { centres, inertia, iterations }
}

/// The nearest centre of each row and the inertia: ‖x−c‖² is smallest where x·c − ‖c‖²/2 is largest.
fn assign(x: &[f32], m: usize, centres: &[f32]) -> (Vec<u32>, f64) {
    let bias: Vec<f32> = centres.chunks_exact(m).map(|c| -0.5 * vector::sum_squares(c)).collect();
    let k = bias.len();
    let parts: Vec<(Vec<u32>, f64)> = x
        .par_chunks(PIECE * m)
        .map_init(Vec::new, |z: &mut Vec<f32>, x| {
            z.resize(x.len() / m * k, 0.0);
            kernel::logits_piece(x, centres, &bias, m, z);
            let mut inertia = 0.0;
            let labels = z
                .chunks_exact(k)
                .zip(x.chunks_exact(m))
                .map(|(z, x)| {
                    let best = (1..k).fold(0, |best, c| if z[c] > z[best] { c } else { best });
                    let square = vector::sum_squares(x) - 2.0 * z[best];
                    inertia += f64::from(square.max(0.0));
                    best as u32
                })
                .collect();
            (labels, inertia)
        })
        .collect();
    let inertia = parts.iter().map(|p| p.1).sum();
    (parts.into_iter().flat_map(|p| p.0).collect(), inertia)
}

fn move_centres(x: &[f32], m: usize, labels: &[u32], k: usize, centres: &mut [f32]) {
    let mut sums = vec![0.0f64; k * m];
    let mut counts = vec![0usize; k];
    for (x, &label) in x.chunks_exact(m).zip(labels) {
        let label = label as usize;
        counts[label] += 1;
        sums[label * m..(label + 1) * m].iter_mut().zip(x).for_each(|(s, x)| *s += f64::from(*x));
    }
    for (c, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let scale = 1.0 / count as f64;
        for (centre, sum) in centres[c * m..(c + 1) * m].iter_mut().zip(&sums[c * m..]) {
            *centre = (sum * scale) as f32;
        }
    }
    let empty: Vec<usize> = (0..k).filter(|&c| counts[c] == 0).collect();
    for (&c, far) in empty.iter().zip(farthest(x, m, labels, centres, empty.len())) {
        centres[c * m..(c + 1) * m].copy_from_slice(&x[far * m..(far + 1) * m]);
    }
}

/// The `count` rows farthest from their centres.
fn farthest(x: &[f32], m: usize, labels: &[u32], centres: &[f32], count: usize) -> Vec<usize> {
    if count == 0 {
        return Vec::new();
    }
    let distance = |i: usize| -> f32 {
        let centre = &centres[labels[i] as usize * m..];
        x[i * m..(i + 1) * m].iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum()
    };
    let mut rows: Vec<(f32, usize)> = (0..labels.len()).map(|i| (distance(i), i)).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    rows.into_iter().take(count).map(|(_, i)| i).collect()
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

    #[test]
    fn greedy_seeds_land_in_every_separated_group() {
        let x = groups(20, 15);
        let seeds = plus_plus(&x, 2, 20, &mut stream(0, Stream::Seeds, 0));
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
            let inertia = lloyd(&x, 2, start.clone(), iterations).inertia;
            assert!(inertia <= last * (1.0 + 1e-6), "{inertia} {last}");
            last = inertia;
        }
        let found = lloyd(&x, 2, start, 100);
        assert!(found.iterations < 100);
        let (labels, inertia) = assign(&x, 2, &found.centres);
        let plain: f64 = x
            .chunks_exact(2)
            .zip(&labels)
            .map(|(x, &l)| {
                let c = &found.centres[l as usize * 2..];
                f64::from((x[0] - c[0]).powi(2) + (x[1] - c[1]).powi(2))
            })
            .sum();
        assert!((plain - inertia).abs() < 1e-2 * plain.max(1.0), "{plain} {inertia}");
    }

    #[test]
    fn a_centre_without_rows_moves_to_a_far_row() {
        let x = groups(3, 20);
        let found = lloyd(&x, 2, vec![0.0, 0.0, 10.0, 7.0, -900.0, 0.0], 20);
        assert!(found.inertia < 60.0, "{}", found.inertia);
    }
}
