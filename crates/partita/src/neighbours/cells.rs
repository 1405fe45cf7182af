//! Nearest neighbours among very many rows, nearly all of them the true ones.
//!
//! K-means parts the rows into cells of about √N rows, and the neighbours of a row are looked for in the cells around its own. All rows of a
//! cell look through the same rows, so that this is blocks of products again, and the same ones for any number of threads.

use super::Best;
use crate::centres::{Descent, NEVER_STOP, Table, unit_rows};
use crate::numeric::product;
use crate::rng::{Stream, stream};
use rand::seq::index;
use rayon::prelude::*;

/// Cells that are looked through for each row, its own among them.
const CELLS: usize = 24;
/// Rows for each cell from which the cells are found, ...
const ROWS_OF_CELL: usize = 32;
/// ... by so many of Lloyd's iterations.
const ITERATIONS: usize = 6;
/// Number of the random stream, apart from those of starts.
const STREAM: u64 = 1 << 32;
/// Rows that are looked through at a time: the products stay in cache.
const TILE: usize = 1024;
/// Rows of a cell that one thread compares at a time.
const QUERIES: usize = 128;

/// As [`super::nearest`], but for a few neighbours that lie in cells farther away.
///
/// ```
/// use partita::neighbours::cells::nearest;
/// use partita::rivals::Table;
/// let x = [1.0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.2, 0.8];
/// assert_eq!(nearest(Table { x: &x, m: 2 }, 1, 0), [1, 0, 3, 2]);
/// ```
pub fn nearest(table: Table<'_>, count: usize, seed: u64) -> Vec<u32> {
    let unit = unit_rows(table);
    let cells = Cells::of(Table { x: &unit, m: table.m }, seed);
    let mut found = vec![0; table.n() * count];
    let pieces: Vec<(usize, &[u32])> = cells
        .members
        .iter()
        .enumerate()
        .flat_map(|(cell, members)| members.chunks(QUERIES).map(move |rows| (cell, rows)))
        .collect();
    let answers: Vec<Vec<u32>> =
        pieces.par_iter().map(|&(cell, rows)| cells.search(&unit, table.m, cell, rows, count)).collect();
    for ((_, rows), answers) in pieces.into_iter().zip(answers) {
        for (&row, answer) in rows.iter().zip(answers.chunks_exact(count)) {
            found[row as usize * count..][..count].copy_from_slice(answer);
        }
    }
    found
}

/// Rows by cells, and the cells around each cell, the nearest first.
struct Cells {
    members: Vec<Vec<u32>>,
    around: Vec<Vec<u32>>,
}

impl Cells {
    fn of(table: Table<'_>, seed: u64) -> Self {
        let (n, m) = (table.n(), table.m);
        let k = (n as f64).sqrt() as usize;
        let mut rng = stream(seed, Stream::Sample, STREAM);
        let rows = index::sample(&mut rng, n, n.min(ROWS_OF_CELL * k));
        let sample: Vec<f32> = rows.iter().flat_map(|i| &table.x[i * m..(i + 1) * m]).copied().collect();
        let sample = Table { x: &sample, m };
        // Many seeds are as good as spread ones, and drawn at once.
        let seeds = index::sample(&mut rng, sample.n(), k);
        let seeds = seeds.iter().flat_map(|i| &sample.x[i * m..(i + 1) * m]).copied().collect();
        let few = Descent { max_iterations: ITERATIONS, tolerance: 0.0, spherical: true };
        let centres = few.run(sample, seeds, NEVER_STOP).centres;
        let all = Descent { max_iterations: 0, ..few }.run(table, centres, NEVER_STOP);
        let mut members = vec![Vec::new(); k];
        all.labels.iter().enumerate().for_each(|(row, &cell)| members[cell as usize].push(row as u32));
        let centres = Table { x: &all.centres, m };
        let near = super::nearest(centres, k - 1, |_| true).expect("nobody stops the search");
        let around = (0..k).map(|c| {
            let others = near[c * (k - 1)..(c + 1) * (k - 1)].iter().copied();
            std::iter::once(c as u32).chain(others).collect()
        });
        Self { around: around.collect(), members }
    }

    /// Neighbours of these rows of a cell.
    fn search(&self, unit: &[f32], m: usize, cell: usize, rows: &[u32], count: usize) -> Vec<u32> {
        let row = |i: u32| &unit[i as usize * m..][..m];
        let queries: Vec<f32> = rows.iter().flat_map(|&i| row(i)).copied().collect();
        let mut best: Vec<Best> = rows.iter().map(|_| Best::new(count)).collect();
        let candidates = self.candidates(cell, count);
        let (mut tile, mut products) = (Vec::new(), Vec::new());
        for ids in candidates.chunks(TILE) {
            tile.clear();
            ids.iter().for_each(|&i| tile.extend_from_slice(row(i)));
            products.resize(rows.len() * ids.len(), 0.0);
            product::product(&queries, &tile, m, &mut products);
            for ((best, products), &own) in best.iter_mut().zip(products.chunks_exact(ids.len())).zip(rows) {
                best.scan(products, ids.iter().copied(), own);
            }
        }
        let mut out = vec![0; rows.len() * count];
        best.into_iter().zip(out.chunks_exact_mut(count)).for_each(|(best, out)| best.finish(out));
        out
    }

    /// The rows of the cells around a cell: of so many cells, and of more until there are enough rows.
    fn candidates(&self, cell: usize, count: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for (seen, &c) in self.around[cell].iter().enumerate() {
            if seen >= CELLS && found.len() > count {
                break;
            }
            found.extend_from_slice(&self.members[c as usize]);
        }
        // In the order of rows, so that of equals the first are kept.
        found.sort_unstable();
        found
    }
}
