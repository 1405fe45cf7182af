//! Nearest neighbours by angle: blocks of products of rows, and a selection that keeps few of them.
//!
//! Exact ones compare all rows with all. Beyond [`EXACT`] rows they are looked for in cells: see [`cells`].

pub mod cells;

use crate::centres::{Table, unit_rows};
use crate::numeric::product;
use crate::simplex::xlnx;
use rayon::prelude::*;

/// Rows among which neighbours are exact; beyond, the time would grow with the square of their number.
pub const EXACT: usize = 50_000;

/// Rows whose neighbours one thread looks for at a time.
const QUERIES: usize = 128;
/// Rows they are compared with at a time: the products stay in cache.
const TILE: usize = 1024;
/// Queries between two reports of progress.
const GROUP: usize = 16 * QUERIES;

/// The `count` rows of the largest cosine with each row, itself excepted, `[n, count]`, the nearest first; of equals, the
/// first. `go_on` hears the share that is done, and gives none of the neighbours if it answers no.
///
/// `count` must be below the number of rows.
///
/// ```
/// use partita::neighbours::nearest;
/// use partita::rivals::Table;
/// let x = [1.0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.2, 0.8];
/// assert_eq!(nearest(Table { x: &x, m: 2 }, 1, |_| true).unwrap(), [1, 0, 3, 2]);
/// ```
pub fn nearest(table: Table<'_>, count: usize, mut go_on: impl FnMut(f64) -> bool) -> Option<Vec<u32>> {
    let (n, m) = (table.n(), table.m);
    let unit = unit_rows(table);
    let mut found = vec![0; n * count];
    for (g, group) in found.chunks_mut(GROUP * count).enumerate() {
        if !go_on((g * GROUP) as f64 / n as f64) {
            return None;
        }
        group.par_chunks_mut(QUERIES * count).enumerate().for_each(|(q, out)| {
            search(&unit, m, g * GROUP + q * QUERIES, count, out);
        });
    }
    Some(found)
}

/// Each row averaged with its `count` nearest neighbours by angle, which are exact up to [`EXACT`] rows. `seed` decides where cells lie.
///
/// ```
/// use partita::neighbours::averaged;
/// use partita::rivals::Table;
/// let x = [1.0, 0.0, 0.8, 0.2, 0.0, 1.0, 0.0, 3.0];
/// assert_eq!(averaged(Table { x: &x, m: 2 }, 1, 0)[4..], [0.0, 2.0, 0.0, 2.0]);
/// ```
pub fn averaged(table: Table<'_>, count: usize, seed: u64) -> Vec<f32> {
    let near = if table.n() > EXACT {
        cells::nearest(table, count, seed)
    } else {
        nearest(table, count, |_| true).expect("nobody stops the search")
    };
    let (m, share) = (table.m, 1.0 / (count + 1) as f32);
    let mut out = table.x.to_vec();
    out.par_chunks_mut(m).zip(near.par_chunks(count)).for_each(|(row, near)| {
        for &j in near {
            row.iter_mut().zip(&table.x[j as usize * m..][..m]).for_each(|(a, b)| *a += b);
        }
        row.iter_mut().for_each(|a| *a *= share);
    });
    out
}

/// How well the labels of neighbours `[n, count]` tell each other: their mutual information over their entropy, 1 if all neighbours agree and 0 if
/// they agree by chance. Clusters of any sizes are comparable by it, and those that cut through a crowd are worse.
///
/// ```
/// use partita::neighbours::agreement;
/// let near = [1, 0, 3, 2];
/// assert_eq!(agreement(&[0, 0, 1, 1], &near, 2), 1.0);
/// assert!(agreement(&[0, 1, 0, 1], &[1, 2, 3, 0], 2) > 0.9); // the opposite is told as well
/// assert!(agreement(&[0, 1, 1, 0], &[1, 2, 3, 0], 2) < 1e-9);
/// ```
pub fn agreement(labels: &[u32], near: &[u32], k: usize) -> f64 {
    let count = near.len() / labels.len();
    let mut joint = vec![0.0; k * k];
    let each = 0.5 / near.len() as f64;
    for (&own, near) in labels.iter().zip(near.chunks_exact(count)) {
        for &other in near {
            let (a, b) = (own as usize, labels[other as usize] as usize);
            joint[a * k + b] += each;
            joint[b * k + a] += each;
        }
    }
    let share: Vec<f64> = joint.chunks_exact(k).map(|row| row.iter().sum()).collect();
    let entropy = |p: &[f64]| -> f64 { -p.iter().map(|&p| xlnx(p)).sum::<f64>() };
    let alone = entropy(&share);
    if alone > 0.0 { (2.0 * alone - entropy(&joint)) / alone } else { 0.0 }
}

