//! The K×K systems of the Newton solvers: a weighted graph's Laplacian plus a positive diagonal.
//!
//! Both Hessians are Σ_i c_i [diag(v_i) s_i − v_i v_iᵀ] + diag, whose rows sum to the diagonal alone. Only the
//! off-diagonal products are accumulated and the diagonal is their sum, which subtracts nothing: computed as
//! written, a row whose v is concentrated in one cluster would cancel to noise.

use super::lanes::{Lane, WIDTH, lane};

/// Blocks of rows in a panel: enough to outweigh the sums over lanes at its end, few enough to stay in the cache.
const PANEL: usize = 32;

/// A symmetric matrix of order K stored as its upper triangle, rows padded to whole lanes.
#[derive(Debug, Clone, Default)]
pub(super) struct Matrix {
    k: usize,
    cells: Vec<Lane>,
    pivot: Vec<f64>,
    /// Some blocks of rows, cluster by cluster, so that they are read in a stream.
    panel: Vec<Lane>,
}

/// Lanes needed for `k` numbers.
fn lanes(k: usize) -> usize {
    k.div_ceil(WIDTH)
}

impl Matrix {
    /// Start from zero.
    pub fn clear(&mut self, k: usize) {
        self.k = k;
        self.cells.clear();
        self.cells.resize(k * lanes(k), [0.0; WIDTH]);
    }

    /// Add Σ v vᵀ (above the diagonal) over the rows of `links`, shape `[blocks, k]`.
    ///
    /// Two clusters meet two others at a time: four sums fit the registers, and every number read serves twice.
    #[inline(always)]
    pub fn add_products(&mut self, links: &[Lane]) {
        let k = self.k;
        for links in links.chunks(PANEL * k) {
            let panel = self.transpose(links);
            let cluster = |c: usize| &panel[c.min(k - 1) * links.len() / k..][..links.len() / k];
            for i in (0..k).step_by(2) {
                for j in (i..k).step_by(2) {
                    let [upper, lower] = meet([cluster(i), cluster(i + 1)], [cluster(j), cluster(j + 1)]);
                    self.add(i, j, upper);
                    self.add(i + 1, j, lower);
                }
            }
            self.panel = panel;
        }
    }

    /// Blocks of rows, shape `[blocks, k]`, to shape `[k, blocks]`.
    #[inline(always)]
    fn transpose(&mut self, links: &[Lane]) -> Vec<Lane> {
        let mut panel = std::mem::take(&mut self.panel);
        panel.clear();
        for c in 0..self.k {
            panel.extend(links.iter().skip(c).step_by(self.k));
        }
        panel
    }

    /// Add to two neighbours in a row, as far as they lie above the diagonal.
    #[inline(always)]
    fn add(&mut self, i: usize, j: usize, sums: [f64; 2]) {
        let stride = lanes(self.k);
        for (l, sum) in (j..self.k).zip(sums) {
            if i < l {
                self.cells[i * stride + l / WIDTH][l % WIDTH] += sum;
            }
        }
    }

    #[inline(always)]
    fn get(&self, k: usize, l: usize) -> f64 {
        self.cells[k * lanes(self.k) + l / WIDTH][l % WIDTH]
    }

    /// Factor the Laplacian of the products w_kl plus `extra` on its diagonal, in place: A = (I − L) D (I − L)ᵀ.
    ///
    /// Eliminating a cluster leaves the same kind of matrix on the others, with w_ij + w_ki w_kj/pivot for w_ij and
    /// extra_i + w_ki extra_k/pivot for extra_i. So nothing is ever subtracted, and the solution is accurate even
    /// where `extra` is far below the rounding error of the diagonal: there it alone fixes the common part of x.
    #[inline(always)]
    pub fn factor(&mut self, extra: &[f64]) {
        let stride = lanes(self.k);
        self.pivot.clear();
        self.pivot.extend_from_slice(extra);
        for k in 0..self.k {
            let (above, below) = self.cells.split_at_mut((k + 1) * stride);
            let row = &mut above[k * stride..];
            // What the eliminations before wrote on and below the diagonal must not enter sums over the row.
            row.as_flattened_mut()[..=k].fill(0.0);
            let (excess, pivot) = (self.pivot[k], self.pivot[k] + total(row));
            self.pivot[k] = pivot;
            for (i, other) in (k + 1..self.k).zip(below.chunks_exact_mut(stride)) {
                let share = row[i / WIDTH][i % WIDTH] / pivot;
                self.pivot[i] += share * excess;
                for j in i / WIDTH..stride {
                    let (cell, row) = (other[j], row[j]);
                    other[j] = lane(|l| cell[l] + share * row[l]);
                }
            }
        }
    }

    /// Solve A x = b in place after [`Self::factor`].
    pub fn solve(&self, x: &mut [f64]) {
        for k in 0..self.k {
            x[k] /= self.pivot[k];
            for l in k + 1..self.k {
                x[l] += self.get(k, l) * x[k];
            }
        }
        for k in (0..self.k).rev() {
            let pull: f64 = (k + 1..self.k).map(|l| self.get(k, l) * x[l]).sum();
            x[k] += pull / self.pivot[k];
        }
    }
}

/// Σ v_i v_j over rows, for two clusters i and two clusters j.
#[inline(always)]
fn meet(i: [&[Lane]; 2], j: [&[Lane]; 2]) -> [[f64; 2]; 2] {
    let [mut aa, mut ab, mut ba, mut bb] = [[0.0; WIDTH]; 4];
    for (((a, b), c), d) in i[0].iter().zip(i[1]).zip(j[0]).zip(j[1]) {
        aa = lane(|r| aa[r] + a[r] * c[r]);
        ab = lane(|r| ab[r] + a[r] * d[r]);
        ba = lane(|r| ba[r] + b[r] * c[r]);
        bb = lane(|r| bb[r] + b[r] * d[r]);
    }
    sums(&[[aa, ab], [ba, bb]])
}

/// The sums over lanes. Inlined, the compiler would rather weave the four together from the first product on, at the
/// price of many shuffles in the loop above.
#[inline(never)]
fn sums(lanes: &[[Lane; 2]; 2]) -> [[f64; 2]; 2] {
    lanes.map(|row| row.map(|lane| lane.iter().sum()))
}

/// The sum of all numbers in a row.
#[inline(always)]
fn total(row: &[Lane]) -> f64 {
    let mut sum = [0.0; WIDTH];
    for cells in row {
        sum = lane(|l| sum[l] + cells[l]);
    }
    sum.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_it_builds_is_solved() {
        for k in [2, 3, 8, 19] {
            let v = |i: usize, c: usize| ((i * 31 + c * 17) % 13) as f64 / 13.0 + 0.1;
            let mut rows = vec![[0.0; WIDTH]; 16 / WIDTH * k];
            for i in 0..16 {
                for c in 0..k {
                    rows[i / WIDTH * k + c][i % WIDTH] = v(i, c);
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
            matrix.factor(&extra);
            matrix.solve(&mut x);
            crate::entropy::testing::assert_close(&x, &truth, 1e-9);
        }
    }
}
