//! Rows eight abreast: the solvers' loops run over lanes of eight rows, so they vectorise at any K without
//! remainders or horizontal sums.

use crate::objective::Batch;

/// Rows side by side.
pub(super) const WIDTH: usize = 8;

/// One number for each of the eight rows.
pub(super) type Lane = [f64; WIDTH];

/// Run `work` compiled for the widest vectors this machine has.
#[inline(always)]
pub(super) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The rows without a known label, eight to a block; the last block is filled with rows of no weight.
#[derive(Debug, Clone, Default)]
pub(super) struct Packed {
    /// Number of clusters.
    pub k: usize,
    /// A function of ln σ, shape `[blocks, k]`.
    pub cells: Vec<Lane>,
    /// w_i/Σw, shape `[blocks]`.
    pub share: Vec<Lane>,
    /// What the known rows add to ȳ, shape `[k]`.
    pub fixed: Vec<f64>,
}

impl Packed {
    /// Pack `cell(ln σ)` of every unknown row.
    pub fn pack(&mut self, batch: Batch<'_>, cell: impl Fn(f64) -> f64) {
        self.k = batch.k;
        self.cells.clear();
        self.share.clear();
        self.fixed.clear();
        self.fixed.resize(batch.k, 0.0);
        let mut lane = WIDTH;
        for row in batch.rows() {
            if let Some(label) = row.known {
                self.fixed[label] += row.share;
                continue;
            }
            if lane == WIDTH {
                lane = 0;
                self.share.push([0.0; WIDTH]);
                // The block starts as eight copies of its first row, which no later code can trip over.
                self.cells.extend(row.log_sigma.iter().map(|l| [cell(*l); WIDTH]));
            } else {
                let block = self.cells.len() - batch.k;
                for (cells, l) in self.cells[block..].iter_mut().zip(row.log_sigma) {
                    cells[lane] = cell(*l);
                }
            }
            if let Some(share) = self.share.last_mut() {
                share[lane] = row.share;
            }
            lane += 1;
        }
    }

    /// Σ share · `cells` plus the known rows' part: the mean over all rows, into `mean`.
    pub fn mean(&self, cells: &[Lane], mean: &mut Vec<f64>) {
        mean.clear();
        mean.extend_from_slice(&self.fixed);
        for (block, share) in cells.chunks_exact(self.k).zip(&self.share) {
            for (m, cell) in mean.iter_mut().zip(block) {
                *m += dot(cell, share);
            }
        }
    }

    /// Undo the packing of `labels` into `y`, shape `[n, k]`; known rows become their one-hot.
    pub fn unpack(labels: &[Lane], batch: Batch<'_>, y: &mut [f64]) {
        let mut next = 0;
        for (row, y) in batch.rows().zip(y.chunks_exact_mut(batch.k)) {
            if let Some(label) = row.known {
                y.fill(0.0);
                y[label] = 1.0;
                continue;
            }
            let (block, lane) = (next / WIDTH * batch.k, next % WIDTH);
            for (y, cell) in y.iter_mut().zip(&labels[block..block + batch.k]) {
                *y = cell[lane];
            }
            next += 1;
        }
    }
}

/// Σ over the eight rows of a·b.
#[inline(always)]
pub(super) fn dot(a: &Lane, b: &Lane) -> f64 {
    let mut products = [0.0; WIDTH];
    for r in 0..WIDTH {
        products[r] = a[r] * b[r];
    }
    products.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::testing::sample;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn unpacking_undoes_packing(s in sample()) {
            let l = s.log_sigma();
            let mut packed = Packed::default();
            packed.pack(s.batch(&l), |l| l);
            let mut out = vec![f64::NAN; l.len()];
            Packed::unpack(&packed.cells, s.batch(&l), &mut out);
            for ((row, out), known) in l.chunks(s.k).zip(out.chunks(s.k)).zip(&s.known) {
                match usize::try_from(*known) {
                    Ok(label) => prop_assert!(out[label] == 1.0 && out.iter().sum::<f64>() == 1.0),
                    Err(_) => prop_assert_eq!(row, out),
                }
            }
            let shares: f64 = packed.share.iter().flatten().chain(&packed.fixed).sum();
            prop_assert!((shares - 1.0).abs() < 1e-12);
        }
    }
}
