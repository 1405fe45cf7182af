//! The nearest of several centres, and distances to all of them.

use super::rows::{BLOCK, Block, Plain};
use crate::error::Result;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Centres, ready to be compared with rows.
pub(super) struct Centres<'a> {
    /// Row-major `[k, m]`.
    pub rows: &'a [f64],
    pub m: usize,
    /// ‖c‖² of each.
    pub squares: Vec<f64>,
    /// The same by features, `[m, k]`, which sparse rows read.
    by_feature: Vec<f64>,
}

impl<'a> Centres<'a> {
    pub fn new(rows: &'a [f64], m: usize, sparse: bool) -> Self {
        let k = rows.len() / m;
        let squares = rows.chunks_exact(m).map(|c| c.iter().map(|v| v * v).sum()).collect();
        let by_feature =
            if sparse { (0..m * k).map(|at| rows[at % k * m + at / k]).collect() } else { Vec::new() };
        Self { rows, m, squares, by_feature }
    }

    pub fn k(&self) -> usize {
        self.squares.len()
    }

    pub fn centre(&self, c: usize) -> &[f64] {
        &self.rows[c * self.m..(c + 1) * self.m]
    }

    /// x·c − ‖c‖²/2 of all rows of a block and all centres, `[rows, k]`: the nearest centre has the largest.
    pub fn closeness(&self, block: &Block<'_>, out: &mut Vec<f64>) {
        let k = self.k();
        out.clear();
        out.resize(block.len() * k, 0.0);
        match block {
            Block::Dense { x, m } => matmul(
                MatMut::from_row_major_slice_mut(out, x.len() / m, k),
                Accum::Replace,
                MatRef::from_row_major_slice(x, x.len() / m, *m),
                MatRef::from_row_major_slice(self.rows, k, *m).transpose(),
                1.0,
                Par::Seq,
            ),
            Block::Sparse { .. } => {
                for (i, out) in out.chunks_exact_mut(k).enumerate() {
                    for (j, v) in block.entries(i) {
                        let parts = &self.by_feature[j * k..(j + 1) * k];
                        out.iter_mut().zip(parts).for_each(|(out, c)| *out += v * c);
                    }
                }
            }
        }
        for row in out.chunks_exact_mut(k) {
            row.iter_mut().zip(&self.squares).for_each(|(out, square)| *out -= 0.5 * square);
        }
    }
}

/// The first of the largest.
pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

fn is_sparse(plain: &Plain<'_>) -> bool {
    matches!(plain, Plain::Sparse { .. })
}

/// The nearest centre of each row, and the sum of weight × squared distance to it. `centres` are of the rows before any shift, `[k, m]`.
///
/// # Errors
/// If a value is not finite, or reading was stopped.
pub fn nearest(plain: &Plain<'_>, centres: &[f64], weights: Option<&[f64]>) -> Result<(Vec<u32>, f64)> {
    let plain = &plain.around(centres);
    let moved = shifted(plain, centres);
    let centres = Centres::new(&moved, plain.m(), is_sparse(plain));
    let found = plain.each_block(|block, start| {
        let mut close = Vec::new();
        centres.closeness(&block, &mut close);
        let labels: Vec<u32> = close.chunks_exact(centres.k()).map(|row| largest(row) as u32).collect();
        let weight = |i: usize| weights.map_or(1.0, |w| w[start + i]);
        let apart = |(i, c): (usize, &u32)| {
            let c = *c as usize;
            weight(i) * block.distance(i, centres.centre(c), centres.squares[c])
        };
        let inertia: f64 = labels.iter().enumerate().map(apart).sum();
        (labels, inertia)
    })?;
    let inertia = found.iter().map(|(_, inertia)| inertia).sum();
    Ok((found.into_iter().flat_map(|(labels, _)| labels).collect(), inertia))
}

/// Euclidean distances of all rows to all centres, `[n, k]`, converted by `convert` as they are written.
///
/// # Errors
/// If a value is not finite, or reading was stopped.
pub fn distances<T: Send + Copy + Default>(
    plain: &Plain<'_>,
    centres: &[f64],
    convert: impl Fn(f64) -> T + Sync,
) -> Result<Vec<T>> {
    let plain = &plain.around(centres);
    let moved = shifted(plain, centres);
    let centres = Centres::new(&moved, plain.m(), is_sparse(plain));
    let (n, k) = (plain.n(), centres.k());
    let mut out = vec![T::default(); n * k];
    out.par_chunks_mut(BLOCK * k).enumerate().try_for_each_init(Vec::new, |buffer, (b, out)| {
        let block = plain.block(b * BLOCK..((b + 1) * BLOCK).min(n), buffer)?;
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            for (c, out) in out.iter_mut().enumerate() {
                *out = convert(block.distance(i, centres.centre(c), centres.squares[c]).sqrt());
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Centres moved as the rows are.
pub(super) fn shifted(plain: &Plain<'_>, centres: &[f64]) -> Vec<f64> {
    let shift = plain.shift();
    centres.chunks_exact(shift.len()).flat_map(|c| c.iter().zip(&shift).map(|(c, s)| c - s)).collect()
}
