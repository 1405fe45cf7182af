//! K-means: k-means++ seeds and Lloyd's iterations, by matrix products.

use crate::linear::kernel;
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

/// `k` rows spread out by k-means++: each is drawn with probability proportional to its squared distance from those drawn before.
pub fn plus_plus(x: &[f32], m: usize, k: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let n = x.len() / m;
    let mut centres = Vec::with_capacity(k * m);
    let mut nearest = vec![f32::INFINITY; n];
    let mut next = rng.random_range(0..n);
    for _ in 0..k {
        let centre = &x[next * m..(next + 1) * m];
        centres.extend_from_slice(centre);
        nearest
            .par_chunks_mut(PIECE)
            .zip(x.par_chunks(PIECE * m))
            .for_each(|(nearest, x)| crate::linear::vector::dispatch(#[inline(always)] || update_nearest(nearest, x, centre)));
        next = draw(&nearest, rng);
    }
    centres
}

#[inline(always)]
fn update_nearest(nearest: &mut [f32], x: &[f32], centre: &[f32]) {
    for (nearest, x) in nearest.iter_mut().zip(x.chunks_exact(centre.len())) {
        let mut lanes = [0.0f32; 16];
        let (whole, rest) = (x.chunks_exact(16), x.chunks_exact(16).remainder());
        for (x, c) in whole.zip(centre.chunks_exact(16)) {
            for j in 0..16 {
                lanes[j] += (x[j] - c[j]) * (x[j] - c[j]);
            }
        }
        let tail = centre.len() - rest.len();
        for (j, x) in rest.iter().enumerate() {
            lanes[j] += (x - centre[tail + j]) * (x - centre[tail + j]);
        }
        *nearest = nearest.min(crate::linear::vector::sum(&lanes));
    }
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
    let bias: Vec<f32> = centres.chunks_exact(m).map(|c| -0.5 * crate::linear::vector::sum_squares(c)).collect();
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
                    let square = crate::linear::vector::sum_squares(x) - 2.0 * z[best];
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