/// Neighbours of the rows from `first` on, as many as `out` has room for.
fn search(unit: &[f32], m: usize, first: usize, count: usize, out: &mut [u32]) {
    let rows = out.len() / count;
    let queries = &unit[first * m..(first + rows) * m];
    let mut best: Vec<Best> = (0..rows).map(|_| Best::new(count)).collect();
    let mut products = vec![0.0; rows * TILE];
    for (t, tile) in unit.chunks(TILE * m).enumerate() {
        let width = tile.len() / m;
        let products = &mut products[..rows * width];
        product::product(queries, tile, m, products);
        for (q, (best, row)) in best.iter_mut().zip(products.chunks_exact(width)).enumerate() {
            best.scan(row, (t * TILE) as u32.., (first + q) as u32);
        }
    }
    for (best, out) in best.into_iter().zip(out.chunks_exact_mut(count)) {
        best.finish(out);
    }
}

/// The largest products so far: kept unsorted up to twice as many as needed, then cut back.
struct Best {
    count: usize,
    kept: Vec<(f32, u32)>,
    /// What a product must exceed to matter.
    floor: f32,
}

impl Best {
    fn new(count: usize) -> Self {
        Self { count, kept: Vec::with_capacity(2 * count), floor: f32::NEG_INFINITY }
    }

    /// See the products with rows of these numbers, in rising order; `own` is the row itself. Later rows lose to equal earlier ones.
    #[inline]
    fn scan(&mut self, products: &[f32], ids: impl Iterator<Item = u32>, own: u32) {
        for (&p, id) in products.iter().zip(ids) {
            if p > self.floor && id != own {
                self.kept.push((p, id));
                if self.kept.len() == 2 * self.count {
                    self.cut();
                }
            }
        }
    }

    fn cut(&mut self) {
        self.kept.select_nth_unstable_by(self.count - 1, larger_first);
        self.kept.truncate(self.count);
        self.floor = self.kept[self.count - 1].0;
    }

    fn finish(mut self, out: &mut [u32]) {
        self.kept.sort_unstable_by(larger_first);
        out.iter_mut().zip(&self.kept).for_each(|(out, kept)| *out = kept.1);
    }
}

fn larger_first(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    #[test]
    fn neighbours_are_those_of_a_full_sort() {
        let (n, m, count) = (2600, 9, 7);
        let mut rng = stream(1, Stream::Synthetic, 0);
        let mut x: Vec<f32> = (0..n * m).map(|_| rng.random::<f32>() - 0.5).collect();
        x.copy_within(0..m, 5 * m); // a row given twice
        let found = nearest(Table { x: &x, m }, count, |_| true).unwrap();
        let cosine = |i: usize, j: usize| -> f64 {
            let (a, b) = (&x[i * m..i * m + m], &x[j * m..j * m + m]);
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        for i in (0..n).step_by(37) {
            let mut all: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| cosine(i, j)).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            for (rank, &j) in found[i * count..(i + 1) * count].iter().enumerate() {
                assert_ne!(j as usize, i);
                assert!((cosine(i, j as usize) - all[rank]).abs() < 1e-6, "row {i}, rank {rank}");
            }
        }
        assert_eq!((found[0], found[5 * count]), (5, 0));
    }

    #[test]
    fn of_equal_rows_the_first_are_kept() {
        let x = [1.0f32; 40];
        let found = nearest(Table { x: &x, m: 2 }, 2, |_| true).unwrap();
        assert_eq!(found[..6], [1, 2, 0, 2, 0, 1]);
        assert_eq!(found[38..], [0, 1]);
    }

    #[test]
    fn cells_find_nearly_all_neighbours_the_same_on_any_threads() {
        let (n, m, count) = (6000, 12, 15);
        let mut rng = stream(3, Stream::Synthetic, 0);
        let centres: Vec<f32> = (0..40 * m).map(|_| 3.0 * rng.random::<f32>() - 1.5).collect();
        let x: Vec<f32> = (0..n * m).map(|i| rng.random::<f32>() - 0.5 + centres[i % (40 * m)]).collect();
        let table = Table { x: &x, m };
        let exact = nearest(table, count, |_| true).unwrap();
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool(1).install(|| cells::nearest(table, count, 0));
        assert!(pool(3).install(|| cells::nearest(table, count, 0)) == found);
        let hits = exact.chunks(count).zip(found.chunks(count));
        let hits: usize = hits.map(|(a, b)| a.iter().filter(|i| b.contains(i)).count()).sum();
        assert!(hits as f64 > 0.95 * (n * count) as f64, "{hits} of {}", n * count);
    }

    #[test]
    fn a_search_that_is_stopped_gives_nothing() {
        assert!(nearest(Table { x: &[1.0, 2.0, 3.0], m: 1 }, 1, |_| false).is_none());
    }
}
