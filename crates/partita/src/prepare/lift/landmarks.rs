//! Rows that stand for all: the nearest of them to any row, by plain distances.

use super::cells::spread;
use crate::error::Result;
use crate::prepare::Preparation;
use crate::prepare::reduce::draw;
use crate::rows::{Rows, bits};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Rows `[n, m]` kept feature by feature, so that distances to all of them are found side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Landmarks {
    m: usize,
    /// `[m, n]`.
    columns: Vec<f32>,
}

impl Landmarks {
    /// These rows `[n, m]`.
    pub fn new(rows: &[f32], m: usize) -> Self {
        let n = rows.len() / m;
        Self { m, columns: (0..m).flat_map(|j| (0..n).map(move |i| rows[i * m + j])).collect() }
    }

    /// Different rows, prepared: `count` at most.
    pub fn sample(data: &dyn Rows, base: &Preparation, count: usize, seed: u64) -> Result<Self> {
        Ok(Self::new(&different_rows(data, base, count, seed)?, base.d()))
    }

    /// The same, each somewhere in the cell that its values stand for.
    pub fn in_cells(data: &dyn Rows, base: &Preparation, count: usize, seed: u64) -> Result<Self> {
        let mut rows = different_rows(data, base, count, seed)?;
        spread(&mut rows, base.d(), seed);
        Ok(Self::new(&rows, base.d()))
    }

    /// From the values feature by feature, `[m, n]`.
    pub fn from_columns(columns: Vec<f32>, m: usize) -> Self {
        Self { m, columns }
    }

    /// The values feature by feature, `[m, n]`.
    pub fn columns(&self) -> &[f32] {
        &self.columns
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.columns.len() / self.m.max(1)
    }

    /// Features of a row.
    pub fn m(&self) -> usize {
        self.m
    }

    /// One of the rows.
    pub fn row(&self, i: usize) -> Vec<f32> {
        self.columns.chunks_exact(self.n()).map(|column| column[i]).collect()
    }

    /// Squared distances of `x` to all rows.
    pub fn distances(&self, x: &[f32], out: &mut Vec<f32>) {
        out.clear();
        out.resize(self.n(), 0.0);
        for (column, &x) in self.columns.chunks_exact(self.n()).zip(x) {
            out.iter_mut().zip(column).for_each(|(d, &z)| *d += (x - z) * (x - z));
        }
    }

    /// The `count` nearest rows to `x` with their squared distances, the nearest first; of equals, the first.
    pub fn nearest(&self, x: &[f32], count: usize, distances: &mut Vec<f32>) -> Vec<(f32, u32)> {
        self.distances(x, distances);
        let mut all: Vec<(f32, u32)> = distances.iter().copied().zip(0..).collect();
        let count = count.min(all.len());
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if count < all.len() {
            all.select_nth_unstable_by(count, order);
            all.truncate(count);
        }
        all.sort_unstable_by(order);
        all
    }
}

/// Different rows, prepared, `[n, d]`: `count` at most.
fn different_rows(data: &dyn Rows, base: &Preparation, count: usize, seed: u64) -> Result<Vec<f32>> {
    let rows = draw(data.n(), count, seed, 4);
    let d = base.d();
    let mut prepared = vec![0.0; rows.len() * d];
    base.reader(data).gather(&rows, &mut prepared)?;
    let mut seen = HashSet::new();
    Ok(prepared.chunks_exact(d).filter(|row| seen.insert(bits(row))).flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    #[test]
    fn the_nearest_are_those_of_a_full_sort() {
        let (n, m) = (300, 3);
        let mut rng = stream(1, Stream::Synthetic, 0);
        let rows: Vec<f32> = (0..n * m).map(|_| rng.random::<f32>()).collect();
        let landmarks = Landmarks::new(&rows, m);
        for x in rows.chunks_exact(m).step_by(17) {
            let mut all: Vec<f32> =
                rows.chunks_exact(m).map(|z| z.iter().zip(x).map(|(z, x)| (x - z) * (x - z)).sum()).collect();
            all.sort_by(f32::total_cmp);
            let found = landmarks.nearest(x, 9, &mut Vec::new());
            found.iter().zip(&all).for_each(|(found, d)| assert_eq!(found.0, *d));
            assert_eq!(landmarks.row(found[0].1 as usize), x);
        }
        assert_eq!(landmarks.nearest(&rows[..m], 1000, &mut Vec::new()).len(), n);
    }
}
