//! The K×K systems of the Newton solvers: a weighted graph's Laplacian plus a positive diagonal.
//!
//! Both Hessians are Σ_i c_i [diag(v_i) s_i − v_i v_iᵀ] + diag, whose rows sum to the diagonal alone. Only the
//! off-diagonal products are accumulated and the diagonal is their sum, which subtracts nothing: computed as
//! written, a row whose v is concentrated in one cluster would cancel to noise.

use super::lanes::{Lane, WIDTH, lane};

/// Rows of the matrix that are updated together, as many as registers hold.
const TILE: usize = 4;

/// A symmetric matrix of order K stored as its upper triangle, rows padded to whole lanes
/// and their number to whole tiles.
#[derive(Debug, Clone, Default)]
pub(super) struct Matrix {
    k: usize,
    cells: Vec<Lane>,
    diagonal: Vec<f64>,
}

/// Lanes needed for `k` numbers.
pub(super) fn lanes(k: usize) -> usize {
    k.div_ceil(WIDTH)
}

impl Matrix {
    /// Start from zero.
    pub fn clear(&mut self, k: usize) {
        self.k = k;
        self.cells.clear();
        self.cells.resize(k.next_multiple_of(TILE) * lanes(k), [0.0; WIDTH]);
    }

    /// Add Σ v vᵀ (above the diagonal) over `rows`, a whole number of blocks of eight rows of padded v.
    #[inline(always)]
    pub fn add_products(&mut self, rows: &[Lane]) {
        let stride = lanes(self.k);
        for block in rows.chunks_exact(WIDTH * stride) {
            let rows: [&[Lane]; WIDTH] = std::array::from_fn(|r| &block[r * stride..(r + 1) * stride]);
            for (tile, cells) in self.cells.chunks_exact_mut(TILE * stride).enumerate() {
                let coefficients: [Lane; TILE] = std::array::from_fn(|t| {
                    let k = tile * TILE + t;
                    lane(|r| rows[r][k / WIDTH][k % WIDTH])
                });
                for j in tile * TILE / WIDTH..stride {
                    let mut sums: [Lane; TILE] = std::array::from_fn(|t| cells[t * stride + j]);
                    for r in 0..WIDTH {
                        let row = rows[r][j];
                        sums = std::array::from_fn(|t| lane(|l| sums[t][l] + coefficients[t][r] * row[l]));
                    }
                    (0..TILE).for_each(|t| cells[t * stride + j] = sums[t]);
                }
            }
        }
    }

    #[inline(always)]
    fn get(&self, k: usize, l: usize) -> f64 {
        self.cells[k * lanes(self.k) + l / WIDTH][l % WIDTH]
    }

    #[inline(always)]
    fn set(&mut self, k: usize, l: usize, value: f64) {
        let stride = lanes(self.k);
        self.cells[k * stride + l / WIDTH][l % WIDTH] = value;
    }

    /// Turn the products w_kl into the Laplacian (−w_kl off, Σ_l w_kl on the diagonal) plus `extra` on the diagonal.
    #[inline(always)]
    pub fn laplacian(&mut self, extra: &[f64]) {
        self.diagonal.clear();
        self.diagonal.extend_from_slice(extra);
        for k in 0..self.k {
            for l in k + 1..self.k {
                let w = self.get(k, l);
                self.diagonal[k] += w;
                self.diagonal[l] += w;
                self.set(k, l, -w);
            }
        }
        for k in 0..self.k {
            self.set(k, k, self.diagonal[k]);
        }
    }

    /// Factor in place: A = UᵀU.
    #[inline(always)]
    pub fn factor(&mut self) {
        let stride = lanes(self.k);
        for k in 0..self.k {
            // A pivot that rounding ate is given back its rounding error, so that the step stays finite.
            let pivot = self.get(k, k).max(self.diagonal[k] * f64::EPSILON).sqrt();
            let (above, below) = self.cells.split_at_mut((k + 1) * stride);
            let row = &mut above[k * stride..];
            row[k / WIDTH][k % WIDTH] = pivot * pivot;
            row[k / WIDTH..].iter_mut().flatten().for_each(|v| *v /= pivot);
            for (i, other) in (k + 1..self.k).zip(below.chunks_exact_mut(stride)) {
                let coefficient = row[i / WIDTH][i % WIDTH];
                for j in i / WIDTH..stride {
                    let (cell, row) = (other[j], row[j]);
                    other[j] = lane(|l| cell[l] - coefficient * row[l]);
                }
            }
        }
    }

    /// Solve A x = b in place after [`Self::factor`].
    pub fn solve(&self, x: &mut [f64]) {
        for k in 0..self.k {
            x[k] /= self.get(k, k);
            for l in k + 1..self.k {
                x[l] -= self.get(k, l) * x[k];
            }
        }
        for k in (0..self.k).rev() {
            let rest: f64 = (k + 1..self.k).map(|l| self.get(k, l) * x[l]).sum();
            x[k] = (x[k] - rest) / self.get(k, k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_it_builds_is_solved() {
        for k in [2, 3, 8, 19] {
            let v = |i: usize, c: usize| ((i * 31 + c * 17) % 13) as f64 / 13.0 + 0.1;
            let mut rows = vec![[0.0; WIDTH]; 16 * lanes(k)];
            for i in 0..16 {
                for c in 0..k {
                    rows[i * lanes(k) + c / WIDTH][c % WIDTH] = v(i, c);
                }
            }
            let extra: Vec<f64> = (0..k).map(|c| 0.01 + c as f64).collect();
            let w = |a: usize, b: usize| (0..16).map(|i| v(i, a) * v(i, b)).sum::<f64>();
            let truth: Vec<f64> = (0..k).map(|c| (c as f64).cos()).collect();
            let mut x: Vec<f64> = (0..k)
                .map(|a| {
                    let pulls = (0..k).filter(|b| *b != a).map(|b| w(a, b) * (truth[a] - truth[b]));
                    pulls.sum::<f64>() + extra[a] * truth[a]
                })
                .collect();
            let mut matrix = Matrix::default();
            matrix.clear(k);
            matrix.add_products(&rows);
            matrix.laplacian(&extra);
            matrix.factor();
            matrix.solve(&mut x);
            crate::entropy::testing::assert_close(&x, &truth, 1e-9);
        }
    }
}
